"""What pages show of barriers of grids and GPUs, rows of BenchmarkInterSM: medians in
nanoseconds, of the machines with one GPU, or with two."""

import functools
from collections import Counter

from pages import recorded
from pages.recorded import beside, code, median, of_today, rows, span
from parts import suite
from reporting.estimates import shape
from reporting.sheets import coded, markdown_table

FILE = "BenchmarkInterSM"
SHAPES_OF_TWO = ((1, 32), (1, 1024), (32, 32))
SHAPES = ((1, 32), (1, 1024), (2, 1024), (8, 64), (32, 64))  # blocks per SM, threads
IN_USE, MORE_WORDS = "in_use_", "in_use_4_"
FEW, MANY = 1, 32  # blocks per SM
# What is measured: its row, GPUs, steps in a row.
STEPS = {"a word to another block": ("ping_pong", 1, 2),
         "the same with release and acquire": ("ping_pong_ordered", 1, 2),
         "a word to another GPU": ("ping_pong_peer", 2, 2),
         "the same with release and acquire, to another GPU": ("ping_pong_peer_ordered", 2, 2),
         "an addition of each block to one word": ("one_counter", 1, 1),
         "an addition of each block and a poll": ("one_counter_read", 1, 1),
         "from a poll to the next, where all poll one word": ("one_word", 1, 1),
         "the threads of a block meet": ("all_block_sync", 1, 1)}


@functools.lru_cache(maxsize=None)
def medians(run, late=False, gpus=1):
    """{method: {(blocks per SM, threads): median}} on so many GPUs, with both toolkits."""
    titles, column = (("one late",), "exit") if late else (
        ("grid latency", "multi-GPU latency"), "avginstru")
    found = {}
    for row in (row for file in suite.files_of(FILE) for title in titles
                for row in rows(run, file, title, GPUcount=str(gpus))):
        of = int(row["blk"]) // run.sms, int(row["thrd"])
        found.setdefault(row["method"], {})[of] = median(row, column)
    return found


def cell(runs, method, of, late=False, gpus=1, steps=1):
    found = [medians(run, late, gpus).get(method, {}) for run in runs]
    return beside([known[of] / steps for known in found if of in known])


def machines(runs):
    return recorded.machines(of_today(runs, 1))


def table(runs, late, wanted):
    runs = of_today(runs, 1)
    need_it = {row["method"] for row in rows(runs[0], FILE + suite.OLDER)}
    toolkit = runs[0].toolkit(suite.OLDER)
    return markdown_table(
        ["Method", *(shape(*of) for of in SHAPES)], 1,
        [[code(method) + f", CUDA {toolkit}" * (method in need_it),
          *(cell(runs, method, of, late) for of in SHAPES)]
         for method in medians(runs[0], late) if wanted(method)])


def bare(runs):
    """All blocks arrive at once, and nothing is stored."""
    return table(runs, False, medians(of_today(runs, 1)[0], late=True).__contains__)


def in_use(runs):
    """A word stored before, and one read behind."""
    return table(runs, False, lambda method: method.startswith(IN_USE))


def late(runs):
    """From the last arrival until another block is out."""
    return table(runs, True, lambda method: True)


def two_gpus(runs):
    """Barriers of all blocks of two GPUs; all at once, one late, in use."""
    runs = of_today(runs, 2)
    yield from (*recorded.machines(runs), "")
    yield from markdown_table(
        ["Method", *(f"{state}, {shape(*of)}" for state in ("all at once", "one late")
                     for of in SHAPES_OF_TWO)], 1,
        [[code(method), *(cell(runs, method, of, late, 2) for late in (False, True)
                          for of in SHAPES_OF_TWO)]
         for method in medians(runs[0], gpus=2) if not method.startswith("ping_pong")])


def exchanges(runs):
    """Data to all GPUs of two, without a barrier, by the bytes of each GPU."""
    found = {}  # {method: {bytes: text}}
    for row in rows(of_today(runs, 2)[0], FILE, "exchange"):
        found.setdefault(row["method"], {})[row["bytes"]] = beside([median(row, "avginstru")])
    sizes = next(iter(found.values()))
    return markdown_table(["Method", *(f"{size} bytes" for size in sizes)], 1, [
        [code(method), *(of[size] for size in sizes)] for method, of in found.items()])


def ordered(run, state):
    """{method that orders memory: {shape: median}}; in use all do. Barriers have late rows."""
    known, late_rows = medians(run, state == "late"), medians(run, late=True)
    used = {method.removeprefix(IN_USE): rows for method, rows in known.items()
            if method.startswith(IN_USE) and not method.startswith(MORE_WORDS)}
    if state == "use":
        return {method if f"{method}_ordered" not in known else f"{method}_ordered": rows
                for method, rows in used.items()}
    return {method: rows for method, rows in known.items()
            if method in late_rows and f"{method}_ordered" not in known}


def fastest(runs):
    """Of those that order memory, by blocks per SM, and how much less than grid_sync it takes."""
    runs = of_today(runs, 1)

    def cell(state, blocks):
        winners, savings = Counter(), []
        for run in runs:
            known = ordered(run, state)
            for of in known["grid_sync"]:
                if of[0] == blocks:
                    time, method = min((rows[of], method) for method, rows in known.items()
                                       if of in rows)
                    winners[method] += 1
                    savings.append(round(100 * (1 - time / known["grid_sync"][of])))
        names = sorted(winners, key=lambda method: -winners[method])
        return coded(", ".join(f"`{method}`" for method in names)) + f": {span(savings)}%"

    return markdown_table(
        ["Blocks per SM", "all at once", "in use", "one late"], 4,
        [[str(blocks), *(cell(state, blocks) for state in ("bare", "use", "late"))]
         for blocks in sorted({of[0] for of in medians(runs[0])["grid_sync"]})])


def constants(runs):
    """The steps that barriers are made of."""
    runs = of_today(runs, 2)
    yield from (*recorded.machines(runs), "")
    yield from markdown_table(
        ["Step", "Row", f"{FEW} per SM", f"{MANY} per SM"], 2,
        [[name, code(method) + " / 2" * (steps == 2),
          *(cell(runs, method, (blocks, 32), False, gpus, steps)
            for blocks in (FEW, MANY))] for name, (method, gpus, steps) in STEPS.items()])
