"""What docs/clusters.md shows of results/libraries, beside this suite's own in
results/grid_barriers: lines of Markdown. Medians in nanoseconds, of two GPUs."""

from parts import tsv
from reporting.sheets import coded, markdown_table
from reporting.study import FOLDER

MACHINE = "h200x2"
EIGHT, ONE, MANY = {"bytes": "8"}, {"blk": "132", "thrd": "32"}, {"blk": "4224", "thrd": "64"}
# (what it does, its file's folder, method, cells of the row)
ROWS = (("8 bytes of each GPU, added up", "libraries", "nccl_all_reduce", EIGHT),
        ("8 bytes of each GPU, added up", "libraries", "nccl_graph", EIGHT),
        ("8 bytes of each GPU, to all", "grid_barriers", "exchange_ll_8", EIGHT),
        ("8 bytes of each GPU, to all", "grid_barriers", "exchange_flag", EIGHT),
        ("each block with its like", "libraries", "nccl_lsa_block", ONE),
        ("all blocks, 1 per SM x 32", "libraries", "nccl_lsa_grid", ONE),
        ("all blocks, 1 per SM x 32", "grid_barriers", "peer_grid_sync", ONE),
        ("all blocks, 32 per SM x 64", "libraries", "nccl_lsa_grid", MANY),
        ("all blocks, 32 per SM x 64", "grid_barriers", "peer_grid_sync", MANY))


def median(folder, method, cells):
    """Of the one row of two GPUs."""
    found = [row for section in tsv.read(FOLDER.parent / folder / f"{MACHINE}.tsv")
             if section.title != "one late" for row in section.rows
             if row["method"] == method and row["GPUcount"] == "2"
             and all(row.get(key) == cell for key, cell in cells.items())]
    row, = found
    return float(row["med(op)"] if "med(op)" in row else row["med(avginstru)"])


def two_gpus(_runs):
    """Libraries and this suite side by side."""
    return markdown_table(["What is done", "Method", "ns"], 2, [
        [what, coded(f"`{method}`"), f"{median(folder, method, cells):.0f}"]
        for what, folder, method, cells in ROWS])
