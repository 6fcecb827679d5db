"""What pages show of Stencil: lines of Markdown, made from its rows and, of the same machine, from
those that predictions need. Numbers are medians.

The work of a step is predicted to be that of the row without order (none, none_tile) of the same
field and GPUs. What a barrier or a launch makes of it is as in steps_model. Nothing is fitted to
rows of Stencil."""

import functools
import math

from pages.recorded import code, heading, median, of_today, rows, span
from parts import suite
from reporting import steps_model
from reporting.sheets import markdown_table
from reporting.steps_model import THREADS, Step

TITLES = {"time steps 2D": "2D", "time steps 3D": "3D"}
UNORDERED = ("none", "none_tile")
TILE = "_tile"  # ends the name of a way that keeps its tile
BARRIERS = ("grid_sync", "peer_grid_sync", "multi_grid_sync")
STREAM = ("traditional_launch", "graph_launch", "programmatic_launch", "graph_programmatic")
ROUNDS = (THREADS, "events_to_neighbors", "graph_of_gpus", "multi_cooperative_launch")
SYNCHRONIZED = 0.2  # of a step, from which on what is not its work is known well
WITHIN = 0.05  # of the fastest way: it no longer matters which one
FITS = ("{}", "{}, in shared memory")
PROCESSES = "Stencil" + suite.PROCESSES


def is_launch(way):
    return way.removesuffix(TILE) not in BARRIERS


class Field:
    """Time steps of a field on so many GPUs. ways: {way: {cells of a GPU: Step}}"""

    def __init__(self, title, gpus):
        self.title, self.gpus, self.ways = title, gpus, {}

    def sizes(self):
        return sorted({cells for steps in self.ways.values() for cells in steps})

    def steps(self):
        """(way, Step) of all that are predicted"""
        return [(way, step) for way, steps in self.ways.items() for step in steps.values()
                if step.predicted is not None]

    def fastest(self, cells, which, wanted=lambda way: True):
        """(way, ns) of the ways wanted that have both numbers; None where there is none."""
        found = [(getattr(steps[cells], which), way) for way, steps in self.ways.items()
                 if cells in steps and steps[cells].predicted is not None and wanted(way)]
        return min(found)[::-1] if found else None

    def size_from(self, which):
        """Cells of a GPU from which the best launch is within WITHIN of the best barrier inside a
        kernel, between sizes that were measured; None where it is so at none of them, or at all."""
        before = None
        for cells in self.sizes():
            launch, inside = (self.fastest(cells, which, wanted) for wanted in (
                is_launch, lambda way: not is_launch(way)))
            if not launch or not inside:
                continue
            more = launch[1] / inside[1] - 1
            if more > WITHIN:
                before = cells, more
                continue
            if before is None:
                return None
            size, above = before
            # What launches cost more falls with the size: on a line, where both are logarithms.
            share = (math.log(above / WITHIN) / math.log(above / more) if more > 0 else
                     (above - WITHIN) / (above - more))
            return size * (cells / size) ** share
        return None


def predicted(model, row, work):
    """ns of a step by steps_model.Steps, None where no rows tell. work: that of a step, or None"""
    way, gpus = row["method"].removesuffix(TILE), int(row["GPUcount"])
    shape = int(row["blk"]), int(row["thrd"])
    if work is None:
        return None
    if way in BARRIERS:
        cost = model.barrier(way, gpus, *shape)
        return None if cost is None or math.isnan(cost) else work + cost
    found = (model.of_shape(way, *shape) if way in STREAM else
             model.round(way, gpus, *shape, work) if way in ROUNDS else None)
    return found and found.step(work)


@functools.lru_cache(maxsize=None)
def fields_of(run):
    """[Field]"""
    steps, fields = steps_model.Rows([run.path]), {}
    model = steps_model.Steps(steps)
    for title in TITLES:
        work = {(row["method"], row["GPUcount"], row["cells"]): median(row, "step")
                for row in steps.of(title) if row["method"] in UNORDERED}
        for row in (row for row in steps.of(title) if row["method"] not in UNORDERED):
            way, gpus = row["method"], int(row["GPUcount"])
            base = work.get((UNORDERED[way.endswith(TILE)], row["GPUcount"], row["cells"]))
            ways = fields.setdefault((title, gpus), Field(title, gpus)).ways
            ways.setdefault(way, {})[int(row["cells"])] = Step(
                median(row, "step"), predicted(model, row, base), base)
    return list(fields.values())


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


