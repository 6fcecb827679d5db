"""What pages show of the recorded runs: lines of Markdown, made from their rows."""

from collections import namedtuple

import tsv
from reporting.figures import shape, short_name
from reporting.headline import inside_an_sm, launch, nothing_known, of_grids, of_table
from reporting.sheets import coded, markdown_table
from reporting.study import FOLDER, GPUS, Study

# find(run): reporting.headline.Found or None; study(study, gpu): its text, None where it has no
# number of the same shape and number of GPUs.
Row = namedtuple("Row", "label unit find study", defaults=[nothing_known])


def grid_sync(blocks, threads):
    return Row(f"1 GPU: `grid.sync()`, {shape(blocks, threads)}", "ns",
               of_grids("grid latency", "grid_sync", blocks, threads))


def peer_grid_sync(gpus):
    return Row(f"{gpus} GPUs: `peer_grid_sync`, {shape(1, 1024)}", "ns",
               of_grids("multi-GPU latency", "peer_grid_sync", 1, 1024, gpus))


ROWS = (
    Row("Warp: `sync()` of a tile of 32", "cycles",
        inside_an_sm("warp latency", method="tile_sync", thrd="32", tile="32")),
    Row("Block: `__syncthreads()`, 32 threads", "cycles",
        inside_an_sm("block latency", method="blocksync", thrd="32"),
        of_table("II", "latency_cycles", type="block")),
    Row("Cluster: `cluster.sync()`, 2 x 32", "cycles",
        inside_an_sm("group latency", method="cluster_sync", blk="2", thrd="32")),
    grid_sync(1, 1024), grid_sync(32, 64),
    peer_grid_sync(2), peer_grid_sync(4),
    Row("1 GPU: one more kernel launch, 1 per SM x 1024", "ns",
        launch("traditional_launch")))


def machines_table(runs):
    """What a barrier costs: a column for each run, with a link to it."""
    study = Study()
    head = ["Barrier", "Unit", *(
        f"[{run.gpus} {short_name(run)}](results/{run.path.name}), "
        f"CUDA {run.environment['cuda_toolkit']}" for run in runs),
        f"Study: {', '.join(GPUS)}"]
    rows = []
    for row in ROWS:
        found = [row.find(run) for run in runs]
        rows.append([coded(row.label), row.unit,
                     *(one.figure.text() or "–" if one else "–" for one in found),
                     ", ".join(filter(None, (row.study(study, gpu) for gpu in GPUS))) or "–"])
    _, line, *rest = markdown_table(head, 2, rows)
    return ["| " + " | ".join(head) + " |", line, *rest]  # the links are none of a text


# Of the table of multi-GPU barriers: label, method.
BARRIERS = (("`peer_grid_sync`", "peer_grid_sync"), ("`multi_grid_sync`", "multi_grid_sync"),
            ("`multi_grid_sync` without peer access", "multi_grid_sync_no_peer"))
LAUNCHES = (("one more multi-device launch", "multi_cooperative_launch"),
            ("a launch from one CPU thread for each GPU, then an OpenMP barrier",
             "single_omp_traditional_launch"))
SHAPES = ((1, 32), (1, 1024), (32, 64))  # blocks for each SM, threads


def barriers_table(runs):
    """The multi-GPU barriers of the run with most GPUs, in microseconds."""
    run = max(runs, key=lambda run: run.gpus)
    counts = range(1, run.gpus + 1)
    lines = [(label, of, [of_grids("multi-GPU latency", method, *of, gpus) for gpus in counts])
             for label, method in BARRIERS for of in SHAPES]
    lines += [(label, (1, 1024), [launch(method, gpus) for gpus in counts])
              for label, method in LAUNCHES]
    rows = []
    for label, of, finds in lines:
        found = [find(run) for find in finds]
        if any(found):
            file = next(one for one in found if one).figure.sources[0][0]
            toolkit = "cuda_toolkit_multi_grid" if "cuda11" in file else "cuda_toolkit"
            rows.append([coded(label), run.environment[toolkit], shape(*of), *(
                f"{one.figure.value / 1e3:.2f}" if one else "–" for one in found)])
    return list(markdown_table(["Barrier", "CUDA", "Blocks x threads",
                                *(f"{gpus} GPU{'s' * (gpus > 1)}" for gpus in counts)], 3, rows))


SAMPLE = "h200x1"
SAMPLE_THREADS = ("32", "64", "128", "256", "512", "1024")


def sample(runs):
    """Ten lines of output, their columns aligned, and where the answer is."""
    run = next((run for run in runs if run.path.name == SAMPLE), None)
    if run is None:
        raise tsv.TsvError(f"{FOLDER.parent} has no {SAMPLE}")
    path = run.path / "BenchmarkIntraSM.tsv"
    lines = tsv.read_bytes(path).decode().splitlines()
    title = lines.index("# block latency")
    rows = [row for row in run.section("BenchmarkIntraSM", "block latency").find_all(
        method="blocksync") if row["thrd"] in SAMPLE_THREADS]
    cells = [list(rows[0]), *([row[column] for column in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells)]
    yield "```text"
    yield lines[0]
    yield next(line for line in lines if line.startswith("# gpu 0: "))
    yield lines[title]
    for row in cells:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
    yield "```"
    yield ""
    last = rows[-1]
    yield (f"The answer is the column `m(ave_cycle)`: with {last['thrd']} threads (`thrd`), "
           f"`__syncthreads()` takes {last['m(ave_cycle)']}")
    yield (f"cycles. `s(ave_cycle)` is the standard deviation of its {last['n']} samples (`n`).")
