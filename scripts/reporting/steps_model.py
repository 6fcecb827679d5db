"""What a step of a chain costs, predicted from the rows of `dependent steps` of ImplicitBarrier.

A step of `work` takes max(pace, seam + work): the host launches no faster than its pace, and
between two steps there is the seam. Pace is the step without work, seam is of the longest work.
Seams of other numbers of blocks lie on a line over the logarithm of that number."""

import math
from typing import NamedTuple

from parts import tsv

TITLE = "dependent steps"
# What a program has to fulfil for a way, in the order in which ways are explained.
NEEDS = {
    "steps_data_flag": "each word has a value that means: not yet written",
    "steps_cluster_sync": "all blocks are one cluster, sm_90 and later",
    "steps_tile_flags": "each block knows which others it waits for; all blocks fit the GPU",
    "steps_counter": "all blocks fit the GPU",
    "steps_peer_grid_sync": "all blocks fit the GPU; this suite's barrier library",
    "steps_grid_sync": "all blocks fit the GPU; a cooperative launch",
    "graph_programmatic": "the steps do not change; programmatic edges, sm_90 and later",
    "graph_launch": "the steps do not change, or a graph is updated",
    "programmatic_launch": "sm_90 and later",
    "traditional_launch": "nothing",
    "device_graph_launch": "a graph that launches itself",
    "launch_and_wait": "nothing; the host sees each step",
}


class Way(NamedTuple):
    """Of one method on one number of blocks: nanoseconds."""
    pace: float
    seam: float

    def step(self, work):
        return max(self.pace, self.seam + work)


class Steps:
    """The rows of one GPU of a section."""

    def __init__(self, section):
        self.measured = {}  # {(method, whether it reads): {blocks: {work: step}}}
        for row in section.rows:
            if row["GPUCount"] == "1":
                way = self.measured.setdefault((row["method"], row["reads"] == "1"), {})
                way.setdefault(int(row["blk"]), {})[float(row["idea(wkld)"])] = float(row["med(step)"])
        if not self.measured:
            raise tsv.TsvError(f"{section.where}: no rows")
        self.most_blocks = max(blocks for shapes in self.measured.values() for blocks in shapes)

    def way(self, method, reads, blocks, without=()):
        """A Way; None where it was not measured, or only on fewer blocks. `without`: numbers of
        blocks that are left out."""
        known = {}
        for count, steps in self.measured.get((method, reads), {}).items():
            if count in without:
                continue
            longest = max(steps)
            known[count] = Way(steps[min(steps)], steps[longest] - longest)
        if not known or blocks > max(known):
            return None
        below = max((count for count in known if count <= blocks), default=min(known))
        above = min((count for count in known if count >= blocks), default=max(known))
        share = math.log(blocks / below) / math.log(above / below) if below < above else 0
        return Way(*(low + share * (high - low) for low, high in zip(known[below], known[above])))

    def ways(self, reads, blocks):
        """{method: Way}"""
        ways = {method: self.way(method, reads, blocks) for method in NEEDS}
        return {method: way for method, way in ways.items() if way}

    def errors(self):
        """Of steps that nothing was fitted to, predicted less measured, in shares: works
        between the shortest and the longest, and numbers of blocks between the fewest and the most."""
        for (method, reads), shapes in self.measured.items():
            for blocks, steps in shapes.items():
                between = min(shapes) < blocks < max(shapes)
                way = self.way(method, reads, blocks, (blocks,) if between else ())
                for work, measured in steps.items():
                    if between or min(steps) < work < max(steps):
                        yield way.step(work) / measured - 1

    def error(self):
        """(95th percentile of their sizes, how many they are)"""
        sizes = sorted(abs(error) for error in self.errors())
        return sizes[math.ceil(0.95 * len(sizes)) - 1] if sizes else math.nan, len(sizes)
