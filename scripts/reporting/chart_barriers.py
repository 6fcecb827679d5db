"""All barriers on one axis; the study had no occasion for it. For report.py."""

import math
import re
from collections import defaultdict, namedtuple

from parts import suite
from reporting.chart import DOTS, SPREAD, Chart, Panel, Point, Series, scaled
from reporting.estimates import Estimate, estimate_of, shape, short_name

SM, ALL = "SM", "ALL"  # in cells: as many blocks as there are SMs, all GPUs of the run

# One line of the chart. less: a method that is the same without the barrier.
Barrier = namedtuple("Barrier", "level name title column method cells less", defaults=[None])


def named(method, less):
    """In figures; a difference of two rows has a name that no row has."""
    return f"added_{method.removeprefix('in_use_')}" if less else method


def in_sm(level, of, title, method, less=None, **cells):
    return Barrier(level, f"{named(method, less)}, {of}", title, "m(ave_cycle)", method, cells,
                   less)


def warp(method, tile, less=None):
    return in_sm("warp", f"{tile} lanes", "warp latency", method, less, thrd="32", tile=tile)


def block(method, threads):
    return in_sm("block", f"{threads} threads", "block latency", method, thrd=threads)


def part(method, tile, less=None):
    return in_sm("block", f"{tile}{' of 1024' * (tile != '1024')} threads", "group latency", method,
                 less,
                 thrd="1024", tile=tile)


def cluster(method, blocks, less=None):
    return in_sm("cluster", f"{blocks} x 1024", "group latency", method, less, thrd="1024",
                 tile=blocks)


def across(method, title, column, blocks, threads, **gpus):
    return Barrier("all GPUs" if ALL in gpus.values() else "one GPU",
                   f"{method}, {shape(blocks, threads)}",
                   title, column, method, {**gpus, "blk": (SM, blocks), "thrd": str(threads)})


def grid(method, title, blocks, threads, gpus):
    return across(method, title, "m(avginstru)", blocks, threads, GPUcount=gpus)


def launch(method, gpus):
    return across(method, "sleep kernel", "m(ovh)", 1, 1024, GPUCount=gpus)


GRID, GPUS = "grid latency", "multi-GPU latency"
BARRIERS = (
    warp("tile_shufl", "32"), warp("tile_sync", "32"), warp("tile_sync", "16"),
    warp("syncwarp", "32"), warp("syncwarp", "16"), warp("coales_sync", "32"),
    warp("in_use_tile", "16", "in_use_none"), warp("in_use_syncwarp", "16", "in_use_none"),
    warp("in_use_coalesced", "16", "in_use_none"),
    warp("in_use_branches", "32", "in_use_branches_none"),
    block("blocksync", "32"), block("blocksync", "1024"), block("syncthreads_count", "1024"),
    block("syncthreads_and", "1024"), block("syncthreads_or", "1024"),
    block("mbarrier", "1024"), block("mbarrier_parity", "1024"), block("cuda_barrier", "1024"),
    part("named_barrier", "512"), part("named_barrier", "1024"), part("split_barrier", "1024"),
    part("in_use_blocksync", "1024", "in_use_block_none"),
    part("in_use_named_barrier", "1024", "in_use_block_none"),
    cluster("cluster_sync", "2"), cluster("cluster_sync", "8"), cluster("cluster_relaxed", "8"),
    cluster("cluster_split", "8"), cluster("cluster_exchange", "8", "cluster_exchange_unmet"),
    grid("grid_sync", GRID, 1, 32, "1"), grid("grid_sync", GRID, 1, 1024, "1"),
    grid("grid_sync", GRID, 32, 64, "1"),
    grid("semaphore", GRID, 1, 1024, "1"), grid("named_semaphore", GRID, 1, 1024, "1"),
    grid("peer_grid_sync", GPUS, 1, 1024, "1"), grid("multi_grid_sync", GPUS, 1, 1024, "1"),
    launch("traditional_launch", "1"), launch("cooperative_launch", "1"),
    launch("single_omp_traditional_launch", "1"),
    grid("peer_grid_sync", GPUS, 1, 1024, ALL), grid("multi_grid_sync", GPUS, 1, 1024, ALL),
    grid("multi_grid_sync_no_peer", GPUS, 1, 1024, ALL),
    launch("multi_cooperative_launch", ALL), launch("single_omp_traditional_launch", ALL))
METHODS = {f"{barrier.level}: {barrier.name}": barrier.method for barrier in BARRIERS}
SELECTED = (
    "warp: tile_shufl, 32 lanes", "warp: added_tile, 16 lanes", "block: blocksync, 32 threads",
    "block: blocksync, 1024 threads", "cluster: cluster_sync, 8 x 1024",
    *(f"one GPU: {name}" for name in ("grid_sync, 1 per SM x 1024", "grid_sync, 32 per SM x 64",
                                      "traditional_launch, 1 per SM x 1024",
                                      "single_omp_traditional_launch, 1 per SM x 1024")),
    *(f"all GPUs: {method}, 1 per SM x 1024" for method in (
        "peer_grid_sync", "multi_grid_sync", "single_omp_traditional_launch")))
FILES = {"grid latency": "BenchmarkInterSM", "multi-GPU latency": "BenchmarkInterSM",
         "sleep kernel": "ImplicitBarrier"}


