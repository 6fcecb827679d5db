"""What steps that depend on each other cost, predicted from recorded rows.

One GPU, rows of `dependent steps` of ImplicitBarrier: a step of `work` takes
max(pace, seam + work). The host launches no faster than its pace, and between two steps there is
the seam. Pace is the step without work, seam is of the longest work. Seams of other numbers of
blocks lie on a line over the logarithm of that number. More blocks than SMs, or other numbers of
threads, change the seam of a barrier by as much as its rows of BenchmarkInterSM differ, and that
of launches not at all.

Several GPUs: a barrier adds what it costs in BenchmarkInterSM. A launch takes max(pace, seam + work).
Its seam is that of `between GPUs` of ImplicitBarrier, each GPU late in turn, on a line over the
logarithm of the work. Its pace is that of `null kernel`, whose events are of one GPU. Where no rows
have a pace, only work that hid it is known. One thread a GPU adds its overhead in `sleep kernel`."""

import math
from pathlib import Path
from typing import NamedTuple

from parts import tsv

LADDER, ROUNDS, BARRIERS_OF_GPUS = "dependent steps", "between GPUs", "multi-GPU latency"
FILES = ("ImplicitBarrier.tsv", "BenchmarkInterSM.tsv", "Stencil.tsv", "BenchmarkIntraSM.tsv")
THREADS = "single_omp_traditional_launch"
LADDER_SHAPE = (1, 256)  # blocks per SM, threads of its largest grid
# What a program has to fulfil for a way, the simplest ways first.
NEEDS = {
    "in_use_blocksync": "one block: `__syncthreads()` in a loop",
    "traditional_launch": "nothing",
    "launch_and_wait": "nothing; the host sees each step",
    "graph_launch": "the steps do not change, or a graph is updated",
    "steps_grid_sync": "all blocks fit the GPU; a cooperative launch",
    "programmatic_launch": "sm_90 and later",
    "graph_programmatic": "the steps do not change; programmatic edges, sm_90 and later",
    "steps_counter": "all blocks fit the GPU",
    "steps_cluster_sync": "all blocks are one cluster, sm_90 and later",
    "steps_peer_grid_sync": "all blocks fit the GPU; this suite's barrier library",
    "steps_tile_flags": "each block knows which others it waits for; all blocks fit the GPU",
    "steps_data_flag": "each word has a value that means: not yet written",
    "device_graph_launch": "a graph that launches itself",
}
NEEDS_OF_GPUS = {
    THREADS: "nothing; the host sees each step",
    "events_to_all": "nothing",
    "events_of_star": "nothing",
    "graph_of_gpus": "the steps do not change",
    "multi_cooperative_launch": "all blocks fit the GPUs",
    "peer_grid_sync": "all blocks fit the GPUs; peer access; this suite's barrier library",
    "stream_flags_host": "stream memory operations",
    "stream_flags_peer": "stream memory operations, peer access",
    "kernel_flags_host": "kernels that wait for each other all run at once",
}
EVENTS = {"events_to_all": lambda gpus: gpus * (gpus - 1),  # between all GPUs in a step
          "events_to_neighbors": lambda gpus: 2 * (gpus - 1)}
IN_ONE_BLOCK = "in_use_blocksync"
BARRIERS = {"steps_grid_sync": "grid_sync", "steps_peer_grid_sync": "peer_grid_sync"}


class Way(NamedTuple):
    """Of one method on one shape: nanoseconds."""
    pace: float
    seam: float

    def step(self, work):
        return max(self.pace, self.seam + work)

    def times(self, factor):
        return Way(self.pace * factor, self.seam * factor)


class Step(NamedTuple):
    """ns of a step, also of a barrier; predicted: None where no rows tell; work: part of it"""
    measured: float
    predicted: float = None
    work: float = 0

    @property
    def error(self):
        return self.predicted / self.measured - 1


def power_of_two(number):
    return 1 << max(0, math.ceil(number) - 1).bit_length()


