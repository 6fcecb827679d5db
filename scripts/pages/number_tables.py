"""What docs/numbers.md shows: figures of all recorded machines, by kind of GPU. A number is a
median, or the range of the medians of several machines."""

import functools
from typing import NamedTuple

from parts import tsv
from reporting.sheets import coded, markdown_table
from reporting.study import FOLDER

KINDS = ("H100", "H200")
FULL = ("132", "1024")  # blocks and threads: one block on each SM of these GPUs
CROWDED = ("4224", "64")


class Figure(NamedTuple):
    """The row of a section whose cells are these, of files NAME of all folders; `shape`: blocks
    and threads."""
    text: str
    unit: str
    name: str  # of a program, or of a folder that has a file for each machine
    section: str
    column: str
    method: str
    shape: tuple
    cells: dict = {}
    scale: float = 1


def in_sm(text, section, method, shape, **cells):
    return Figure(text, "cycles", "BenchmarkIntraSM", section, "ave_cycle", method, shape, cells)


def of_grid(text, method, shape, gpus="1"):
    section = "grid latency" if method == "grid_sync" else "multi-GPU latency"
    return Figure(text, "ns", "BenchmarkInterSM", section, "avginstru", method, shape,
                  {"GPUcount": gpus})


def of_launch(text, unit, section, column, method, scale=1, **cells):
    return Figure(text, unit, "launches", section, column, method, FULL, cells, scale)


ONE = ("1", "32")
FIGURES = (
    in_sm("Warp shuffle", "warp latency", "tile_shufl", ONE, tile="32"),
    in_sm("Warp vote, `__any_sync()`", "warp latency", "vote_any", ONE),
    in_sm("Sum of a warp in one instruction, `redux.sync`", "warp latency", "redux_add", ONE),
    in_sm("Prefix sums of a warp", "warp latency", "warp_inclusive_sum", ONE),
    in_sm("`__syncthreads()`, 32 threads", "block latency", "blocksync", ONE),
    in_sm("`__syncthreads()`, 1024 threads", "block latency", "blocksync", ("1", "1024")),
    in_sm("`mbarrier`, arrive and wait, 1024 threads", "block latency", "mbarrier", ("1", "1024")),
    in_sm("Shared atomic, each lane its own word", "warp latency", "shared_add", ONE, tile="32"),
    in_sm("Shared atomic, all lanes one word", "warp latency", "shared_add", ONE, tile="1"),
    in_sm("Global atomic, each lane its own word", "warp latency", "global_add", ONE, tile="32"),
    in_sm("Global compare-and-swap, all lanes one word", "warp latency", "global_cas", ONE, tile="1"),
    in_sm("`__threadfence()`, nothing stored", "warp latency", "threadfence", ONE, tile="0"),
    in_sm("`__threadfence()` behind a store", "warp latency", "threadfence", ONE, tile="1"),
    in_sm("`__threadfence_system()` behind a store", "warp latency", "threadfence_system", ONE,
          tile="1"),
    in_sm("Load from another block's shared memory", "group latency", "distributed_load",
          ("2", "32"), tile="2"),
    in_sm("`barrier.cluster`, 2 blocks of 32", "group latency", "cluster_sync", ("2", "32"), tile="2"),
    in_sm("`barrier.cluster`, 2 blocks of 1024", "group latency", "cluster_sync", ("2", "1024"),
          tile="2"),
    of_grid("`grid.sync()`, one block of 1024 per SM", "grid_sync", FULL),
    of_grid("`grid.sync()`, 32 blocks of 64 per SM", "grid_sync", CROWDED),
    of_grid("Barrier of two GPUs, one block of 1024 per SM", "peer_grid_sync", FULL, "2"),
    of_grid("Barrier of four GPUs, the same", "peer_grid_sync", FULL, "4"),
    of_launch("One more kernel, in a process with one stream", "ns", "one stream", "ovh",
              "traditional_launch", GPUCount="1"),
    of_launch("One more kernel of a graph", "ns", "graphs", "node", "graph_launch", GPUCount="1",
              rep="1000"),
    of_launch("One more kernel by programmatic launch", "ns", "one stream", "ovh",
              "programmatic_launch", GPUCount="1"),
    Figure("First use of a kernel's module", "µs", "launches", "first use", "module",
           "traditional_launch", ONE, {}, 1e3),
)

# What one reads, and the figure that is meant, then the one that was taken for it.
CLAIMS = (
    ("A shuffle takes one cycle.", FIGURES[0],
     Figure("Shuffles of an SM, each of a warp", "per cycle", "BenchmarkIntraSM", "throughput",
            "thrput", "tile_shufl", ("132", "1024"), {"tile": "32"})),
    ("A tiny kernel takes 5 µs.", FIGURES[21],
     Figure("Launch, run and wait for one, by the host's clock", "ns", "launches", "null kernel",
            "ttl", "traditional_launch", FULL, {"rep": "1", "GPUCount": "1"})),
    ("`grid.sync()` takes 15 µs on Hopper, or 278 µs on a later GPU.", FIGURES[17], FIGURES[18]),
    ("Graphs make launches free.", FIGURES[22],
     Figure("The host's call, a node", "ns", "launches", "graphs", "call", "graph_launch", FULL,
            {"GPUCount": "1", "rep": "1000"}, 1e3)),
    ("A cluster's barrier is cheap, for it is hardware.", FIGURES[16],
     in_sm("`barrier.cluster` without memory order", "group latency", "cluster_relaxed",
           ("2", "1024"), tile="2")),
)


@functools.lru_cache(maxsize=None)
def sections(name):
    """[(kind of GPU, {title: section})] of all recorded machines."""
    folder = FOLDER.parent
    pattern = f"{name}/*.tsv" if (folder / name).is_dir() else f"*/{name}.tsv"
    found = []
    for path in sorted(folder.glob(pattern)):
        machine = path.stem if pattern.startswith(name) else path.parent.name
        kind = machine.split("x")[0].upper()
        if kind in KINDS:
            found.append((kind, {section.title: section for section in tsv.read(path)}))
    return found


def shown(value):
    """Three digits, or all of a large number."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def cell(figure, kind):
    values = []
    for of, titles in sections(figure.name):
        section = titles.get(figure.section)
        wanted = {"method": figure.method, "blk": figure.shape[0], "thrd": figure.shape[1],
                  **figure.cells}
        for row in section.rows if of == kind and section else ():
            if all(row[key] == value for key, value in wanted.items()):
                values.append(float(row[f"med({figure.column})"]) / figure.scale)
    texts = [shown(value) for value in sorted(values)]
    return " to ".join(dict.fromkeys((texts[0], texts[-1]))) if texts else "–"


def figures(_runs):
    return markdown_table(
        ["What", "Unit", *KINDS], 2,
        [[coded(figure.text), figure.unit, *(cell(figure, kind) for kind in KINDS)]
         for figure in FIGURES])


def claims(_runs):
    def text(figure):
        return coded(f"{figure.text}: ") + " / ".join(
            cell(figure, kind) for kind in KINDS) + f" {figure.unit}"

    return markdown_table(["Claim", "What it costs, H100 / H200", "What is near the claim"], 3,
                          [[coded(claim), text(right), text(other)]
                           for claim, right, other in CLAIMS])
