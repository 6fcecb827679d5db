"""What docs/grid_barriers.md shows of results/grid_barriers: lines of Markdown, made from rows of
BenchmarkInterSM. Numbers are medians in nanoseconds, of each machine."""

import functools

from parts import suite, tsv
from reporting.estimates import shape
from reporting.sheets import coded, markdown_table
from reporting.study import FOLDER

MACHINES = ("h200x1", "h100x1")
OF_TWO_GPUS = ("h200x2", "h100x2")
SHAPES_OF_TWO = ((1, 32), (1, 1024), (32, 32))
SMS = 132  # of these GPUs
SHAPES = ((1, 32), (1, 1024), (2, 1024), (8, 64), (32, 64))  # blocks per SM, threads
IN_USE, MORE_WORDS = "in_use_", "in_use_4_"


@functools.lru_cache(maxsize=None)
def medians(machine, late=False, gpus=1):
    """{method: {(blocks per SM, threads): median}} on so many GPUs, with both toolkits."""
    titles, column = (("one late",), "med(exit)") if late else (
        ("grid latency", "multi-GPU latency"), "med(avginstru)")
    found = {}
    for path in sorted((FOLDER.parent / "grid_barriers").glob(f"{machine}.*")):
        for row in (row for section in tsv.read(path) if section.title in titles
                    for row in section.rows if row["GPUcount"] == str(gpus)):
            of = int(row["blk"]) // SMS, int(row["thrd"])
            found.setdefault(row["method"], {})[of] = float(row[column])
    return found


@functools.lru_cache(maxsize=None)
def older_toolkit():
    """({methods that need it}, its version)"""
    output = tsv.read(FOLDER.parent / "grid_barriers" / f"{MACHINES[0]}{suite.OLDER}.tsv")
    return {row["method"] for section in output for row in section.rows}, output.program("toolkit")


def name_of(method):
    older, version = older_toolkit()
    return coded(f"`{method}`" + f", CUDA {version}" * (method in older))


def table(late, wanted):
    def cell(method, of):
        texts = [f"{known[method][of]:.0f}"
                 for known in (medians(machine, late) for machine in MACHINES)
                 if of in known.get(method, ())]
        return " / ".join(texts) or "–"

    return markdown_table(
        ["Method", *(shape(*of) for of in SHAPES)], 1,
        [[name_of(method), *(cell(method, of) for of in SHAPES)]
         for method in medians(MACHINES[0], late) if wanted(method)])


def bare(_runs):
    """All blocks arrive at once, and nothing is stored."""
    return table(False, medians(MACHINES[0], late=True).__contains__)


def in_use(_runs):
    """A word stored before, and one read behind."""
    return table(False, lambda method: method.startswith(IN_USE))


def late(_runs):
    """From the last arrival until another block is out."""
    return table(True, lambda method: True)


def two_gpus(_runs):
    """Barriers of all blocks of two GPUs; all at once, one late, in use."""
    def cell(method, late, of):
        found = [medians(machine, late, 2).get(method, {}) for machine in OF_TWO_GPUS]
        return " / ".join(f"{rows[of]:.0f}" for rows in found if of in rows) or "–"

    known = medians(OF_TWO_GPUS[0], gpus=2)
    return markdown_table(
        ["Method", *(f"{state}, {shape(*of)}" for state in ("all at once", "one late")
                     for of in SHAPES_OF_TWO)], 1,
        [[coded(f"`{method}`"), *(cell(method, late, of) for late in (False, True)
                                  for of in SHAPES_OF_TWO)]
         for method in known if not method.startswith("ping_pong")])


def exchanges(_runs):
    """Data to all GPUs of two, without a barrier, by the bytes of each GPU."""
    section = next(section for section in tsv.read(
        FOLDER.parent / "grid_barriers" / f"{OF_TWO_GPUS[0]}.tsv") if section.title == "exchange")
    found = {(row["method"], row["bytes"]): float(row["med(avginstru)"]) for row in section.rows}
    sizes = list(dict.fromkeys(size for _, size in found))
    return markdown_table(
        ["Method", *(f"{size} bytes" for size in sizes)], 1,
        [[coded(f"`{method}`"), *(f"{found[method, size]:.0f}" for size in sizes)]
         for method in dict.fromkeys(method for method, _ in found)])


def ordered(machine, state):
    """{method that orders memory: {shape: median}}; in use all do. Barriers have late rows."""
    known, late_rows = medians(machine, state == "late"), medians(machine, late=True)
    used = {method.removeprefix(IN_USE): rows for method, rows in known.items()
            if method.startswith(IN_USE) and not method.startswith(MORE_WORDS)}
    if state == "use":
        return {method if f"{method}_ordered" not in known else f"{method}_ordered": rows
                for method, rows in used.items()}
    return {method: rows for method, rows in known.items()
            if method in late_rows and f"{method}_ordered" not in known}


def fastest(_runs):
    """Of those that order memory, by blocks per SM, and how much less than grid_sync it takes."""
    def cell(state, blocks):
        winners, savings = {}, []
        for machine in MACHINES:
            known = ordered(machine, state)
            for of in known["grid_sync"]:
                if of[0] == blocks:
                    time, method = min((rows[of], method) for method, rows in known.items()
                                       if of in rows)
                    winners[method] = winners.get(method, 0) + 1
                    savings.append(f"{100 * (1 - time / known['grid_sync'][of]):.0f}")
        span = " to ".join(dict.fromkeys((min(savings, key=int), max(savings, key=int))))
        names = sorted(winners, key=lambda method: -winners[method])
        return coded(", ".join(f"`{method}`" for method in names)) + f": {span}%"

    return markdown_table(
        ["Blocks per SM", "all at once", "in use", "one late"], 4,
        [[str(blocks), *(cell(state, blocks) for state in ("bare", "use", "late"))]
         for blocks in sorted({of[0] for of in medians(MACHINES[0])["grid_sync"]})])
