"""The study's model of when more threads pay (section VII-A, Equations 1 to 5), from rows of
Reduction. Cycles are those of an SM's clock, sizes bytes."""

import math
from collections import namedtuple

# Nm (Eq. 4) and Nl (Eq. 5): up to so many bytes the fewer threads are faster, for fewer and for more
# bytes than the concurrency of the more threads; nan where these bring no more throughput. case:
# which of the two applies, or never; bytes: that one.
Switch = namedtuple("Switch", "large medium case bytes")


def switch(latency, basic_rate, more_rate, sync):
    """Of threads that need not synchronize and move `basic_rate` bytes a cycle, and of more that
    move `more_rate` and synchronize in `sync` cycles; a step of both takes `latency` cycles."""
    medium = (latency + sync) * basic_rate
    if not more_rate > basic_rate:
        return Switch(math.nan, medium, "never", math.nan)
    large = sync * more_rate * basic_rate / (more_rate - basic_rate)
    # Both sides of Eq. 2 meet once, for the more threads gain from the concurrency (Eq. 1) of the
    # fewer on: before their own or behind it.
    if medium <= latency * more_rate:
        return Switch(large, medium, "Nm", medium)
    return Switch(large, medium, "Nl", large)


def predicted(section, row):
    """The Switch of a row of `switching points`, to 0.1 bytes, from the section `shared memory`; None
    where that lacks rows."""
    loops = {threads: section.find(type=row["type"], thrd=threads)
             for threads in ("1", row["basic"], row["more"])}
    if not all(loops.values()):
        return None
    cycles = {threads: float(loop["m(cycle)"]) for threads, loop in loops.items()}
    if 0 in cycles.values():
        return None
    rates = {threads: loop.whole("bytes") / cycles[threads] for threads, loop in loops.items()}
    found = switch(float(loops["1"]["latency"]), rates[row["basic"]], rates[row["more"]],
                   float(row["m(sync)"]))
    large, medium, size = (round(size, 1) for size in (found.large, found.medium, found.bytes))
    return Switch(large, medium, found.case, size)
