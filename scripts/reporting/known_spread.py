"""What is known to move rows: results/known_spread.tsv, which results/evidence/spread.md shows.

A line is a cause with a bound. It is of rows that agree with all its cells:
  name        short; lines of one name are one cause
  programs, sections, methods
              any, or names after commas; * stands for any letters. Of both toolkits
  when        any, or conditions after blanks, which all hold: names of CONDITIONS, and cells of
              the row, as gpus>=2 or blk=16xSM|32xSM (so many blocks for each SM)
  direction   any; slower: rows can be slower than recorded ones
  percent     by how much at most
  why         a sentence for readers; `code` stands between such marks
  evidence    where it can be seen, after commas: paths from the top of the repository, with a /, and
              headings
"""

import re
from pathlib import Path

from parts import tsv
from reporting.estimates import size_name

FILE = Path(__file__).resolve().parents[2] / "results" / "known_spread.tsv"
CONDITIONS = {"other_sm_clock": "another SM clock, and no more than that",
              "median_stays": "the median has not moved"}
COMPARED = re.compile(r"(\w+)(>=|<=|=)([\w|]+)")  # a cell of a row, and what it has to be
METHOD = re.compile(r"[a-z0-9_*]+")  # of those that a phrase can have
RELATIONS = {"=": "", ">=": "at least ", "<=": "at most "}


def names(cell):
    return re.split(", *", cell)


def words_of(condition):
    """For readers."""
    compared = COMPARED.fullmatch(condition)
    if not compared:
        return CONDITIONS.get(condition, condition)
    column, relation, wanted = compared.groups()
    shown = size_name if column == "bytes" else str
    return f"{column}: {RELATIONS[relation]}{' or '.join(map(shown, wanted.split('|')))}"


class Spread:
    """A line of the table; its columns are attributes."""

    def __init__(self, row):
        self.__dict__.update(row)
        self.evidence = names(row["evidence"])

    def rows(self):
        """Which rows of its programs it is of, in a phrase; ` marks code."""
        methods = ", ".join(f"`{name}`" if METHOD.fullmatch(name) else name
                            for name in names(self.methods))
        when = map(words_of, self.when.split())
        return "; ".join(part for part in (methods, self.sections, *when)
                         if part not in ("any", "`any`")) or "any"

    def extent(self):
        """The bound for readers."""
        return f"{float(self.percent):g}%" + " slower" * (self.direction != "any")


def read():
    return [Spread(row) for row in tsv.read_table(tsv.read_bytes(FILE), FILE)]
