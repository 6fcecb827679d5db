"""Recorded rows that are stale, as what they time has other code today: results/stale.tsv, which
tests/stale_rows.py writes and explains."""

import functools
from fnmatch import fnmatchcase
from pathlib import Path

from parts import tsv

FOLDER = Path(__file__).resolve().parents[2] / "results"
FILE = FOLDER / "stale.tsv"
IN_KERNEL = ("BenchmarkIntraSM", "BenchmarkInterSM", "TestRepeat")


@functools.lru_cache(maxsize=None)
def read():
    return tsv.read_table(tsv.read_bytes(FILE), FILE) if FILE.exists() else []


def rows_of(output, section):
    """Which rows of the table a section's are: "timed" and "late" of methods inside a kernel."""
    program = output.program("name")
    if program in IN_KERNEL:
        return "late" if section == "one late" else "timed"
    return f"{program}/{section}"


@functools.lru_cache(maxsize=None)
def _stale(rows, method, toolkit, commit):
    return any(line["toolkit"] in (toolkit, "any") and fnmatchcase(method, line["method"])
               and commit in line["stale"].split(",") and fnmatchcase(rows, line["rows"])
               for line in read())


def is_stale(output, section, method):
    """Whether a method's rows in a section of a recorded output are."""
    return _stale(rows_of(output, section), method, output.program("toolkit"),
                  output.program("commit"))
