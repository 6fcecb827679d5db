"""What is known to move rows: results/known_spread.tsv, for report.py and write_pages.py.

A line is a cause with a bound. It is of rows that agree with all its cells:
  name        short, for reports, which take lines of one name for one cause
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

import functools
import re
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path

from parts import means, tsv
from reporting import normal
from reporting.estimates import size_name
from reporting.sheets import coded

FILE = Path(__file__).resolve().parents[2] / "results" / "known_spread.tsv"
COLUMNS = ("name", "programs", "sections", "methods", "direction", "when", "percent", "why",
           "evidence")
DIRECTIONS = ("any", "slower")
COMPARED = re.compile(r"(\w+)(>=|<=|=)([\w|]+)")  # a cell of a row, and what it has to be
METHOD = re.compile(r"[a-z0-9_*]+")  # of those that a phrase can have
RELATIONS = {"=": "", ">=": "at least ", "<=": "at most "}


# What each says of itself is shown to readers.
def other_sm_clock(row, here, there):
    """another SM clock, and no more than that"""
    clocks = [re.match(r"[\d.]+", text) for text in (
        row.row.get("clock", here.get("sm_clock_application", "")),
        there.get("sm_clock_application", ""))]
    if not all(clocks) or not all(float(clock[0]) for clock in clocks):
        return False
    slower_by = float(clocks[1][0]) / float(clocks[0][0])
    grown = 1 + row.change / 100
    longer = 1 / grown if row.quantity in means.MORE_IS_FASTER else grown
    near = 1 + normal.THRESHOLD / 100
    return (abs(slower_by - 1) > 0.01 and (longer > 1) == (slower_by > 1)
            and max(longer, 1 / longer) <= max(slower_by, 1 / slower_by) * near)


def median_is_within(row, percent):
    """Whether a row's median is beyond the recorded means by no more."""
    median = float(row.row.get(f"med({row.quantity})", "nan"))  # nan is never there
    allowed = abs(row.low + row.high) / 2 * percent / 100
    return row.low - allowed <= median <= row.high + allowed


def median_stays(row, here, there):
    """the median has not moved"""
    return median_is_within(row, normal.THRESHOLD)


CONDITIONS = {test.__name__: test for test in (other_sm_clock, median_stays)}


def amount(text, where):
    """(number, what is counted) of "4xSM"."""
    number = re.fullmatch(r"(\d+)(xSM)?", text)
    if not number:
        raise tsv.TsvError(f"{where}, column when: '{tsv.shown(text)}' is not an amount")
    return int(number[1]), number[2]


def cell_is(column, relation, wanted, where):
    """The test of a row's cell."""
    index = 1 + means.KEYS.index(column)
    if relation == "=":
        choices = wanted.split("|")
        for text in choices if column == "bytes" else ():
            amount(text, where)
        return lambda row, here, there: row.key[index] in choices
    bound, unit = amount(wanted, where)

    def test(row, here, there):
        if row.key[index] == "nan":
            return False
        found, counted = amount(row.key[index], row.row.where)
        return counted == unit and (found >= bound if relation == ">=" else found <= bound)
    return test


def names(cell):
    return re.split(", *", cell)


@functools.lru_cache(maxsize=None)
def is_one_of(text, cell):
    return cell == "any" or any(fnmatchcase(text, name) for name in names(cell))


