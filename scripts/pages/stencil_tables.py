"""What docs/stencil.md shows of results/stencil: lines of Markdown, made from rows of Stencil and,
of the same machine, from those that predictions need. Numbers are medians."""

import functools

from reporting import field_model, steps_model
from reporting.sheets import coded, markdown_table
from reporting.study import FOLDER

NONE = "No run is recorded yet."
PROCESSES = ".processes"  # ends the name of a run with a process for each GPU
OTHERS = ("launches/{}.tsv", "grid_barriers/{}.tsv", "{}")  # that predictions are made of


@functools.lru_cache(maxsize=None)
def machines(folder):
    """{name of a machine: its Fields}"""
    found = {}
    for path in sorted((folder / "stencil").glob("*.tsv")):
        if path.stem.endswith(PROCESSES):
            continue
        others = [folder / other.format(path.stem) for other in OTHERS]
        found[path.stem] = field_model.Fields(steps_model.Steps(steps_model.Rows(
            [path, *(other for other in others if other.exists())])))
    return found


def size_text(cells):
    """Of a field on each GPU: a step reads one copy and writes the other."""
    size, unit = 8 * cells / 2 ** 20, "MiB"
    if size >= 1024:
        size, unit = size / 1024, "GiB"
    return f"{size:.{0 if size >= 10 else 1}f} {unit}"


def us(number):
    if number is None:
        return "–"
    return f"{number / 1000:.{0 if number >= 1e5 else 1 if number >= 1e4 else 2}f}"


def sections(folder):
    """(words for a heading, Fields, key) of each section, on all GPUs, and on one where no other
    run has that."""
    for name, fields in machines(folder).items():
        alone = f"{name.rsplit('x', 1)[0]}x1" not in machines(folder)
        most = max((gpus for _, gpus in fields.steps), default=0)
        for title, gpus in fields.steps:
            if gpus == most or (gpus == 1 and alone):
                yield (f"{name}, {field_model.TITLES[title]}, {gpus} GPU{'s' * (gpus > 1)}",
                       fields, (title, gpus))


def compared(folder):
    """The sections in which launches have predictions, too."""
    return (section for section in sections(folder) if any(
        field_model.is_launch(way) and step.predicted is not None
        for way, steps in section[1].steps[section[2]].items() for step in steps.values()))


def time_steps(_runs, folder=FOLDER.parent):
    """Of each machine, way and size what a step takes, in microseconds: measured, predicted."""
    lines = []
    for heading, fields, of in sections(folder):
        sizes = fields.sizes(of)
        lines += [f"**{heading}**", "", *markdown_table(["Way", *map(size_text, sizes)], 1, [
            [coded(f"`{way}`"), *(
                f"{us(steps[cells].measured)} / {us(steps[cells].predicted)}" if cells in steps
                else "–" for cells in sizes)]
            for way, steps in fields.steps[of].items()]), ""]
    return lines[:-1] or [NONE]


def fastest(_runs, folder=FOLDER.parent):
    """Which way is the fastest, and what it costs to take the one that is predicted to be."""
    rows = []
    for heading, fields, of in compared(folder):
        for cells in fields.sizes(of):
            best, expected = (fields.fastest(of, cells, which)
                              for which in ("measured", "predicted"))
            if best:
                more = fields.steps[of][expected[0]][cells].measured / best[1] - 1
                rows.append([heading, size_text(cells), coded(f"`{best[0]}`"),
                             coded(f"`{expected[0]}`"), f"{100 * more:.1f}%"])
    return markdown_table(["Machine, field", "Size", "Fastest", "Predicted", "Costs more"], 4,
                          rows) if rows else [NONE]


def switches(_runs, folder=FOLDER.parent):
    """From which size on launches are as good as a barrier inside a kernel."""
    rows = []
    for heading, fields, of in compared(folder):
        found = [fields.size_from(of, which) for which in ("measured", "predicted")]
        rows.append([heading, *(size_text(size) if size else "–" for size in found),
                     f"{found[1] / found[0]:.2f}" if all(found) else "–"])
    return markdown_table(["Machine, field", "Measured", "Predicted", "Ratio"], 1,
                          rows) if rows else [NONE]


def errors(_runs, folder=FOLDER.parent):
    """How far predictions are off."""
    rows = []
    for name, fields in machines(folder).items():
        error, cases = steps_model.percentile(fields.errors())
        within = sum(abs(one) <= 0.2 for one in fields.errors())
        rows.append([name, str(cases), f"{100 * error:.0f}%" if cases else "–", str(within)])
    return markdown_table(["Machine", "Predictions", "95% are within", "Within 20%"], 1,
                          rows) if rows else [NONE]


def processes(_runs, folder=FOLDER.parent):
    """What a step takes with a process for each GPU, and with one process, in microseconds."""
    lines = []
    for path in sorted((folder / "stencil").glob(f"*{PROCESSES}.tsv")):
        machine = path.stem[:-len(PROCESSES)]
        for title in field_model.TITLES:
            rows = steps_model.Rows([path]).of(title)
            known = machines(folder)[machine].steps.get((title, int(rows[0]["GPUcount"])), {})
            found = {(row["method"], int(row["cells"])): float(row["med(step)"]) for row in rows}
            sizes = sorted({cells for _, cells in found})
            cells_of = {way: [(found.get((way, cells)), known.get(way, {}).get(cells))
                              for cells in sizes] for way, _ in found
                        if way not in field_model.UNORDERED}
            lines += [f"**{machine}, {field_model.TITLES[title]}**", "", *markdown_table(
                ["Way", *map(size_text, sizes)], 1,
                [[coded(f"`{way}`"), *(f"{us(many)} / {us(one and one.measured)}"
                                       for many, one in row)]
                 for way, row in cells_of.items()]), ""]
    return lines[:-1] or [NONE]
