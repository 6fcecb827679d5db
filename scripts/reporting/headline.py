"""Headline numbers of report.py: what a barrier costs, from a warp to all GPUs: a run
beside the recorded ones."""

import functools
import math
import textwrap
from collections import namedtuple

from parts import means
from parts.tables import right_aligned
from parts.tsv import GRID_FILES
from reporting.estimates import NONE, WARNED, estimate_of, many, shape, short_name
from reporting.names import legend
from reporting.sheets import CODE, Cell, Sheet, coded, plain
from reporting.study import GPUS

WHOLE_SM = shape(1, 1024)
CPU = "single_omp_traditional_launch"

Found = namedtuple("Found", "estimate row")  # estimate: in the headline's unit; row: that is judged
# find(run): Found or None. study(study, gpu): the study's text or None.
Headline = namedtuple("Headline", "name label unit find study")


def nothing_known(_study, _gpu):
    return None


def of_table(table, column, **cells):
    """The study's number in one of its tables."""
    return lambda study, gpu: study.value(table, column, gpu=gpu, **cells)


def whole_block(study, gpu):
    """`__syncthreads()` of 1024 threads: Table IV has the cycles of five."""
    return f"{study.number('IV', 'sync_cycles', gpu=gpu, basic='32') / 5:.0f}"


def multi_grid_of(gpus, blocks, threads):
    """The study's multi-grid barrier of so many GPUs, in ns."""
    shape = (str(gpus), str(blocks), str(threads))

    def find(study, gpu):
        return next((f"{float(row['latency_us']) * 1e3:.0f}"
                     for figure in study.figures.values() for row in figure
                     if row["gpu"] == gpu and shape == (
                         row["gpus"], row["blocks_per_SM"], row["threads"])), None)
    return find


def found_of(row, column, spread=None):
    return row and Found(estimate_of(row, column, spread), row)


def inside_an_sm(title, **cells):
    """A row of BenchmarkIntraSM."""
    return lambda run: found_of(run.section("BenchmarkIntraSM", title).find(**cells),
                                "m(ave_cycle)")


def by_shape(run, title, method, gpus):
    """(blocks per SM, threads) -> Found of the rows of BenchmarkInterSM, of either toolkit."""
    for file in GRID_FILES:
        rows = run.section(file, title).find_all(method=method, GPUcount=str(gpus))
        if rows:
            return {(row.whole("blk") // run.sms, row.whole("thrd")): found_of(
                row, "m(avginstru)", "s(avginstr)") for row in rows
                if row.whole("blk") % run.sms == 0}
    return {}


def of_grids(title, method, blocks, threads, gpus=1):
    return lambda run: by_shape(run, title, method, gpus).get((blocks, threads))


def launch(method, gpus=1, title="sleep kernel"):
    return lambda run: found_of(run.section("ImplicitBarrier", title).find(
        method=method, GPUCount=str(gpus), blk=str(run.sms), thrd="1024"), "m(ovh)")


