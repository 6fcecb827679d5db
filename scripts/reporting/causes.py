"""What is known to move rows, for report.py: each from a page that says how it was seen."""

import math
import re
from collections import Counter

import compare
from reporting import normal
from reporting.sheets import coded

METHOD, LIMITS = "docs/method.md", "9. Known limits"
NORMAL = ("README.md", "Is my number normal?")
FENCES = "threadfence|threadfence_system|cluster_(sync|split|exchange)"  # or have one in them


class Cause:
    """said: what the page says under its heading, which a test looks for. files, sections,
    methods: regular expressions of the rows it can move. percent: by how much at most, which
    `said` names. when: of (the moved row, the run's environment, a recorded one's), whether it
    can have moved this: beside each recorded run, for a moved row lies beyond all."""

    def __init__(self, name, text, page, said, files=".*", sections=".*", methods=".*",
                 percent=math.inf, when=lambda row, here, there: True):
        self.name, self.text, self.said = name, text, said
        (self.page, self.heading), self.patterns = page, (files, sections, methods)
        self.percent, self.when = percent, when

    def can_move(self, row, run, recorded):
        return abs(row.change) <= self.percent and all(
            re.fullmatch(pattern, part) for pattern, part in zip(self.patterns, row.key)) and all(
                self.when(row, run.environment, other.environment) for other in recorded)


def all_of(*tests):
    return lambda *given: all(test(*given) for test in tests)


def differs(*keys):
    return lambda row, here, there: any(here.get(key) != there.get(key) for key in keys)


def alike(row, here, there):
    return here.get("gpu") == there.get("gpu")


def both_h200(row, here, there):
    return all("H200" in run.get("gpu", "") for run in (here, there))


def h100_and_h200(row, here, there):
    return {kind for kind in ("H100", "H200") for run in (here, there)
            if kind in run.get("gpu", "")} == {"H100", "H200"}


def cell_of(row, column):
    """Of a moved row's key: "4xSM" of blk."""
    return row.key[1 + compare.KEYS.index(column)]


def is_on_one_gpu(*blocks):
    return lambda row, here, there: cell_of(row, "gpus") == "1" and (
        cell_of(row, "blk") in [f"{count}xSM" for count in blocks])


def has_many_blocks_on_gpus(row, here, there):
    """Four and more for each SM of several GPUs."""
    blocks, per_sm, _ = cell_of(row, "blk").partition("xSM")
    return cell_of(row, "gpus") not in ("nan", "1") and bool(per_sm) and int(blocks) >= 4


def toolkit_differs(row, here, there):
    key = "cuda_toolkit_multi_grid" if row.key[0].endswith(".cuda11") else "cuda_toolkit"
    return here.get(key) != there.get(key)


def is_short_sum(row, here, there):
    """The row `theory` is of no size (nan)."""
    return float(row.row["bytes"]) <= 2 ** 26


def is_long_sum(row, here, there):
    """With the limit of its method."""
    return float(row.row["bytes"]) >= 2 ** 31 and (
        abs(row.change) <= 2.7 or row.key[2] == "two_pass_tree")


def median_has_not_moved(row, here, there):
    """Where there is one."""
    median = float(row.row.get(f"med({row.quantity})", "nan"))
    allowed = abs(row.low + row.high) / 2 * normal.THRESHOLD / 100
    return row.low - allowed <= median <= row.high + allowed


