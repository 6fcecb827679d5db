"""What docs/grid_barriers.md shows of the steps that barriers are made of: lines of Markdown, made
from rows of results/grid_barriers. Medians in nanoseconds, of each machine whose run has the
steps."""

import functools

from pages.grid_barrier_tables import OF_TWO_GPUS, SHAPES, SMS, medians
from parts import tsv
from reporting import barrier_steps
from reporting.estimates import shape
from reporting.sheets import coded, markdown_table
from reporting.study import FOLDER

NONE = ["No recorded run has these rows yet."]
NEAR = 0.1  # of the sum
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
PARTS = ("blocks meet", *barrier_steps.Steps._fields[1:])
STATES = {(1, False): "one GPU, all at once", (1, True): "one GPU, one late",
          (2, False): "two GPUs, all at once", (2, True): "two GPUs, one late"}


@functools.lru_cache(maxsize=None)
def sums(machine):
    """[BarrierSum] of the run."""
    return barrier_steps.sums(tsv.read(FOLDER.parent / "grid_barriers" / f"{machine}.tsv"), SMS)


def machines():
    return [machine for machine in OF_TWO_GPUS if sums(machine)]


def state_of(row):
    return STATES[row.gpus, row.late > 0]


def shape_of(row):
    return row.blocks // SMS, row.threads


def multiple(row):
    """As barrier_steps.tsv of a report has it."""
    return round(row.measured / sum(row.steps), 3)


def if_any(table):
    """The lines of a table, where a machine has rows."""
    return lambda _runs: table() if machines() else NONE


@if_any
def constants():
    """The steps, of each machine."""
    def cell(of, blocks):
        method, gpus, steps = of
        found = [medians(machine, gpus=gpus)[method].get((blocks, 32)) for machine in machines()]
        return " / ".join("–" if one is None else f"{one / steps:.0f}" for one in found)

    return markdown_table(
        ["Step", "Row", f"{FEW} per SM", f"{MANY} per SM"], 2,
        [[name, coded(f"`{of[0]}`") + " / 2" * (of[2] == 2), cell(of, FEW), cell(of, MANY)]
         for name, of in STEPS.items()])


@if_any
def floors():
    """Measured over the sum, of each machine."""
    shapes = [*SHAPES[:4], (MANY, 32)]
    rows = [row for machine in machines() for row in sums(machine)]

    def cell(*of):
        return " / ".join(f"{multiple(row):.2f}" for row in rows
                          if (row.method, state_of(row), shape_of(row)) == of) or "–"

    barriers = dict.fromkeys((state_of(row), row.method) for row in rows)
    return markdown_table(
        ["Barrier", "State", *(shape(*of) for of in shapes)], 2,
        [[coded(f"`{method}`"), state, *(cell(method, state, of) for of in shapes)]
         for state, method in barriers])


@if_any
def breakdown():
    """Of peer_grid_sync, of each machine."""
    def cells(gpus, blocks):
        found = [row for machine in machines() for row in sums(machine)
                 if (row.method, row.gpus, row.late, shape_of(row)) ==
                 ("peer_grid_sync", gpus, 0, (blocks, 32))]
        for values in zip(*((*row.steps, sum(row.steps), row.measured) for row in found)):
            yield " / ".join(f"{value:.0f}" for value in values)
        yield " / ".join(f"{100 * (multiple(row) - 1):+.0f}%" for row in found)

    return markdown_table(
        ["GPUs", "Blocks per SM", *PARTS, "sum", "measured", "difference"], 1,
        [[str(gpus), str(blocks), *cells(gpus, blocks)]
         for gpus in (1, 2) for blocks in (FEW, MANY)])


@if_any
def within():
    """How many rows are near the sum."""
    yield f"Within {NEAR:.0%}:"
    yield ""
    for state in STATES.values():
        counts = []
        for machine in machines():
            rows = [multiple(row) for row in sums(machine) if state_of(row) == state]
            counts.append(f"{sum(abs(times - 1) <= NEAR for times in rows)} of {len(rows)}")
        yield f"* {state[0].upper()}{state[1:]}: {' and '.join(counts)}."
