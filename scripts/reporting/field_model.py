"""What a time step of Stencil is predicted to take, from other rows of the same machine.

The work of a step is that of the row without order (none, none_tile) of the same field and GPUs.
A barrier inside a kernel adds what it costs in BenchmarkInterSM in this shape, all at once. Launches
on one GPU are as in steps_model: max(pace, seam + work). One thread a GPU adds the overhead of its
launch (sleep kernel of ImplicitBarrier). Other launches on several GPUs take max(pace, seam + work),
too. The seam is that of `between GPUs`, each GPU late in turn, as GPUs do not end a step at once, on
a line over the logarithm of the work where rows have several. The pace is that of `null kernel`,
whose events are of one GPU. Nothing is fitted to rows of Stencil."""

import math
from typing import NamedTuple

from reporting import steps_model

TITLES = {"time steps 2D": "2D", "time steps 3D": "3D"}
UNORDERED = ("none", "none_tile")
TILE = "_tile"  # ends the name of a way that keeps its tile
BARRIERS = ("grid_sync", "peer_grid_sync", "multi_grid_sync")
STREAM = ("traditional_launch", "graph_launch", "programmatic_launch", "graph_programmatic")
THREADS = "single_omp_traditional_launch"
ROUNDS = {"events_to_neighbors": "events_to_all", "graph_of_gpus": "graph_of_gpus",
          "multi_cooperative_launch": "multi_cooperative_launch"}
WITHIN = 0.05  # of the fastest way: it no longer matters which one


class Step(NamedTuple):
    """ns a step; predicted: None where no rows tell; work: of the way without order"""
    measured: float
    predicted: float = None
    work: float = None


def is_launch(way):
    return way.removesuffix(TILE) not in BARRIERS


class Fields:
    """steps: {(title, GPUs): {way: {cells of a GPU: Step}}} of steps_model.Steps"""

    def __init__(self, steps):
        self.model, self.steps = steps, {}
        for title in TITLES:
            rows = steps.rows.of(title)
            work = {(row["method"], row["GPUcount"], row["cells"]): float(row["med(step)"])
                    for row in rows if row["method"] in UNORDERED}
            for row in rows:
                way = row["method"]
                if way in UNORDERED:
                    continue
                base = work.get((UNORDERED[way.endswith(TILE)], row["GPUcount"], row["cells"]))
                of_way = self.steps.setdefault((title, int(row["GPUcount"])), {}).setdefault(way, {})
                of_way[int(row["cells"])] = Step(
                    float(row["med(step)"]), self._predicted(row, base), base)

    def _predicted(self, row, work):
        way, gpus = row["method"].removesuffix(TILE), int(row["GPUcount"])
        shape = int(row["blk"]), int(row["thrd"])
        if work is None:
            return None
        if way in STREAM:
            found = self.model.of_shape(way, True, *shape)
            return found and found.step(work)
        if way in BARRIERS:
            cost = self.model.barrier(way, gpus, *shape)
        elif way == THREADS:
            cost = next((float(other["med(ovh)"]) for other in self.model.rows.of("sleep kernel")
                         if (other["method"], other["GPUCount"], other["blk"], other["thrd"])
                         == (way, row["GPUcount"], row["blk"], row["thrd"])), None)
        elif way not in ROUNDS:
            return None
        else:
            seams = {math.log(int(other["idea(wkld)"])): float(other["med(turns)"])
                     for other in self.model.rows.of(steps_model.ROUNDS)
                     if (other["method"], other["GPUCount"], other["blk"], other["thrd"])
                     == (ROUNDS[way], row["GPUcount"], row["blk"], row["thrd"])}
            pace = self._pace(way, gpus, *shape)
            if not seams or pace is None:
                return None
            return max(pace, work + steps_model.on_line(seams, math.log(work)))
        return None if cost is None or math.isnan(cost) else work + cost

    def _pace(self, way, gpus, *shape):
        """ns that the host takes to queue a step of all GPUs; None where no rows tell"""
        def queued(method, count):
            return next((float(row["med(addl)"]) for row in self.model.rows.of("null kernel")
                         if row["method"] == method and row["rep"] != "1" and
                         (int(row["GPUCount"]), int(row["blk"]), int(row["thrd"])) == (count, *shape)),
                        None)
        if way == "graph_of_gpus":
            return 0  # one call for all steps
        if way != "events_to_neighbors":
            return queued(way, gpus)
        launch, with_event = queued("traditional_launch", 1), queued("event_wait", 1)
        if None in (launch, with_event):
            return None
        # A launch on each GPU; an event from each to each beside it, as event_wait has one.
        return gpus * launch + 2 * (gpus - 1) * (with_event - launch)

    def sizes(self, of):
        return sorted({cells for steps in self.steps[of].values() for cells in steps})

    def fastest(self, of, cells, which, wanted=lambda way: True):
        """(way, ns) of the ways wanted that have both numbers; None where there is none."""
        found = [(getattr(steps[cells], which), way) for way, steps in self.steps[of].items()
                 if cells in steps and steps[cells].predicted is not None and wanted(way)]
        return min(found)[::-1] if found else None

    def size_from(self, of, which):
        """Cells of a GPU from which the best launch is within WITHIN of the best barrier inside a
        kernel, between sizes that were measured; None where it is so at none of them, or at all."""
        before = None
        for cells in self.sizes(of):
            launch, inside = (self.fastest(of, cells, which, wanted) for wanted in (
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

    def errors(self, least=-math.inf):
        """Predicted less measured, in shares. least: the share of a step that is synchronization."""
        for ways in self.steps.values():
            for steps in ways.values():
                for step in steps.values():
                    if step.predicted is not None and 1 - step.work / step.measured >= least:
                        yield step.predicted / step.measured - 1
