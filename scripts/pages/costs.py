"""What README.md and docs/numbers.md show: numbers of all recorded machines, by kind of GPU. A
number is a median, or the range of the medians of several machines."""

from typing import NamedTuple

from pages.recorded import median, rows, span
from reporting.estimates import short_name
from reporting.normal import is_before
from reporting.sheets import coded, markdown_table

KINDS = ("H100", "H200")
FULL = ("132", "1024")  # blocks and threads: one block on each SM of these GPUs
CROWDED = ("4224", "64")


class Number(NamedTuple):
    """The row of a section whose cells are these; `shape`: blocks and threads."""
    text: str
    unit: str
    program: str
    section: str
    column: str
    method: str
    shape: tuple
    cells: dict = {}


def in_sm(text, section, method, shape, **cells):
    return Number(text, "cycles", "BenchmarkIntraSM", section, "ave_cycle", method, shape, cells)


def of_grid(text, method, shape, gpus="1"):
    section = "grid latency" if "grid_sync" == method[-9:] and "peer" not in method else (
        "multi-GPU latency")
    return Number(text, "ns", "BenchmarkInterSM", section, "avginstru", method, shape, {"GPUcount": gpus})


def of_launch(text, section, column, method, **cells):
    return Number(text, "ns", "ImplicitBarrier", section, column, method, FULL, cells)


def launched(text, section, method):
    return of_launch(text, section, "ovh", method, GPUCount="1")


PACE, WAITED = (of_launch("", "null kernel", column, "traditional_launch", rep=rep, GPUCount="1")
                for column, rep in (("addl", "128"), ("ttl", "1")))
ONE, BLOCK, CLUSTER = ("1", "32"), ("1", "256"), ("2", "1024")
SHUFFLE = in_sm("Warp shuffle", "warp latency", "tile_shufl", ONE, tile="32")
SYNC = in_sm("`__syncthreads()`, 256 threads", "block latency", "blocksync", BLOCK)
CLUSTER_IN_USE = in_sm("`barrier.cluster`, 2 blocks of 1024, in use", "group latency",
                       "in_use_cluster_sync", CLUSTER)
GRID = of_grid("`grid.sync()`, one block of 1024 per SM", "grid_sync", FULL)
GRID_IN_USE = of_grid("`grid.sync()`, the same, in use", "in_use_grid_sync", FULL)
CROWDED_GRID = of_grid("`grid.sync()`, 32 blocks of 64 per SM", "grid_sync", CROWDED)
TWO_GPUS = of_grid("Two GPUs: `peer_grid_sync`, one block of 1024 per SM", "peer_grid_sync", FULL, "2")
FOUR_GPUS = of_grid("Four GPUs: the same", "peer_grid_sync", FULL, "4")
STREAM, GRAPH, PROGRAMMATIC = (launched(text, "one stream", method) for text, method in (
    ("One more kernel in a stream", "traditional_launch"), ("One more kernel in a graph", "graph_launch"),
    ("One more kernel, programmatic launch", "programmatic_launch")))
FEW = (SHUFFLE, SYNC, CLUSTER_IN_USE, GRID, GRID_IN_USE, TWO_GPUS, FOUR_GPUS, STREAM, GRAPH,
       PROGRAMMATIC)
NUMBERS = (
    SHUFFLE,
    in_sm("Warp vote, `__any_sync()`", "warp latency", "vote_any", ONE),
    in_sm("Sum of a warp in one instruction, `redux.sync`", "warp latency", "redux_add", ONE),
    SYNC,
    in_sm("`__syncthreads()`, 1024 threads", "block latency", "blocksync", ("1", "1024")),
    in_sm("`__syncthreads()`, 1024 threads, in use", "group latency", "in_use_blocksync",
          ("1", "1024")),
    in_sm("`cuda::barrier`, 1024 threads", "block latency", "cuda_barrier", ("1", "1024")),
    in_sm("`cuda::barrier`, 1024 threads, in use", "block latency", "in_use_cuda_barrier",
          ("1", "1024")),
    in_sm("Shared atomic, each lane its own word", "warp latency", "shared_add", ONE, tile="32"),
    in_sm("Shared atomic, all lanes one word", "warp latency", "shared_add", ONE, tile="1"),
    in_sm("Global atomic, each lane its own word", "warp latency", "global_add", ONE, tile="32"),
    in_sm("Global atomic, all lanes one word", "warp latency", "global_add", ONE, tile="1"),
    *(in_sm(f"`{fence}()`, {pending}", "warp latency", method + kind, ONE)
      for fence, method in (("__threadfence", "fence_acq_rel_gpu"),
                            ("__threadfence_system", "fence_acq_rel_sys"))
      for pending, kind in (("nothing stored", ""), ("after a store", "_stores"))),
    in_sm("Load from another block's shared memory", "group latency", "distributed_load",
          ("2", "32"), tile="2"),
    in_sm("`barrier.cluster`, 2 blocks of 32", "group latency", "cluster_sync", ("2", "32"), tile="2"),
    in_sm("`barrier.cluster`, 2 blocks of 1024", "group latency", "cluster_sync", CLUSTER, tile="2"),
    in_sm("The same without memory order", "group latency", "cluster_relaxed", CLUSTER, tile="2"),
    CLUSTER_IN_USE,
    GRID, GRID_IN_USE, CROWDED_GRID,
    of_grid("The same, in use", "in_use_grid_sync", CROWDED), TWO_GPUS, FOUR_GPUS,
    of_grid("Two GPUs: the same, in use", "in_use_peer_grid_sync", FULL, "2"))
# What one times, what it contains, its number.
LAUNCHES = (
    ("Kernels longer than the host needs to launch", "from the end of one to the start of the next; "
     "one stream only", STREAM),
    ("The same after a second stream or a cooperative launch", "the same, slower from then on",
     launched("", "sleep kernel", "traditional_launch")),
    ("The same, kernels of a graph", "the same, one stream only", GRAPH),
    ("The same, programmatic launches", "the same; the next kernel starts early", PROGRAMMATIC),
    ("Many empty kernels, by the host's clock", "the pace of the host", PACE),
    ("One empty kernel and `cudaDeviceSynchronize()`", "the way there, the kernel, the way back", WAITED),
    ("Launch, synchronize, OpenMP barrier, in turn", "a round over the CPU",
     launched("", "sleep kernel", "single_omp_traditional_launch")))


def shown(value):
    """Three digits, or all of a large number."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def cell(number, runs):
    """Of these runs; of earlier versions only where no other has the row."""
    found = {False: [], True: []}
    for run in runs:
        found[is_before(run)] += [median(row, number.column) for row in rows(
            run, number.program, number.section, method=number.method, blk=number.shape[0],
            thrd=number.shape[1], **number.cells)]
    values = found[False] or found[True]
    return span(values, shown) + " (before)" * (not found[False]) if values else "–"


def of_kinds(number, runs):
    return [cell(number, [run for run in runs if short_name(run) == kind]) for kind in KINDS]


def few(runs):
    return numbers(runs, FEW)


def numbers(runs, of=NUMBERS):
    return markdown_table(
        ["What", "Unit", *KINDS], 2,
        [[coded(number.text), number.unit, *of_kinds(number, runs)] for number in of])


def launches(runs):
    return markdown_table(
        ["What you time", "What it contains", *(f"{kind}, ns" for kind in KINDS)], 2,
        [[coded(what), contains, *of_kinds(number, runs)] for what, contains, number in LAUNCHES])
