"""What docs/grid_barriers.md shows of results/grid_barriers: lines of Markdown, made from rows of
BenchmarkInterSM. Numbers are medians in nanoseconds, of each machine."""

import functools

from parts import tsv
from reporting.sheets import coded, markdown_table
from reporting.study import FOLDER

MACHINES = ("h200x1", "h100x1")
SMS = 132  # of these GPUs
SHAPES = ((1, 32), (1, 1024), (2, 1024), (8, 64), (32, 64))  # blocks per SM, threads


@functools.lru_cache(maxsize=None)
def rows_of(machine, titles):
    """On one GPU, with both toolkits."""
    paths = sorted((FOLDER.parent / "grid_barriers").glob(f"{machine}.*"))
    return [row for path in paths for section in tsv.read(path) if section.title in titles
            for row in section.rows if row["GPUcount"] == "1"]


def table(titles, column, wanted):
    def cell(method, blocks, threads):
        texts = []
        for machine in MACHINES:
            there = [row[f"med({column})"] for row in rows_of(machine, titles)
                     if (row["method"], row["blk"], row["thrd"]) ==
                     (method, str(blocks * SMS), str(threads))]
            texts += [f"{float(median):.0f}" for median in there[:1]]
        return " / ".join(texts) or "–"

    methods = dict.fromkeys(row["method"] for row in rows_of(MACHINES[0], titles)
                            if wanted(row["method"]))
    return markdown_table(
        ["Method", *(f"{blocks} x {threads}" for blocks, threads in SHAPES)], 1,
        [[coded(f"`{method}`"), *(cell(method, *shape) for shape in SHAPES)]
         for method in methods])


def bare(_runs):
    """All blocks arrive at once, and nothing is stored."""
    return table(("grid latency", "multi-GPU latency"), "avginstru",
                 lambda method: not method.startswith("in_use"))


def in_use(_runs):
    """A word stored before, and one read behind."""
    return table(("grid latency", "multi-GPU latency"), "avginstru",
                 lambda method: method.startswith("in_use"))


def late(_runs):
    """From the last arrival until another block is out."""
    return table(("one late",), "exit", lambda method: True)
