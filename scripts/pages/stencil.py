"""What pages show of results/stencil: lines of Markdown, made from rows of Stencil and,
of the same machine, from those that predictions need. Numbers are medians."""

import functools

from pages.recorded import RESULTS, code, span
from reporting import field_model, steps_model
from reporting.estimates import many
from reporting.sheets import markdown_table

FITS = ("{}", "{}, in shared memory")
PROCESSES = ".processes"  # ends the name of a run with a process for each GPU
OTHERS = ("launches/{}.tsv", "grid_barriers/{}.tsv", "{}")  # that predictions are made of


@functools.lru_cache(maxsize=None)
def machines():
    """{name of a machine: its Fields}"""
    found = {}
    for path in sorted((RESULTS / "stencil").glob("*.tsv")):
        if path.stem.endswith(PROCESSES):
            continue
        others = [RESULTS / other.format(path.stem) for other in OTHERS]
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


def folded(heading, table):
    """A table that a reader opens."""
    return [f"<details><summary>{heading}</summary>", "", *table, "", "</details>"]


def sections():
    """(words for a heading, Fields, key) of each section, on all GPUs, and on one where no other
    run has that."""
    for name, fields in machines().items():
        alone = f"{name.rsplit('x', 1)[0]}x1" not in machines()
        most = max((gpus for _, gpus in fields.steps), default=0)
        for title, gpus in fields.steps:
            if gpus == most or (gpus == 1 and alone):
                yield (f"{name}, {field_model.TITLES[title]}, {many(gpus)}",
                       fields, (title, gpus))


def compared():
    """The sections in which launches have predictions, too."""
    return (section for section in sections() if any(
        field_model.is_launch(way) and step.predicted is not None
        for way, steps in section[1].steps[section[2]].items() for step in steps.values()))


def time_steps(_runs):
    """Of each machine, way and size what a step takes, in microseconds: measured, predicted."""
    lines = []
    for heading, fields, of in sections():
        sizes = fields.sizes(of)
        lines += folded(heading, markdown_table(["Way", *map(size_text, sizes)], 1, [
            [code(way), *(
                f"{us(steps[cells].measured)} / {us(steps[cells].predicted)}" if cells in steps
                else "–" for cells in sizes)]
            for way, steps in fields.steps[of].items()]))
    return lines


def answer(_runs):
    """Which way is the fastest, by GPUs and size of the field, on all machines."""
    found = {}  # {(GPUs, whether launches are as good, whether a tile fits): [sizes, ways, shares]}
    for _, fields, of in sections():
        for cells in fields.sizes(of):
            times = {way: steps[cells].measured for way, steps in fields.steps[of].items()
                     if cells in steps}
            inside = min((way for way in times if not field_model.is_launch(way)), key=times.get,
                         default=None)
            launches = [time for way, time in times.items() if field_model.is_launch(way)]
            if inside is None or not launches:
                continue
            share = min(launches) / times[inside]
            sizes, ways, shares = found.setdefault(
                (of[1], share <= 1 + field_model.WITHIN,
                 not any(way.endswith(field_model.TILE) for way in times)), ([], set(), []))
            sizes.append(cells)
            ways.add(code(inside))
            shares.append(share)
    return markdown_table(
        ["GPUs", "Field on each GPU", "Fastest inside a kernel", "The fastest launch takes"], 3,
        [[str(gpus), FITS[not large].format(span(sizes, size_text)), ", ".join(sorted(ways)),
          f"{span(shares, '{:.2f}'.format)} times that"]
         for (gpus, _, large), (sizes, ways, shares) in sorted(found.items())])


def switches(_runs):
    """From which size on launches are as good as a barrier inside a kernel."""
    rows = []
    for heading, fields, of in compared():
        found = [fields.size_from(of, which) for which in ("measured", "predicted")]
        rows.append([heading, *(size_text(size) if size else "–" for size in found),
                     f"{found[1] / found[0]:.2f}" if all(found) else "–"])
    return markdown_table(["Machine, field", "Measured", "Predicted", "Ratio"], 1, rows)


def errors(_runs):
    """How far predictions are off, and what it costs at most to believe them."""
    more = {}
    for _, fields, of in compared():
        for cells in fields.sizes(of):
            best, expected = (fields.fastest(of, cells, which)
                              for which in ("measured", "predicted"))
            more.setdefault(id(fields), []).append(
                fields.steps[of][expected[0]][cells].measured / best[1] - 1)
    rows = []
    for name, fields in machines().items():
        error, cases = steps_model.percentile(fields.errors())
        of_few, few = steps_model.percentile(fields.errors(field_model.SYNCHRONIZED))
        rows.append([name, str(cases), f"{100 * error:.0f}%" if cases else "–",
                     f"{100 * of_few:.0f}% of {few}" if few else "–",
                     f"{100 * max(more[id(fields)]):.1f}%" if id(fields) in more else "–"])
    return markdown_table(["Machine", "Predictions", "95% are within",
                           f"95%, where synchronization is {field_model.SYNCHRONIZED:.0%} or more",
                           "Predicted fastest: costs more, at most"], 1, rows)


def processes(_runs):
    """What a step takes with a process for each GPU, and with one process, in microseconds."""
    lines = []
    for path in sorted((RESULTS / "stencil").glob(f"*{PROCESSES}.tsv")):
        machine = path.stem[:-len(PROCESSES)]
        for title in field_model.TITLES:
            rows = steps_model.Rows([path]).of(title)
            known = machines()[machine].steps.get((title, int(rows[0]["GPUcount"])), {})
            found = {(row["method"], int(row["cells"])): float(row["med(step)"]) for row in rows}
            sizes = sorted({cells for _, cells in found})
            cells_of = {way: [(found.get((way, cells)), known.get(way, {}).get(cells))
                              for cells in sizes] for way, _ in found
                        if way not in field_model.UNORDERED}
            lines += folded(f"{machine}, {field_model.TITLES[title]}", markdown_table(
                ["Way", *map(size_text, sizes)], 1,
                [[code(way), *(f"{us(several)} / {us(one and one.measured)}"
                               for several, one in row)]
                 for way, row in cells_of.items()]))
    return lines