IN_ONE_GPU = (
    Headline("tile_sync", coded("Warp: `tile_sync`, 32 lanes"), "cycles",
             inside_an_sm("warp latency", method="tile_sync", thrd="32", tile="32"),
             of_table("II", "latency_cycles", type="tile")),
    Headline("tile_shuffle", coded("Warp: `tile_shufl`, 32 lanes"), "cycles",
             inside_an_sm("warp latency", method="tile_shufl", thrd="32", tile="32"),
             of_table("II", "latency_cycles", type="shuffle of a tile")),
    Headline("block_32", coded("Block: `blocksync`, 32 threads"), "cycles",
             inside_an_sm("block latency", method="blocksync", thrd="32"),
             of_table("II", "latency_cycles", type="block")),
    Headline("block_1024", coded("Block: `blocksync`, 1024 threads"), "cycles",
             inside_an_sm("block latency", method="blocksync", thrd="1024"), whole_block),
    Headline("cluster", coded("Cluster: `cluster_sync`, 2 x 32"), "cycles",
             inside_an_sm("group latency", method="cluster_sync", blk="2", thrd="32"),
             nothing_known),
    *(Headline(f"grid_{blocks}x{threads}",
               coded(f"1 GPU: `grid_sync`, {shape(blocks, threads)}"), "ns",
               of_grids("grid latency", "grid_sync", blocks, threads), nothing_known)
      for blocks, threads in ((1, 32), (1, 1024), (32, 64))),
    Headline("launch", coded(f"1 GPU: `traditional_launch`, {WHOLE_SM}"), "ns",
             launch("traditional_launch"), of_table("I", "overhead_ns", launch="traditional")),
    *(Headline(name, coded(f"1 GPU: `{method}`, {WHOLE_SM}, one stream"), "ns",
               launch(method, title="one stream"), nothing_known)
      for name, method in (("graph", "graph_launch"), ("programmatic", "programmatic_launch"))))


def of_gpus(gpus):
    """The headlines of so many GPUs. The study's barrier has no peer access, which one GPU cannot
    have."""
    methods = ("peer_grid_sync", "multi_grid_sync", *["multi_grid_sync_no_peer"] * (gpus > 1))
    for method in (*methods, CPU):
        find = launch(CPU, gpus) if method == CPU else of_grids("multi-GPU latency", method, 1,
                                                                1024, gpus)
        is_study = method == ("multi_grid_sync" if gpus == 1 else "multi_grid_sync_no_peer")
        yield Headline(f"{method}_{gpus}", coded(f"{many(gpus)}: `{method}`, {WHOLE_SM}"), "ns",
                       find,
                       multi_grid_of(gpus, 1, 1024) if is_study else nothing_known)


@functools.lru_cache(maxsize=None)
def headlines(run):
    """What is told of a run: of one GPU, and of all."""
    counts = sorted({1, run.gpus})
    return (*IN_ONE_GPU, *(one for gpus in counts for one in of_gpus(gpus)))


@functools.lru_cache(maxsize=None)
def found_in(run, shown):
    """Found or None for each of these headlines."""
    return [headline.find(run) for headline in shown]


# In a few lines, for terminals: the headlines of these names, with more in the label.
SHORT = {**dict.fromkeys(("tile_sync", "block_32", "cluster", "grid_1x1024", "grid_32x64",
                          "peer_grid_sync_2"), ""),
         **dict.fromkeys(("multi_grid_sync_2", "multi_grid_sync_no_peer_2"), ", CUDA 11, 12"),
         "peer_grid_sync_4": "", "launch": ", ten streams", "graph": "", "programmatic": ""}


def short_lines(runs):
    """For a terminal: a column for each run."""
    known = {one.name: one for one in (*IN_ONE_GPU, *of_gpus(2), *of_gpus(4))}
    lines = [(f"{plain(known[name].label)}{more}, {known[name].unit}",
              [known[name].find(run) for run in runs])
             for name, more in SHORT.items()]
    lines = [(label, found) for label, found in lines if any(found)]
    if lines:
        yield from right_aligned([
            ("What a barrier costs", *(f"{run.gpus} {short_name(run)}" for run in runs)), *(
                (label, *(one and one.estimate.text() or "-" for one in found)) for label,
                found in lines)])
    names = legend(next(one.row["method"] for one in found if one) for _, found in lines)
    yield from textwrap.wrap(names.replace("`", ""), 98, initial_indent="  ", subsequent_indent="  ")


def costs_of(run, title, method, gpus):
    """(blocks per SM, threads) -> ns"""
    return {key: one.estimate.value for key, one in by_shape(run, title, method, gpus).items()
            if one.estimate.value > 0}


def cost_of_launch(run, method, gpus):
    """As a barrier, in ns."""
    one = launch(method, gpus)(run)
    return one.estimate.value if one else math.nan