CAUSES = (
    Cause("stream", "The gap between two kernels has a level that belongs to the stream, by up to "
          "17%; a row is of ten streams.", (METHOD, "4. Launches"),
          "up to 17% more than in the fastest of 320 streams",
          "ImplicitBarrier", "sleep kernel|held queue", "(traditional|cooperative)_launch", 17),
    Cause("process", "A multi-device launch has a level that belongs to the process; a row is of "
          "several processes.", (METHOD, "4. Launches"),
          "that of a multi-device launch one that belongs to the process",
          "ImplicitBarrier", "sleep kernel|held queue", "multi_cooperative_launch"),
    Cause("gap", "The gap between two kernels depends on the kind of GPU: 1.5 to 1.7 us on an "
          "H200, near 2 us on an H100.", (METHOD, "4. Launches"),
          "on the H100, where the gap is near 2,000 ns",
          "ImplicitBarrier", "sleep kernel|held queue", "((multi_)?coop|trad).*_launch",
          when=h100_and_h200),
    Cause("pace", "The pace of the host, which wanders over seconds.", (METHOD, "4. Launches"),
          "With nothing to execute this is the pace of the host", "ImplicitBarrier", "null kernel"),
    Cause("sleep", "Kernels that sleep end on a grid of powers of two: their overhead is the gap "
          "rounded to it.", (METHOD, "4. Launches"),
          "and so do kernels that sleep: their `ovh` is the gap rounded to that grid",
          "ImplicitBarrier", "sleep instruction"),
    Cause("host", "A virtual machine's host stalls now and then, and the CPU's clock counts it as "
          "the GPU's time: the mean has moved, the median has not.",
          (METHOD, "7. What the method cannot see"), "The medians show how much they moved a mean",
          "ImplicitBarrier|BenchmarkInterSM(.cuda11)?", when=median_has_not_moved),
    Cause("clock", "Another SM clock moves nanoseconds, not cycles inside an SM.",
          (METHOD, "7. What the method cannot see"),
          "it moves nanoseconds, not cycles inside an SM",
          "ImplicitBarrier|BenchmarkInterSM(.cuda11)?|Reduction(.cuda11)?",
          when=differs("sm_clock_max", "sm_clock_application")),
    Cause("level", "grid.sync() has a level that differs by up to 5% between GPUs of one kind.",
          (METHOD, LIMITS), "the level itself differs by up to 5% between GPUs of one kind",
          "BenchmarkInterSM(.cuda11)?", methods="grid_sync", percent=5, when=alike),
    Cause("level in TestRepeat", "grid.sync() in TestRepeat differs by up to 9% between H200s.",
          NORMAL, "`grid_sync` by up to 9%", "TestRepeat(.cuda11)?",
          methods="grid_sync", percent=9, when=both_h200),
    Cause("peer_grid_sync in TestRepeat", "peer_grid_sync in TestRepeat differs by up to 5% "
          "between H200s.", NORMAL, "`peer_grid_sync` by up to 5%", "TestRepeat(.cuda11)?",
          methods="peer_grid_sync", percent=5, when=both_h200),
    Cause("place", "peer_grid_sync depends on where its memory lies, by up to 12% with 16 blocks "
          "per SM on one GPU; a row is of five places.",
          (METHOD, LIMITS), "by up to 12% with 16 blocks per SM on one GPU",
          "BenchmarkInterSM(.cuda11)?", methods="peer_grid_sync", percent=12,
          when=is_on_one_gpu(16)),
    Cause("place in others", "Between H200s peer_grid_sync on one GPU differs by up to 6% with "
          "16 and 32 blocks per SM.", (METHOD, LIMITS),
          "its rows on one GPU differ by up to 6% with 16 and 32 blocks per SM",
          "BenchmarkInterSM(.cuda11)?", methods="peer_grid_sync", percent=6,
          when=all_of(both_h200, is_on_one_gpu(16, 32))),
    Cause("draw", "Without access between the GPUs a process draws a level of the barrier; a row "
          "is of ten processes.", (METHOD, "3. Across SMs and GPUs"),
          "A process draws a level of it", methods="multi_grid_sync_no_peer"),
    Cause("scatter", "multi_grid_sync on several H200s scatters, and differs by up to 9.4% between "
          "machines, with 4 and more blocks per SM.", (METHOD, LIMITS),
          "differ by up to 9.4% with 4 and more blocks per SM", methods="multi_grid_sync",
          percent=9.4, when=all_of(both_h200, has_many_blocks_on_gpus)),
    Cause("few places", "Rows of global memory in TestRepeat are of a few places only, and move by "
          "as much as places differ, up to 81% between H200s.", (METHOD, LIMITS),
          "Rows of global memory there are of a few places only, and move by as much as places "
          "differ, up to 81% between H200s", "TestRepeat(.cuda11)?",
          methods="global_.*|threadfence|copy_async|bulk_copy_.*", percent=81, when=both_h200),
    Cause("clusters", "Clusters differ by up to 6% between H200s.", NORMAL,
          "between the H200s clusters differ by up to 6%",
          "(BenchmarkIntraSM|TestRepeat)(.cuda11)?", methods="cluster_.*|distributed_load",
          percent=6, when=both_h200),
    Cause("short steps of clusters", "The shortest steps of clusters differ by up to 10 cycles "
          "or 25% between H200s.", NORMAL, "by up to 10 cycles or 25%",
          "(BenchmarkIntraSM|TestRepeat)(.cuda11)?",
          methods="cluster_relaxed|cluster_exchange_unmet", percent=25, when=both_h200),
    Cause("system fence", "`__threadfence_system()` differs by up to 16% between H200s.", NORMAL,
          "`__threadfence_system()` by 16%", "(BenchmarkIntraSM|TestRepeat)(.cuda11)?",
          methods="threadfence_system", percent=16, when=both_h200),
    Cause("kind", "A fence, and with it the barrier of a cluster, depends on the kind of GPU: 631 "
          "or 672 cycles on an H100, 265 on an H200.", NORMAL,
          "An H100's `__threadfence()` takes 672 cycles where an H200's takes 265, hence its "
          "cluster barriers", "(BenchmarkIntraSM|TestRepeat)(.cuda11)?", methods=FENCES,
          when=h100_and_h200),
    Cause("semaphore", "Semaphores differ by up to 5% between H200s.", NORMAL,
          "semaphores by up to 5%", "BenchmarkInterSM(.cuda11)?", methods="(named_)?semaphore",
          percent=5, when=both_h200),
    Cause("pairs", "Semaphores in TestRepeat, the mean over the pairs of blocks, differ by up to "
          "20% between H200s.", NORMAL, "which has the mean over the pairs, by up to 20%",
          "TestRepeat(.cuda11)?", methods="(named_)?semaphore", percent=20, when=both_h200),
    Cause("repeats", "Shuffles of a coalesced group depend on how many stand in a row.",
          (METHOD, "2. Inside one SM"),
          "Coalesced shuffles have r of 2 or 4, because their number depends on it",
          "(BenchmarkIntraSM|TestRepeat)(.cuda11)?", methods="coales_shufl"),
    Cause("sums in a row", "A sum by shuffles of a coalesced group takes longer where several "
          "stand in a row.", ("docs/reduction.md", "What it shows"),
          "of several in a row each takes 314 cycles", "Reduction(.cuda11)?", "warp level",
          "coa_shuffle"),
    Cause("short sums", "Sums by two kernels differ between machines with H200s, up to 64 MiB by "
          "up to 14%.", ("docs/reduction.md", "Limits"),
          "the others, two kernels each, differ up to 64 MiB by at most 14%", "Reduction",
          "one GPU", "implicit|programmatic|cub|two_pass_tree", 14,
          all_of(both_h200, is_short_sum)),
    Cause("long sums", "Sums of 2 GiB and more differ between machines with H200s, by up to 2.7%, "
          "two_pass_tree by 4.8%.", ("docs/reduction.md", "Limits"),
          "1.8 to 2.7% longer on that of four than on those of one and two, `two_pass_tree` up to "
          "4.8%", "Reduction", "one GPU", percent=4.8,
          when=all_of(both_h200, is_long_sum)),
    Cause("objects", "Barrier objects do not rise evenly with the threads: single rows lie above "
          "or below their neighbours.", (METHOD, LIMITS),
          "do not rise evenly with the threads of the block",
          "(BenchmarkIntraSM|TestRepeat)(.cuda11)?",
          methods="mbarrier|mbarrier_parity|cuda_barrier"),
    Cause("toolkit", "A compiler decides what is left of a warp's barrier, and more.",
          ("README.md", "What is needed"), "a compiler decides what is left of a warp's barrier",
          "(BenchmarkIntraSM|TestRepeat|Reduction)(.cuda11)?",
          "block latency|warp latency|group latency|throughput|repeats|warp level",
          when=toolkit_differs))