class Spread:
    """A line of the table; its columns are attributes."""

    def __init__(self, row):
        if tuple(row) != COLUMNS:
            raise tsv.TsvError(f"{row.where}: the columns must be {', '.join(COLUMNS)}")
        self.__dict__.update(row)
        if not (tsv.NUMBER.fullmatch(self.percent) and float(self.percent) > 0):
            raise tsv.TsvError(f"{row.where}, column percent: '{tsv.shown(self.percent)}' is not a "
                               "number above 0")
        self.percent = float(self.percent)
        if self.direction not in DIRECTIONS:
            raise tsv.TsvError(f"{row.where}, column direction: nobody knows "
                               f"'{tsv.shown(self.direction)}'")
        self.evidence = names(self.evidence)
        self.tests = [self.test_of(text, row) for text in self.when.split() if self.when != "any"]

    @staticmethod
    def test_of(text, row):
        compared = COMPARED.fullmatch(text)
        if compared and compared[1] in means.KEYS:
            return cell_is(*compared.groups(), row.where)
        if text not in CONDITIONS:
            raise tsv.TsvError(f"{row.where}, column when: nobody knows '{tsv.shown(text)}'")
        return CONDITIONS[text]

    def rows(self):
        """Which rows of its programs it is of, in a phrase; ` marks code."""
        methods = ", ".join(f"`{name}`" if METHOD.fullmatch(name) else name
                            for name in names(self.methods))
        when = map(self.words_of, self.when.split())
        return "; ".join(part for part in (methods, self.sections, *when)
                         if part not in ("any", "`any`")) or "any"

    @staticmethod
    def words_of(condition):
        """For readers."""
        compared = COMPARED.fullmatch(condition)
        if not compared:
            return CONDITIONS[condition].__doc__ if condition in CONDITIONS else condition
        column, relation, wanted = compared.groups()
        shown = size_name if column == "bytes" else str
        return f"{column}: {RELATIONS[relation]}{' or '.join(map(shown, wanted.split('|')))}"

    def extent(self):
        """The bound for readers."""
        return f"{self.percent:g}%" + " slower" * (self.direction != "any")

    def bounds(self, row):
        """Whether a row has moved by no more than this."""
        return abs(row.change) <= self.percent

    def can_move(self, row, run, recorded):
        """By so much."""
        return self.bounds(row) and self.is_of(row, run, recorded)

    def is_of(self, row, run, recorded):
        """Beside each recorded run, for a moved row lies beyond all."""
        file, section, method = row.key[:3]
        return (is_one_of(file.split(".")[0], self.programs) and is_one_of(section, self.sections)
                and is_one_of(method, self.methods)
                and self.direction in ("any", row.verdict)
                and all(test(row, run.environment, other.environment)
                        for test in self.tests for other in recorded))


@functools.lru_cache(maxsize=None)
def read(path=FILE):
    """All lines, each checked."""
    return [Spread(row) for row in tsv.read_table(tsv.read_bytes(path), path)]


class Known:
    """What is known to move the moved rows of a run. spreads: those that can, the first of each
    name, in the order of the table, from 1 on; counts: how many rows of each; unknown: rows of
    which nothing is known."""

    def __init__(self, run, recorded, rows, spreads=None):
        spreads = spreads or (read() if rows else [])
        self.bounds = {spread.name: [] for spread in spreads}  # of all lines of a name
        for spread in spreads:
            self.bounds[spread.name].append(spread)
        first = {spread.name: spread for spread in reversed(spreads)}
        self.of_row = {id(row): list(dict.fromkeys(
            first[spread.name] for spread in spreads if spread.can_move(row, run, recorded)))
            for row in rows}
        self.counts = Counter(spread for found in self.of_row.values() for spread in found)
        self.spreads = [spread for spread in spreads if spread in self.counts]
        self.unknown = sum(not found for found in self.of_row.values())

    def of(self, row):
        return self.of_row.get(id(row), [])

    def numbers(self, *rows):
        """"2, 5": of their causes, – where there is none."""
        found = {self.spreads.index(spread) + 1 for row in rows for spread in self.of(row)}
        return ", ".join(map(str, sorted(found))) or "–"

    def text(self, spread):
        """Why, and up to how much."""
        bounds = [spread.extent() + f" ({spread.methods})" * (spread.methods != "any")
                  for spread in self.bounds[spread.name]]
        return f"{spread.why} Up to {', '.join(bounds)}."

    def lines(self):
        """Texts under HEAD, a row each."""
        for number, spread in enumerate(self.spreads, 1):
            yield (str(number), coded(self.text(spread)), ", ".join(spread.evidence),
                   str(self.counts[spread]))


HEAD = ("Known", "What it is", "Where it is shown", "Rows")