def on_line(known, number):
    """The value at a number, between those that are known: {number: value}."""
    below = max((key for key in known if key <= number), default=min(known))
    above = min((key for key in known if key >= number), default=max(known))
    share = (number - below) / (above - below) if below < above else 0
    return known[below] + share * (known[above] - known[below])


def percentile(errors):
    """(95th percentile of their sizes, how many they are)"""
    sizes = sorted(abs(error) for error in errors)
    return sizes[math.ceil(0.95 * len(sizes)) - 1] if sizes else math.nan, len(sizes)


class Rows:
    """Sections of results folders and of single outputs, the first of each title. sms: of a GPU;
    gpu: names of its kind"""

    def __init__(self, paths):
        self.where = ", ".join(map(str, paths))
        self.sections, self.sms, self.gpu = {}, 0, ""
        first = None
        for path in self._files(paths):
            output = tsv.read(path)
            self.sms = self.sms or max((int(gpu["sms"]) for gpu in output.head("gpu")), default=0)
            gpu = ", ".join(sorted({gpu["name"] for gpu in output.head("gpu") if "name" in gpu}))
            if gpu and self.gpu and gpu != self.gpu:
                raise tsv.TsvError(f"{first} has rows of {self.gpu}, {path} of {gpu}: they cannot be "
                                   "ranked together")
            if gpu and not self.gpu:
                self.gpu, first = gpu, path
            for section in output:
                self.sections.setdefault(section.title, section)
        if not self.sms:
            raise tsv.TsvError(f"{self.where}: no line says how many SMs a GPU has")

    @staticmethod
    def _files(paths):
        for path in map(Path, paths):
            files = [path / name for name in FILES if (path / name).exists()]
            if path.is_dir() and not files:
                raise tsv.TsvError(f"{path}: none of {', '.join(FILES)} is in this folder")
            yield from files or [path]

    def of(self, title):
        """Rows of a section; none where it is not there."""
        return self.sections[title].rows if title in self.sections else []