class Known:
    """What is known to move the moved rows of a run. causes: those that can, in the order of
    CAUSES, from 1 on; counts: how many rows of each; unknown: rows of which nothing is known."""

    def __init__(self, run, recorded, rows):
        self.of_row = {id(row): [cause for cause in CAUSES if cause.can_move(row, run, recorded)]
                       for row in rows}
        self.counts = Counter(cause for found in self.of_row.values() for cause in found)
        self.causes = [cause for cause in CAUSES if cause in self.counts]
        self.unknown = sum(not found for found in self.of_row.values())

    def of(self, row):
        return self.of_row.get(id(row), [])

    def numbers(self, *rows):
        """"2, 5": of their causes, – where there is none."""
        found = {self.causes.index(cause) + 1 for row in rows for cause in self.of(row)}
        return ", ".join(map(str, sorted(found))) or "–"

    def lines(self):
        """Texts under HEAD, a row each."""
        for number, cause in enumerate(self.causes, 1):
            yield str(number), coded(cause.text), f"{cause.page}, {cause.heading}", str(self.counts[cause])


HEAD = ("Known", "What it is", "Where it is shown", "Rows")


def environment_differences(run, recorded):
    """(key, texts of the run and of each recorded one) of what differs; the date always does."""
    runs = [run, *recorded]
    for key in dict.fromkeys(key for one in runs for key in one.environment):
        texts = [one.environment.get(key, "–") for one in runs]
        if key != "date_utc" and len(set(texts)) > 1:
            yield key, texts
