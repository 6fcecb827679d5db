"""What docs/numbers.md shows: numbers of all recorded machines, by kind of GPU. A number is a
median, or the range of the medians of several machines."""

from typing import NamedTuple

from pages.recorded import RESULTS, rows
from reporting.sheets import coded, markdown_table

KINDS = ("H100", "H200")
FULL = ("132", "1024")  # blocks and threads: one block on each SM of these GPUs
CROWDED = ("4224", "64")


class Number(NamedTuple):
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


def in_sm(text, section, method, shape, **cells):
    return Number(text, "cycles", "BenchmarkIntraSM", section, "ave_cycle", method, shape, cells)


def of_grid(text, method, shape, gpus="1"):
    section = "grid latency" if method == "grid_sync" else "multi-GPU latency"
    return Number(text, "ns", "BenchmarkInterSM", section, "avginstru", method, shape,
                  {"GPUcount": gpus})


def one_more(text, method):
    return Number(text, "ns", "launches", "one stream", "ovh", method, FULL, {"GPUCount": "1"})


PACE = Number("Empty kernels in a row, by the host's clock", "ns", "launches", "null kernel", "addl",
              "traditional_launch", FULL, {"rep": "128", "GPUCount": "1"})
ONE = ("1", "32")
GRID = of_grid("`grid.sync()`, one block of 1024 per SM", "grid_sync", FULL)
CROWDED_GRID = of_grid("`grid.sync()`, 32 blocks of 64 per SM", "grid_sync", CROWDED)
NEXT_KERNEL = one_more("One more kernel, in a process with one stream", "traditional_launch")
NUMBERS = (
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
    in_sm("`__threadfence()` after a store, to 64 places in turn", "warp latency", "threadfence", ONE,
          tile="1"),
    in_sm("`__threadfence_system()`, the same", "warp latency", "threadfence_system", ONE, tile="1"),
    in_sm("Load from another block's shared memory", "group latency", "distributed_load",
          ("2", "32"), tile="2"),
    in_sm("`barrier.cluster`, 2 blocks of 32", "group latency", "cluster_sync", ("2", "32"), tile="2"),
    in_sm("`barrier.cluster`, 2 blocks of 1024", "group latency", "cluster_sync", ("2", "1024"),
          tile="2"),
    in_sm("The same without memory order", "group latency", "cluster_relaxed", ("2", "1024"),
          tile="2"),
    GRID, CROWDED_GRID,
    of_grid("Barrier of two GPUs, one block of 1024 per SM", "peer_grid_sync", FULL, "2"),
    of_grid("Barrier of four GPUs, the same", "peer_grid_sync", FULL, "4"),
    NEXT_KERNEL,
    one_more("One more kernel, in a graph", "graph_launch"),
    one_more("One more kernel, by programmatic launch", "programmatic_launch"),
)

# What one reads, where, the number that is meant, and one that is near it.
CLAIMS = (
    ("A tiny kernel takes 5 µs.", "tusharhqq/napkin-math-gpu, `README.md`, 006db14", PACE,
     Number("Launch, run and wait for one, by the host's clock", "ns", "launches", "null kernel",
            "ttl", "traditional_launch", FULL, {"rep": "1", "GPUCount": "1"})),
    ("`grid.sync()` takes 15 µs on Hopper.",
     "starpit/vllm, `vllm-rs/crates/ferrite-forward-macro/src/impl_lib.rs`, 0088e43", GRID,
     CROWDED_GRID),
    ("`grid.sync()` takes 278 µs on an RTX 5090.",
     "Cklaus1/autokernel5090, `EXPERIMENT_DISCOVERIES.md`, 0754ac4", GRID, CROWDED_GRID),
)


def shown(value):
    """Three digits, or all of a large number."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def cell(number, kind):
    """Of all recorded machines of a kind."""
    alone = (RESULTS / number.name).is_dir()
    paths = RESULTS.glob(f"{number.name}/{kind.lower()}x*.tsv" if alone else
                         f"{kind.lower()}x*/{number.name}.tsv")
    values = sorted(float(row[f"med({number.column})"]) for path in paths for row in rows(
        path.relative_to(RESULTS).with_suffix(""), number.section, method=number.method,
        blk=number.shape[0], thrd=number.shape[1], **number.cells))
    texts = list(map(shown, values))
    return " to ".join(dict.fromkeys((texts[0], texts[-1]))) if texts else "–"


def numbers(_runs):
    return markdown_table(
        ["What", "Unit", *KINDS], 2,
        [[coded(number.text), number.unit, *(cell(number, kind) for kind in KINDS)]
         for number in NUMBERS])


def claims(_runs):
    def text(number):
        return coded(f"{number.text}: ") + " / ".join(
            cell(number, kind) for kind in KINDS) + f" {number.unit}"

    return markdown_table(
        ["Claim", "Project, file, commit", "What it costs, H100 / H200", "What is near the claim"], 4,
        [[coded(claim), coded(source), text(right), text(other)]
         for claim, source, right, other in CLAIMS])
