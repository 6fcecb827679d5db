"""What a time step of Stencil is predicted to take, from other rows of the same machine.

The work of a step is that of the row without order (none, none_tile) of the same field and GPUs.
What a barrier or a launch makes of it is as in steps_model. Nothing is fitted to rows of Stencil."""

import math

from reporting.steps_model import THREADS, Step

TITLES = {"time steps 2D": "2D", "time steps 3D": "3D"}
UNORDERED = ("none", "none_tile")
TILE = "_tile"  # ends the name of a way that keeps its tile
BARRIERS = ("grid_sync", "peer_grid_sync", "multi_grid_sync")
STREAM = ("traditional_launch", "graph_launch", "programmatic_launch", "graph_programmatic")
ROUNDS = (THREADS, "events_to_neighbors", "graph_of_gpus", "multi_cooperative_launch")
SYNCHRONIZED = 0.2  # of a step, from which on what is not its work is known well
WITHIN = 0.05  # of the fastest way: it no longer matters which one


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
        if way in BARRIERS:
            cost = self.model.barrier(way, gpus, *shape)
            return None if cost is None or math.isnan(cost) else work + cost
        found = (self.model.of_shape(way, *shape) if way in STREAM else
                 self.model.round(way, gpus, *shape, work) if way in ROUNDS else None)
        return found and found.step(work)

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

    def cases(self):
        """(way, GPUs, Step) of all that are predicted"""
        for (_, gpus), ways in self.steps.items():
            for way, steps in ways.items():
                yield from ((way, gpus, step) for step in steps.values()
                            if step.predicted is not None)

    def errors(self, least=-math.inf):
        """Predicted less measured, in shares. least: the share of a step that is synchronization."""
        return (step.error for _, _, step in self.cases() if 1 - step.work / step.measured >= least)