def sections(runs):
    """(words for a heading, Field) of each, on all GPUs."""
    yield from ((f"{heading(run)}, {TITLES[field.title]}", field) for run in of_today(runs)
                for field in fields_of(run) if field.gpus == run.gpus)


def compared(runs):
    """Those in which launches have predictions, too."""
    return [(name, field) for name, field in sections(runs)
            if any(is_launch(way) for way, _ in field.steps())]


def time_steps(runs):
    """Of each machine, way and size what a step takes, in microseconds: measured, predicted."""
    lines = []
    for name, field in sections(runs):
        sizes = field.sizes()
        lines += folded(name, markdown_table(["Way", *map(size_text, sizes)], 1, [
            [code(way), *(
                f"{us(steps[cells].measured)} / {us(steps[cells].predicted)}" if cells in steps
                else "–" for cells in sizes)]
            for way, steps in field.ways.items()]))
    return lines


def answer(runs):
    """Which way is the fastest, by GPUs and size of the field, on all machines."""
    found = {}  # {(GPUs, whether launches are as good, whether a tile fits): [sizes, ways, shares]}
    for _, field in sections(runs):
        for cells in field.sizes():
            times = {way: steps[cells].measured for way, steps in field.ways.items()
                     if cells in steps}
            inside = min((way for way in times if not is_launch(way)), key=times.get,
                         default=None)
            launches = [time for way, time in times.items() if is_launch(way)]
            if inside is None or not launches:
                continue
            share = min(launches) / times[inside]
            sizes, ways, shares = found.setdefault(
                (field.gpus, share <= 1 + WITHIN,
                 not any(way.endswith(TILE) for way in times)), ([], set(), []))
            sizes.append(cells)
            ways.add(code(inside))
            shares.append(share)
    return markdown_table(
        ["GPUs", "Field on each GPU", "Fastest inside a kernel", "The fastest launch takes"], 3,
        [[str(gpus), FITS[not large].format(span(sizes, size_text)), ", ".join(sorted(ways)),
          f"{span(shares, '{:.2f}'.format)} times that"]
         for (gpus, _, large), (sizes, ways, shares) in sorted(found.items())])


def switches(runs):
    """From which size on launches are as good as a barrier inside a kernel."""
    lines = []
    for name, field in compared(runs):
        found = [field.size_from(which) for which in ("measured", "predicted")]
        lines.append([name, *(size_text(size) if size else "–" for size in found),
                     f"{found[1] / found[0]:.2f}" if all(found) else "–"])
    return markdown_table(["Machine, field", "Measured", "Predicted", "Ratio"], 1, lines)


def errors(runs):
    """How far predictions are off, and what it costs at most to believe them."""
    lines, known = [], [field for _, field in compared(runs)]
    for run in of_today(runs):
        fields = fields_of(run)
        steps = [step for field in fields for _, step in field.steps()]
        error, cases = steps_model.percentile(step.error for step in steps)
        of_few, few = steps_model.percentile(
            step.error for step in steps if 1 - step.work / step.measured >= SYNCHRONIZED)
        more = [field.ways[field.fastest(cells, "predicted")[0]][cells].measured
                / field.fastest(cells, "measured")[1] - 1
                for field in fields if field in known for cells in field.sizes()]
        lines.append([heading(run), str(cases), f"{100 * error:.0f}%" if cases else "–",
                     f"{100 * of_few:.0f}% of {few}" if few else "–",
                     f"{100 * max(more):.1f}%" if more else "–"])
    return markdown_table(["Machine", "Predictions", "95% are within",
                           f"95%, where synchronization is {SYNCHRONIZED:.0%} or more",
                           "Predicted fastest: costs more, at most"], 1, lines)


def processes(runs):
    """What a step takes with a process for each GPU, and with one process, in microseconds."""
    lines = []
    for run in (run for run in of_today(runs) if PROCESSES in run.files):
        for title in TITLES:
            known = next((field.ways for field in fields_of(run)
                          if (field.title, field.gpus) == (title, run.gpus)), {})
            found = {(row["method"], int(row["cells"])): median(row, "step")
                     for row in rows(run, PROCESSES, title)}
            sizes = sorted({cells for _, cells in found})
            cells_of = {way: [(found.get((way, cells)), known.get(way, {}).get(cells))
                              for cells in sizes] for way, _ in found
                        if way not in UNORDERED}
            lines += folded(f"{heading(run)}, {TITLES[title]}", markdown_table(
                ["Way", *map(size_text, sizes)], 1,
                [[code(way), *(f"{us(several)} / {us(one and one.measured)}"
                               for several, one in row)]
                 for way, row in cells_of.items()]))
    return lines