def clock_of(run, row):
    """Of the SM in MHz: noted with the row, else what the GPU was set to; None: unknown."""
    if float(row.get("clock", "nan")) > 0:
        return float(row["clock"])
    found = re.match(r"(\d{1,15}) MHz", run.environment.get("sm_clock_application", ""))
    return found and float(found[1])


def less_than(estimate, other):
    """What one takes more than the other."""
    return estimate and other and Estimate(
        estimate.value - other.value, math.hypot(estimate.spread, other.spread),
        estimate.sources + other.sources, estimate.remarks + other.remarks)


def look(run, barrier, file):
    """The Estimate of a barrier in this file, in ns, or None; and the clock of its cycles."""
    section = run.section(file, barrier.title)
    cells = dict(barrier.cells)
    for name, cell in cells.items():
        if cell == ALL:
            counts = [row.whole(name) for row in section.find_all(method=barrier.method)]
            cells[name] = str(max(counts, default=1))
            if cells[name] == "1":
                return None, None
        elif isinstance(cell, tuple):
            cells[name] = str(run.sms * cell[1])
    row = section.find(method=barrier.method, **cells)
    spread = "s(avginstr)" if barrier.column == "m(avginstru)" else None
    estimate = estimate_of(row, barrier.column, spread)
    if estimate and barrier.less:
        estimate = less_than(estimate, estimate_of(
            section.find(method=barrier.less, **cells), barrier.column))
    if barrier.column != "m(ave_cycle)" or estimate is None:
        return estimate, None
    clock = clock_of(run, row)
    return (scaled(estimate, 1e3 / clock), clock) if clock else (None, None)


def take(run, barrier):
    """Of a barrier the Estimate in ns, the SM clock of its cycles, and what is said of it: "older":
    only the older toolkit compiles it to something that waits; "nothing": no toolkit does; "free":
    it takes no longer than the same without the barrier; "missing"."""
    file, nothing = FILES.get(barrier.title, "BenchmarkIntraSM"), False
    for name in (file, file + suite.OLDER):
        estimate, clock = look(run, barrier, name)
        nothing = nothing or bool(estimate and estimate.nothing)
        if estimate and not estimate.nothing and estimate.value > 0:
            return estimate, clock, "older" * nothing
        if estimate and barrier.less and estimate.value <= 0:
            return None, None, "free"
    return None, None, "nothing" if nothing else "missing"


def remarks(run, clocks, said):
    """said: {what is said: names of barriers}"""
    if clocks:
        low, high = min(clocks), max(clocks)
        clock = f"{low:.0f}" if high - low < 1 else f"{low:.0f} to {high:.0f}"
        yield f"Cycles are taken at the SM's clock beside each row, {clock} MHz."
    toolkit = run.environment.get("cuda_toolkit_before13", "an older toolkit")
    for what, text in (
            ("older", f"Built with CUDA {toolkit}, as the newer one leaves no such barrier"),
            ("nothing", "Removed barriers"), ("free", "No longer with the barrier than without")):
        if said[what]:
            yield f"{text}: {'; '.join(dict.fromkeys(said[what]))}."


def all_barriers(run, _):
    """A series for each toolkit; of each level the cheapest first."""
    chart = Chart("barriers", "", f"All barriers of {machine(run)}, by who waits", DOTS,
                  "nanoseconds", SPREAD)
    levels, estimates, clocks, said = {}, {}, [], defaultdict(list)
    for barrier in BARRIERS:
        text = f"{barrier.level}: {barrier.name}"
        estimate, clock, what = take(run, barrier)
        if estimate:
            levels.setdefault(barrier.level, []).append(text)
            estimates[text] = estimate
            clocks += [clock] * bool(clock)
        if what != "missing":
            said[what].append(barrier.name)
        elif not (barrier.level == "all GPUs" and run.environment.get("gpu_count") == "1"):
            chart.missing.append(text)
    groups = [(level, sorted(texts, key=lambda text: estimates[text].value))
              for level, texts in levels.items()]
    series = [Series(f"CUDA {run.environment.get(key, 'unknown')}", [
        Point(text, estimates[text], METHODS[text]) for _, texts in groups for text in texts
        if (suite.OLDER in estimates[text].sources[0][0]) == older])
        for older, key in ((False, "cuda_toolkit"), (True, "cuda_toolkit_before13"))]
    chart.add(Panel("", "nanoseconds", "", series, log_x=True, groups=groups))
    chart.notes += [
        "n x t: n blocks of t threads; n per SM x t: n blocks for each SM. split_barrier is there "
        "and back. added_*: what a step of a program takes more with the barrier than without, a "
        "difference of two rows: in_use_* or cluster_exchange less the same without its barrier.",
        *remarks(run, clocks, said)]
    return chart


def machine(run):
    return f"{short_name(run)} x {run.environment.get('gpu_count', '?')}"


def selected(run):
    """The barriers that a page shows first."""
    chart = all_barriers(run, None)
    chart.title = f"Barriers of {machine(run)}, by who waits"
    panel, = chart.panels
    panel.groups = [(level, [text for text in texts if text in SELECTED])
                    for level, texts in panel.groups]
    for series in panel.series:
        series.points = [point for point in series.points if point.x in SELECTED]
    return chart
