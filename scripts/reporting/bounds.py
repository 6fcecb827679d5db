"""By how much healthy machines differ: results/bounds.tsv, which scripts/pages/healthy_pairs.py
--bounds writes.

A line is of the rows of a method in a section of a program, of one workload: `percent` is the
largest change between healthy runs, `pairs` of how many pairs of runs. A change is how much longer
or shorter the mean and the median both are than all that is recorded, the nearer of the two.
"""

import functools
import math
from fnmatch import fnmatchcase
from pathlib import Path

from parts import means, tsv

FILE = Path(__file__).resolve().parents[2] / "results" / "bounds.tsv"
COLUMNS = ("program", "section", "method", "wkld", "pairs", "percent")
MARGIN = 1.2  # a bound is so many times the largest change,
LEAST, CLOSE = 18.0, 5.0  # and so many percent at least; of two runs that somebody compares
UNKNOWN = 65.0  # percent, where no two healthy runs have a section
WIDE = 22.0  # percent: wider bounds do not tell what is 1.25 times slower
FASTER = 4.0  # times as far may rows be faster
ALONE = 25.0  # percent: one row alone of a method with several may change by less

# Groups of rows that agree alike. Rows inside an SM hardly ever differ, so a share of all rows says
# little of the others.
# Group -> its programs, patterns of its methods. A row is of the first group that it fits.
# With clusters and fences are all accesses beyond the SM.
GROUPS = {
    "sums": (("Reduction",), ("*",)),
    "launches": (("ImplicitBarrier",), ("*",)),
    "time steps": (("Stencil",), ("*",)),
    "libraries": (("Libraries",), ("*",)),
    "several GPUs": (("BenchmarkInterSM", "TestRepeat"), ("*peer_grid_sync", "multi_grid_*")),
    "grid": (("BenchmarkInterSM", "TestRepeat"), ("*grid_sync", "*semaphore")),
    "clusters and fences": (("BenchmarkIntraSM", "TestRepeat"), (
        "*cluster_*", "distributed_load", "threadfence*", "fence_*", "*_acquire_*", "*_release_*",
        "atom_acq_rel_*", "global_*", "copy_async", "bulk_copy_*")),
    "in an SM": (("BenchmarkIntraSM", "TestRepeat"), ("*",))}
GROUP_NAMES = tuple(reversed(GROUPS))  # as pages show them


@functools.lru_cache(maxsize=None)
def group_of(file, method):
    """Of a row in this file, of either toolkit; it has a mean."""
    program = file.split(".")[0]
    return next((name for name, (programs, methods) in GROUPS.items() if program in programs
                 and any(fnmatchcase(method, pattern) for pattern in methods)),
                "grid")  # a method of BenchmarkInterSM that no pattern knows


def group(key):
    return (key[0].split(".")[0], key[1], key[2], key[means.WORKLOAD])


def beyond(value, row):
    """In percent, above 0 if it takes longer than all recorded rows."""
    if not (value > 0 and row.low > 0):
        return 0.0 if row.low <= value <= row.high else math.nan
    ratio = value / min(max(value, row.low), row.high)
    if row.quantity in means.MORE_IS_FASTER:
        ratio = 1 / ratio
    return 100 * (ratio - 1) if ratio >= 1 else 100 * (1 - 1 / ratio)


def change(row):
    """Of a row of class Judged; nan if it cannot be told."""
    mean = beyond(row.value.mean, row)
    median = beyond(float(row.row.get(f"med({row.quantity})", "nan")), row)
    if math.isnan(median) or math.isnan(mean):
        return mean
    return 0.0 if mean * median <= 0 else min(mean, median, key=abs)


def largest(rows):
    """{group: the largest change} of rows of class Judged."""
    found = {}
    for row in rows:
        percent = abs(change(row)) if row.low == row.low else math.nan
        if not math.isnan(percent):
            found[group(row.key)] = max(found.get(group(row.key), 0.0), percent)
    return found


class Bounds:
    def __init__(self, known, close=False):
        """known: {group: the largest change}; close: for two runs, not for a verdict on one."""
        self.known, self.sections = known, {}
        self.least, self.unknown, self.faster, self.alone = (
            (CLOSE, CLOSE, 1, 0) if close else (LEAST, UNKNOWN, FASTER, ALONE))
        for one, percent in known.items():
            self.sections[one[:2]] = max(self.sections.get(one[:2], 0.0), percent)

    def of(self, key):
        """Percent, by the widest of its section where the method is not known."""
        one = group(key)
        return max(MARGIN * self.known.get(one, self.sections.get(one[:2], self.unknown)),
                   self.least)

    def exceeds(self, row):
        """Whether a row is beyond its bound."""
        percent, bound = change(row), self.of(row.key)
        return percent > bound or percent < -self.faster * bound


@functools.lru_cache(maxsize=None)
def read(close=False):
    rows = tsv.read_table(tsv.read_bytes(FILE), FILE) if FILE.exists() else []
    return Bounds({tuple(row[column] for column in COLUMNS[:4]): float(row["percent"])
                   for row in rows}, close)
