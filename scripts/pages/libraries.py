"""What pages show of Libraries, beside this suite's own: lines of Markdown. Medians in
nanoseconds, on all GPUs of a machine."""

from collections import namedtuple

from pages.recorded import beside, code, heading, median, of_today, rows
from parts import suite
from reporting.sheets import markdown_table

SUITE = ("multi-GPU latency", "exchange")  # sections of BenchmarkInterSM: threads of one process
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

# rows: those of Libraries before those of the suite.
Start = namedtuple("Start", "heading sms rows")


def starts(runs, file):
    """A Start for each run on several GPUs."""
    for run in of_today(runs):
        found = rows(run, file, GPUcount=str(run.gpus))
        if "." not in file:
            found += [row for title in SUITE for row in rows(
                run, "BenchmarkInterSM", title, GPUcount=str(run.gpus))]
        if run.gpus > 1 and found:
            yield Start(f"{heading(run)}, {'processes' if '.' in file else 'threads'}", run.sms, found)


def cell(start, what, method, cells):
    if what in SHAPES:
        per_sm, threads = SHAPES[what]
        cells = {"blk": str(per_sm * start.sms), "thrd": str(threads)}
    return beside([median(row, "op" if "med(op)" in row else "avginstru") for row in start.rows
                   if row["method"] == method and cells.items() <= row.items()][:1])


def by_start(runs):
    """Libraries and this suite side by side, with threads and with processes."""
    found = [start for file in ("Libraries", "Libraries" + suite.PROCESSES) for start in starts(runs, file)]
    lines = [[what, code(method), *(cell(start, what, method, cells) for start in found)]
             for what, method, cells in ROWS]
    return markdown_table(["What is done", "Method", *(start.heading for start in found)], 2,
                          [line for line in lines if set(line[2:]) != {"–"}])
