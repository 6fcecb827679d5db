"""What docs/clusters.md shows of results/libraries, beside this suite's own: lines of Markdown.
Medians in nanoseconds. A file is of a machine and of one start of Libraries: MACHINE.tsv, or
MACHINE.START.tsv."""

from collections import namedtuple

from parts import tsv
from reporting.chart_libraries import place, text
from reporting.sheets import coded, markdown_table
from reporting.study import FOLDER

SUITE = ("multi-GPU latency", "exchange")  # sections of BenchmarkInterSM: threads of one process
NO_PROCESSES = "* No run with a process for each GPU is recorded yet."
EIGHT = {"bytes": "8"}
ADDED, SENT = "8 bytes of each GPU, added up", "8 bytes of each GPU, to all"
ONE, LARGE, MANY = (f"all blocks, {shape}" for shape in (
    "1 per SM x 32", "1 per SM x 1024", "32 per SM x 64"))
LIKE = "block n of each GPU, for all n, 1 per SM x 32"
SHAPES = {LIKE: (1, 32), ONE: (1, 32), LARGE: (1, 1024), MANY: (32, 64)}
OF_GRIDS = ("nccl_lsa_grid", "nvshmem_sync_grid", "nvshmem_barrier_grid", "peer_grid_sync")
# (what it does, method, cells of the row; those of its grid are in SHAPES)
ROWS = (*((ADDED, method, EIGHT) for method in (
            "nccl_all_reduce_unregistered", "nccl_graph_unregistered", "nccl_graph_registered")),
        (SENT, "exchange_ll_8", EIGHT), (SENT, "exchange_flag", EIGHT),
        (LIKE, "nccl_lsa_block", {}),
        *(("one block of each GPU, 32 threads", method, {"blk": "1", "thrd": "32"})
          for method in ("nvshmem_sync_block", "nvshmem_barrier_block")),
        *((what, method, {}) for what in (ONE, LARGE, MANY) for method in OF_GRIDS),
        *(("streams", method, {}) for method in ("nvshmem_sync_stream", "nvshmem_barrier_stream")),
        *(("processes, on the host", method, {}) for method in (
            "nvshmem_sync_host", "nvshmem_barrier_host", "mpi_barrier", "mpi_launch")))

# place: nodes and GPUs; rows: of class Row, those of Libraries before those of the suite.
Start = namedtuple("Start", "place processes heading sms rows")


def of_suite(folder, machine):
    """Rows of BenchmarkInterSM of a machine, those alone before those of a whole run."""
    paths = (folder / "grid_barriers" / f"{machine}.tsv", folder / machine / "BenchmarkInterSM.tsv")
    return [row for path in paths if path.exists() for section in tsv.read(path)
            if section.title in SUITE for row in section.rows]


def starts(folder):
    """A Start for each file that has rows, on the most GPUs that it has."""
    found = []
    for path in sorted((folder / "libraries").glob("*.tsv")):
        output, machine = tsv.read(path), path.name.split(".")[0]
        rows = [row for section in output for row in section.rows]
        if not rows:
            continue
        most = max(map(place, rows))
        gpu = output.head("gpu")[0]
        rows = [row for row in rows if place(row) == most]
        processes = rows[0].whole("processes") > 1
        if not processes:
            rows += [row for row in of_suite(folder, machine) if place(row) == most]
        name = gpu["name"].removeprefix("NVIDIA ").split()[0]
        heading = f"{text(*most)} {name}, {'processes' if processes else 'threads'}"
        found.append(Start(most, processes, heading, int(gpu["sms"]), rows))
    return sorted(found, key=lambda start: start[:3])


def cell(start, what, method, cells):
    if what in SHAPES:
        per_sm, threads = SHAPES[what]
        cells = {"blk": str(per_sm * start.sms), "thrd": str(threads)}
    row = next((row for row in start.rows if row["method"] == method
                and all(row.get(name) == wanted for name, wanted in cells.items())), None)
    return f"{float(row['med(op)' if 'med(op)' in row else 'med(avginstru)']):.0f}" if row else "–"


def by_start(_runs, folder=FOLDER.parent):
    """Libraries and this suite side by side, with threads and with processes."""
    found = starts(folder)
    rows = [[what, coded(f"`{method}`"), *(cell(start, what, method, cells) for start in found)]
            for what, method, cells in ROWS]
    lines = list(markdown_table(["What is done", "Method", *(start.heading for start in found)], 2,
                                [row for row in rows if set(row[2:]) != {"–"}]))
    return lines if any(start.processes for start in found) else [*lines, "", NO_PROCESSES]
