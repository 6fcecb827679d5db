#!/usr/bin/env python3
"""Writes what two pages show of the recorded rows in results/.

README.md: what a barrier costs, a column for each recorded run; and lines of output. README.md of
the barrier library (explicit_barrier/peer_grid_barrier): the multi-GPU barriers beside each other,
of the recorded run with most GPUs. Each part stands between two comments of its page.

  readme_table.py            writes them
  readme_table.py --check    only says whether they are up to date

Exit codes: 0 up to date, or written; 1 with --check: a table differs from the rows, or a page
cannot be written; 2 bad usage, also a file that is damaged or has no such comments.
"""

import math
import re
import sys
from collections import namedtuple

import command_line
import multi_gpu_barriers
import tsv
import whole_files
from reporting.figures import short_name
from reporting.headline import inside_an_sm, launch, nothing_known, of_grids, of_table
from reporting.normal import recorded_runs
from reporting.sheets import coded, markdown_table
from reporting.study import FOLDER, GPUS, Study

ROOT = FOLDER.parent.parent
# find(run): reporting.headline.Found or None; study(study, gpu): its text, None where it has no
# number of the same state: toolkit, shape and number of GPUs.
Row = namedtuple("Row", "label unit find study", defaults=[nothing_known])


def on_gpus(find, gpus=1):
    return lambda run: find(run, gpus)


def grid_sync(blocks, threads):
    return Row(f"1 GPU: `grid.sync()`, {blocks} per SM x {threads}", "ns",
               on_gpus(of_grids("grid latency", "grid_sync", blocks, threads)))


def peer_grid_sync(gpus):
    return Row(f"{gpus} GPUs: `peer_grid_sync`, 1 per SM x 1024", "ns", on_gpus(
        of_grids("multi-GPU latency", "peer_grid_sync", 1, 1024, all_gpus=True), gpus))


ROWS = (
    Row("Warp: `sync()` of a tile of 32", "cycles", on_gpus(
        inside_an_sm("warp latency", method="tile_sync", thrd="32", tile="32"))),
    Row("Block: `__syncthreads()`, 32 threads", "cycles", on_gpus(
        inside_an_sm("block latency", method="blocksync", thrd="32")),
        of_table("II", "latency_cycles", type="block")),
    Row("Cluster: `cluster.sync()`, 2 blocks x 32", "cycles", on_gpus(
        inside_an_sm("group latency", method="cluster_sync", blk="2", thrd="32"))),
    grid_sync(1, 1024), grid_sync(32, 64),
    peer_grid_sync(2), peer_grid_sync(4),
    Row("1 GPU: one more kernel launch, 1 per SM x 1024", "ns",
        on_gpus(launch("traditional_launch"))))


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


# Of the table of multi-GPU barriers: label, column without its shape, whether by the older toolkit.
BARRIERS = (("`peer_grid_sync`", "peer_grid_sync", False),
            ("`multi_grid_sync`", "multi_grid_sync", True),
            ("`multi_grid_sync` without peer access", "multi_grid_sync_no_peer", True),
            ("one more multi-device launch", "multi_cooperative_launch", False),
            ("a launch from one CPU thread for each GPU, then an OpenMP barrier",
             "single_omp_traditional_launch", False))


def barriers_table(runs):
    """The multi-GPU barriers of the run with most GPUs, in microseconds."""
    run = max(runs, key=lambda run: run.gpus)
    found, counts = multi_gpu_barriers.figures(run), range(2, run.gpus + 1)
    older = run.environment.get("cuda_toolkit_multi_grid")
    rows = []
    for label, method, by_older in BARRIERS:
        for blocks, threads in multi_gpu_barriers.SHAPES:
            values = [float(found.get((f"{method} {blocks}x{threads}", gpus), "nan"))
                      for gpus in counts]
            if not all(map(math.isnan, values)):
                toolkit = older if by_older else run.environment["cuda_toolkit"]
                rows.append([coded(label), toolkit, f"{blocks} per SM x {threads}", *(
                    "–" if math.isnan(value) else f"{value / 1e3:.2f}" for value in values)])
    return list(markdown_table(["Barrier", "CUDA", "Blocks x threads",
                                *(f"{gpus} GPUs" for gpus in counts)], 3, rows))


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


# page in ROOT, name of the comments, lines(runs)
PARTS = (("README.md", "machines", machines_table), ("README.md", "sample", sample),
         ("explicit_barrier/peer_grid_barrier/README.md", "barriers", barriers_table))


def renewed(path, text, name, lines):
    """The page's text with these lines between its comments of this name."""
    between = re.compile(f"(<!-- {name}: scripts/readme_table.py writes this -->\n)(.*?)"
                         f"(<!-- {name} end -->\n)", re.DOTALL)
    if not between.search(text):
        raise tsv.TsvError(f"{path}: there are no comments to put the table between")
    return between.sub(lambda found: "\n".join([found[1], *lines, "", found[3]]), text)


def work():
    parser = command_line.Parser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether they are up to date")
    options = parser.parse_args()
    runs = recorded_runs(FOLDER.parent)
    if not runs:
        raise tsv.TsvError(f"{FOLDER.parent} has no recorded run")
    old = {page: tsv.read_bytes(ROOT / page).decode() for page, *_ in PARTS}
    new = dict(old)
    for page, name, lines in PARTS:
        new[page] = renewed(ROOT / page, new[page], name, lines(runs))
    differ = [page for page in new if old[page] != new[page]]
    if options.check:
        for page in differ:
            print(f"readme_table.py: {page} does not show what results/ has; "
                  "scripts/readme_table.py writes it", file=sys.stderr)
        return 1 if differ else 0
    for page in differ:
        path = ROOT / page
        whole_files.write(path.parent, {path.name: new[page]})
    return 0


if __name__ == "__main__":
    command_line.main(work, "readme_table.py")