def up_to(costs, limit):
    """The most blocks per SM up to which every barrier costs less than the limit, and the next; 0:
    there is none."""
    most = 0
    for blocks in sorted({blocks for blocks, _ in costs}):
        if max(cost for (found, _), cost in costs.items() if found == blocks) >= limit:
            return most, blocks
        most = blocks
    return most, 0


def versus(name, what, costs, limit, unit=" per SM"):
    """One sentence on a barrier beside another way, None where either was not measured."""
    if not costs or not limit > 0:
        return None
    most, more = up_to(costs, limit)
    where = ("at no shape that was measured" if not most
             and min(costs.values()) >= limit else
             "at every shape that was measured" if not more else
             f"up to {most} block{'s' * (most > 1)}{unit}, not at every shape with {more}" if most else
             "only at some shapes with 1 block per SM")
    here = f" ({costs[1, 1024]:,.0f} ns" if (1, 1024) in costs else ""
    beside = f" beside {limit:,.0f} ns with 1 per SM x 1024)" if here else ""
    return f"{name} costs less than {what} {where}{here}{beside}."


def conclusions(run):
    """What the numbers of a run say, in sentences."""
    found = [versus("grid_sync", "traditional_launch",
                    costs_of(run, "grid latency", "grid_sync", 1),
                    cost_of_launch(run, "traditional_launch", 1))]
    if run.gpus > 1:
        found.append(versus(
            f"On {run.gpus} GPUs, peer_grid_sync", "a launch on each and an OpenMP barrier",
            costs_of(run, "multi-GPU latency", "peer_grid_sync", run.gpus),
            cost_of_launch(run, CPU, run.gpus)))
    return [sentence for sentence in found if sentence]


def cell(found):
    text = found and found.estimate.text()
    return Cell(text, found.estimate.where()) if text else "–"


def verdict(part, found):
    """How the row is beside the recorded runs, in words."""
    judged = found and next((row for row in part.normal if row.row is found.row), None)
    if judged is None or judged.verdict == "not recorded" or found.estimate.text() in ("", NONE):
        return "–"
    if judged.verdict in means.VERDICTS[1:3]:
        return f"{abs(judged.change):.1f}% {judged.verdict}"
    return judged.verdict


HOW = ("Behind ± stands the standard deviation. A dash is for what is not measured or not known, "
       "none for what the toolkit compiles to no instruction that waits. Shapes are n x t, n blocks "
       "of t threads, or n per SM x t, n blocks for each SM.")
WIDTHS = (0.42, 0.06)  # in LaTeX, of the columns of words
STUDY = ("V100 and P100 are the study's (Tables I, II, IV, Figures 7, 8; CUDA 10.0). Its launch is of a "
         "shape that it does not say. Its barriers of several GPUs have no peer access.")


def headline_sheet(part, study, recorded):
    """A run beside the recorded ones, on as many GPUs."""
    lines = headlines(part.run)
    here = found_in(part.run, lines)
    others = [found_in(other, lines) for other in recorded]
    notes = [HOW, STUDY, *[part.reference()] * bool(others)]
    notes += [WARNED] * any(one and one.estimate.remarks for one in here)
    return Sheet(f"{part.run.mark}What a barrier costs here, beside recorded runs" if others else
                  f"{part.run.mark}What a barrier costs here. {part.run.about()}", 2, [
        "", "Unit", "Here", *(other.path.name for other in recorded),
        *["Against recorded"] * bool(others), *GPUS], widths=WIDTHS, notes=notes,
        legend=coded(legend(CODE.findall("".join(headline.label for headline in lines)))),
        rows=[[headline.label, headline.unit, *map(cell, found),
               *[verdict(part, found[0])] * bool(others),
               *(headline.study(study, gpu) or "–" for gpu in GPUS)]
              for headline, *found in zip(lines, here, *others)])
