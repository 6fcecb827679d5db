"""What docs/grid_barriers.md shows of results/grid_barriers: lines of Markdown, made from rows of
BenchmarkInterSM. Numbers are medians in nanoseconds."""

from parts import tsv
from reporting.sheets import coded, markdown_table
from reporting.study import FOLDER

SMS = 132  # of these GPUs
SHAPES = ((1, 32), (1, 1024), (2, 1024), (8, 64), (32, 64))  # blocks per SM, threads


def sections():
    """Of both toolkits: {title: [section]}"""
    found = {}
    for path in sorted(FOLDER.parent.glob("grid_barriers/*.tsv")):
        for section in tsv.read(path):
            found.setdefault(section.title, []).append(section)
    return found


def table(titles, column, wanted):
    of_title = sections()
    rows = [row for title in titles for section in of_title[title] for row in section.rows
            if wanted(row["method"]) and row.get("GPUcount") == "1"]

    def cell(method, blocks, threads):
        there = [row[f"med({column})"] for row in rows
                 if (row["method"], row["blk"], row["thrd"]) ==
                 (method, str(blocks * SMS), str(threads))]
        return f"{float(there[0]):.0f}" if there else "–"

    return markdown_table(
        ["Method", *(f"{blocks} x {threads}" for blocks, threads in SHAPES)], 1,
        [[coded(f"`{method}`"), *(cell(method, *shape) for shape in SHAPES)]
         for method in dict.fromkeys(row["method"] for row in rows)])


def bare(_runs):
    """All blocks arrive at once, and nothing is stored."""
    return table(["grid latency", "multi-GPU latency"], "avginstru",
                 lambda method: not method.startswith("in_use"))


def in_use(_runs):
    """A word stored before, and one read behind."""
    return table(["grid latency", "multi-GPU latency"], "avginstru",
                 lambda method: method.startswith("in_use"))


def late(_runs):
    """From the last arrival until another block is out."""
    return table(["one late"], "exit", lambda method: True)
