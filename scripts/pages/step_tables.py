"""What docs/grid_barriers.md shows of the steps that barriers are made of: lines of Markdown, made
from rows of results/grid_barriers and results/fences. Medians in nanoseconds."""

import functools

from pages import fence_tables
from pages.grid_barrier_tables import OF_TWO_GPUS, SHAPES, SMS, medians
from reporting.estimates import shape
from reporting.sheets import coded, markdown_table

NEAR = 0.1  # of the sum
GHZ = 1.98  # SM clock of these GPUs
FLAT = 8 * SMS  # blocks that peer_grid_sync lets meet at one counter
STEPS = {"a word to another block": ("ping_pong", 1, 2),
         "the same with order": ("ping_pong_ordered", 1, 2),
         "an addition of each block, one per SM, to one word": ("one_counter", 1, 1),
         "a word to another GPU": ("ping_pong_peer", 2, 2),
         "the same with order, another GPU": ("ping_pong_peer_ordered", 2, 2)}
UNORDERED = ("xiao_feng_lock", "xiao_feng_flags", "all_to_all_flags")
COUNTERS = ("xiao_feng_lock", "xiao_feng_lock_ordered", "grid_sync", "peer_grid_sync")
FLAGS = ("xiao_feng_flags", "xiao_feng_flags_ordered", "sorensen_flags")
OF_NODE = ("all_to_all_flags", "all_to_all_flags_ordered")


def step(machine, method, blocks=1):
    """Of one GPU or two, as STEPS says; None where there is no row."""
    gpus, parts = next(known[1:] for known in STEPS.values() if known[0] == method)
    row = medians(machine, gpus=gpus).get(method, {}).get((blocks, 32))
    return row / parts if row is not None else None


def in_block(machine, threads):
    """Both barriers of a block: before it arrives, and behind the wait."""
    cycles = fence_tables.rows_of(machine)[False, "blocksync", "1", str(threads)]
    return 2 * cycles / GHZ


def on_one_gpu(machine, method, of, late):
    """The sum of the steps that this barrier is made of."""
    blocks, threads = of
    message = step(machine, "ping_pong" if method in UNORDERED else "ping_pong_ordered")
    leader = method in FLAGS or (method == "peer_grid_sync" and blocks * SMS > FLAT)
    total = in_block(machine, threads) + message * (2 if leader else 1)
    if method in COUNTERS and not leader and not late:
        total += step(machine, "one_counter", blocks)
    return total


def on_two_gpus(machine, method, of, _late):
    """What it takes on one GPU, as measured, and a word to the other GPU."""
    blocks, threads = of
    if method in OF_NODE:
        kind = "ping_pong_peer" if method in UNORDERED else "ping_pong_peer_ordered"
        return 2 * medians(machine)["grid_sync"][blocks, threads] + step(machine, kind)
    return medians(machine)[method][blocks, threads] + step(machine, "ping_pong_peer_ordered")


# What is compared: its name, methods, GPUs, whether one is late, the sum.
GROUPS = (("one GPU, all at once", COUNTERS + FLAGS, 1, False, on_one_gpu),
          ("one GPU, one late", COUNTERS + FLAGS, 1, True, on_one_gpu),
          ("two GPUs, all at once", ("peer_grid_sync", *OF_NODE), 2, False, on_two_gpus))


def machines():
    """Those whose rows have the steps."""
    return [machine for machine in OF_TWO_GPUS if step(machine, "ping_pong") is not None]


@functools.lru_cache(maxsize=None)
def compared(machine):
    """[(group, method, shape, measured, sum)]"""
    return [(group, method, of, measured, total(machine, method, of, late))
            for group, methods, gpus, late, total in GROUPS for method in methods
            for of, measured in medians(machine, late, gpus).get(method, {}).items()]


def constants(_runs):
    """The steps, of each machine."""
    def cell(method):
        texts = [f"{value:.0f}" for value in (step(machine, method) for machine in machines())]
        return " / ".join(texts) or "–"

    return markdown_table(["Step", "Row", "ns"], 2, [
        [name, coded(f"`{method}`") + (" / 2" if parts == 2 else ""), cell(method)]
        for name, (method, _, parts) in STEPS.items()])


def floors(_runs):
    """Measured over the sum, of each machine."""
    def cell(group, method, of):
        ratios = [measured / total for machine in machines()
                  for *key, measured, total in compared(machine) if key == [group, method, of]]
        return " / ".join(f"{ratio:.2f}" for ratio in ratios) or "–"

    shapes = [*SHAPES[:4], (32, 32)]
    return markdown_table(
        ["Barrier", "State", *(shape(*of) for of in shapes)], 2,
        [[coded(f"`{method}`"), group, *(cell(group, method, of) for of in shapes)]
         for group, methods, *_ in GROUPS for method in methods])


def within(_runs):
    """How many rows are near the sum."""
    yield f"Within {NEAR:.0%}:"
    yield ""
    for group, *_ in GROUPS:
        counts = []
        for machine in machines():
            rows = [row for row in compared(machine) if row[0] == group]
            near = sum(abs(measured - total) <= NEAR * total for *_, measured, total in rows)
            counts.append(f"{near} of {len(rows)}")
        yield f"* {group[0].upper()}{group[1:]}: {' and '.join(counts)}."
