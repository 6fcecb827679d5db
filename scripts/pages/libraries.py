"""What pages show of results/libraries, beside this suite's own: lines of Markdown.
Medians in nanoseconds. A file is of a machine and of one start of Libraries: MACHINE.tsv, or
MACHINE.START.tsv."""

from collections import namedtuple

from pages.recorded import RESULTS, beside, code, median, output, rows
from reporting.estimates import place, place_text as text
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

# place: nodes and GPUs; rows: of class Row, those of Libraries before those of the suite.
Start = namedtuple("Start", "place processes heading sms rows")


def starts():
    """A Start for each file, on the most GPUs that it has."""
    for path in (RESULTS / "libraries").glob("*.tsv"):
        name = f"libraries/{path.stem}"
        most = max(map(place, rows(name)))
        gpu = output(name).head("gpu")[0]
        found = [row for row in rows(name) if place(row) == most]
        processes = found[0].whole("processes") > 1
        machine = path.name.split(".")[0]  # of the suite: a file of these rows alone, a whole run
        for suite in (f"grid_barriers/{machine}", f"{machine}/BenchmarkInterSM"):
            if not processes and (RESULTS / f"{suite}.tsv").exists():
                found += [row for title in SUITE for row in rows(suite, title)
                          if place(row) == most]
        heading = (f"{text(*most)} {gpu['name'].removeprefix('NVIDIA ').split()[0]}, "
                   f"{'processes' if processes else 'threads'}")
        yield Start(most, processes, heading, int(gpu["sms"]), found)


def cell(start, what, method, cells):
    if what in SHAPES:
        per_sm, threads = SHAPES[what]
        cells = {"blk": str(per_sm * start.sms), "thrd": str(threads)}
    return beside([median(row, "op" if "med(op)" in row else "avginstru") for row in start.rows
                   if row["method"] == method and cells.items() <= row.items()][:1])


def by_start(_runs):
    """Libraries and this suite side by side, with threads and with processes."""
    found = sorted(starts(), key=lambda start: start[:3])
    lines = [[what, code(method), *(cell(start, what, method, cells) for start in found)]
             for what, method, cells in ROWS]
    return markdown_table(["What is done", "Method", *(start.heading for start in found)], 2,
                          [line for line in lines if set(line[2:]) != {"–"}])