class Steps:
    """Predictions from Rows."""

    def __init__(self, rows):
        self.rows = rows
        self.measured = {}  # {method: {blocks: {work: step}}}
        for row in rows.of(LADDER):
            if (row["GPUCount"], row["reads"]) == ("1", "1"):
                way = self.measured.setdefault(row["method"], {})
                way.setdefault(int(row["blk"]), {})[float(row["idea(wkld)"])] = float(row["med(step)"])
        self.most_blocks = max((blocks for shapes in self.measured.values() for blocks in shapes),
                               default=1)
        self.barriers = {}  # {(method, GPUs): {(blocks per SM, threads): ns}}
        for title in ("grid latency", BARRIERS_OF_GPUS):
            for row in rows.of(title):
                shapes = self.barriers.setdefault((row["method"], int(row["GPUcount"])), {})
                shapes[int(row["blk"]) / rows.sms, int(row["thrd"])] = float(row["med(avginstru)"])

    def barrier(self, method, gpus, blocks, threads):
        """ns; None where no such row is there. Shapes between those of rows cost as the next."""
        shape = power_of_two(blocks / self.rows.sms), max(32, power_of_two(threads))
        return self.barriers.get((method, gpus), {}).get(shape)

    def way(self, method, blocks):
        """A Way; None where it was not measured, or only on fewer blocks."""
        known = {}
        for count, steps in self.measured.get(method, {}).items():
            longest = max(steps)
            known[math.log(count)] = Way(steps[min(steps)], steps[longest] - longest)
        if not known or math.log(blocks) > max(known):
            return None
        return Way(*(on_line({count: way[part] for count, way in known.items()}, math.log(blocks))
                     for part in range(2)))

    def measured_at(self, blocks, threads):
        """Whether the chains' rows are of such a shape, or of more and of fewer blocks."""
        return blocks <= self.most_blocks and threads == LADDER_SHAPE[1]

    def of_shape(self, method, blocks, threads):
        """A Way, also of more blocks than SMs; None where rows do not tell."""
        way = self.way(method, min(blocks, self.most_blocks))
        if not way or self.measured_at(blocks, threads) or not method.startswith("steps_"):
            return way
        costs = [self.barrier(BARRIERS.get(method), 1, *shape) for shape in (
            (blocks, threads), (self.rows.sms, LADDER_SHAPE[1]))]
        return None if None in costs else Way(*(part + costs[0] - costs[1] for part in way))

    def ways(self, gpus, blocks, threads, work):
        """{method: Way}, on several GPUs at so much work"""
        if gpus == 1:
            ways = {method: self.of_shape(method, blocks, threads) for method in NEEDS}
            ways[IN_ONE_BLOCK] = self.of_one_block(threads) if blocks == 1 else None
        else:
            ways = {method: self.round(method, gpus, blocks, threads, work)
                    for method in NEEDS_OF_GPUS}
            barrier = self.barrier("peer_grid_sync", gpus, blocks, threads)
            ways["peer_grid_sync"] = None if barrier is None else Way(0, barrier)
        return {method: way for method, way in ways.items() if way}

    def of_one_block(self, threads):
        """The Way of `__syncthreads()` in a loop, where each thread exchanges a word; None where rows do
        not tell."""
        threads = str(max(32, power_of_two(threads)))
        for row in self.rows.of("group latency"):
            if (row["method"] == IN_ONE_BLOCK and row["thrd"] == row["tile"] == threads
                    and float(row["clock"]) > 0):
                cycles = float(row.get("loop(ave_cycle)", row["med(ave_cycle)"]))
                return Way(0, 1e3 * cycles / float(row["clock"]))
        return None

    def known(self, gpus):
        """Methods that have rows of steps on so many GPUs, in any shape."""
        if gpus == 1:
            return self.measured.keys()
        return ({method for method, of in self.barriers if of == gpus} |
                {method for method in NEEDS_OF_GPUS if self.rounds(method, gpus, 1, 1)})

    def most_gpus(self):
        counts = [int(row["GPUCount"]) for row in self.rows.of(ROUNDS)]
        return max([1, *counts, *(gpus for _, gpus in self.barriers)])

    def launches(self, title, method, gpus, blocks, threads):
        """Rows of a launch in this shape, or else in the nearest: first of blocks, then of threads."""
        rows = [row for row in self.rows.of(title)
                if row["method"] == method and int(row["GPUCount"]) == gpus]
        off = [(abs(math.log(int(row["blk"]) / blocks)), abs(math.log(int(row["thrd"]) / threads)))
               for row in rows]
        return [row for row, distance in zip(rows, off) if distance == min(off)]

    def rounds(self, method, gpus, *shape):
        """The rows that its seams are from."""
        if method == THREADS:
            return self.launches("sleep kernel", method, gpus, *shape)
        return self.launches(ROUNDS, "events_to_all" if method in EVENTS else method, gpus, *shape)

    def seams(self, method, gpus, *shape):
        """{work: ns}, both of a launch on several GPUs, or of one thread a GPU"""
        column = "med(ovh)" if method == THREADS else "med(turns)"
        found = {float(row["idea(wkld)"]): float(row[column])
                 for row in self.rounds(method, gpus, *shape)}
        return {work: seam for work, seam in found.items() if not math.isnan(seam)}

    def pace(self, method, gpus, *shape):
        """ns in which the host queues a step of all GPUs; None where no rows tell"""
        def queued(method, gpus):
            return next((float(row["med(addl)"])
                         for row in self.launches("null kernel", method, gpus, *shape)
                         if row["rep"] != "1"), None)
        if method in ("graph_of_gpus", THREADS):
            return 0  # one call for all steps; in its seam
        if method not in EVENTS:
            return queued(method, gpus)
        launch, with_event = queued("traditional_launch", 1), queued("event_wait", 1)
        if None in (launch, with_event):
            return None
        return gpus * launch + EVENTS[method](gpus) * (with_event - launch)

    def round(self, method, gpus, blocks, threads, work):
        """A Way at so much work, or None."""
        seams = self.seams(method, gpus, blocks, threads)
        pace = self.pace(method, gpus, blocks, threads)
        if not seams or (pace is None and work < min(seams)):
            return None
        return Way(pace or 0, on_line({math.log(of): seam for of, seam in seams.items()},
                                      math.log(max(work, 1))))
