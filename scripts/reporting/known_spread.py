"""What is known to move rows: results/known_spread.tsv, for report.py and write_pages.py.

A line is a cause or a bound. It is of rows that agree with all its cells:
  name        short, for reports, which take lines of one name for one cause
  in_reports  yes: reports name it beside moved rows; no: it stands in docs/repeatability.md alone,
              and its cells up to `when` are words for people, or any
  programs, sections, methods
              any, or names after commas; * stands for any letters. Of both toolkits
  between     the GPUs of the two runs: any; same, of one kind; "H100, H200", of these kinds
  when        any, or conditions after blanks, which all hold: names of CONDITIONS, and cells of
              the row, as gpus>=2 or blk=16xSM|32xSM (so many blocks for each SM)
  percent, cycles
              by how much at most, where both are given by neither more; nan: no such bound
  why         a sentence for readers; `code` stands between such marks
  evidence    where it can be seen: files, from the top of the repository
"""

import functools
import math
import re
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path

import compare
import tsv
from reduction_summary import size_name
from reporting import normal
from reporting.sheets import coded

FILE = Path(__file__).resolve().parents[2] / "results" / "known_spread.tsv"
COLUMNS = ("name", "in_reports", "programs", "sections", "methods", "between", "when", "percent",
           "cycles", "why", "evidence")
COMPARED = re.compile(r"(\w+)(>=|<=|=)([\w|]+)")  # a cell of a row, and what it has to be
METHOD = re.compile(r"[a-z0-9_*]+")  # of those that a phrase can have
WHOLE = ("gpus", "blk", "thrd", "tile", "bytes")  # whose cells are whole numbers
RELATIONS = {"=": "", ">=": "at least ", "<=": "at most "}


# What each says of itself is shown to readers.
def other_sm_clock(row, here, there):
    """another SM clock"""
    return any(here.get(key) != there.get(key) for key in ("sm_clock_max", "sm_clock_application"))


def other_toolkit(row, here, there):
    """another CUDA toolkit"""
    key = "cuda_toolkit_multi_grid" if row.key[0].endswith(".cuda11") else "cuda_toolkit"
    return here.get(key) != there.get(key)


def median_stays(row, here, there):
    """the median has not moved"""
    median = float(row.row.get(f"med({row.quantity})", "nan"))  # nan is never there
    allowed = abs(row.low + row.high) / 2 * normal.THRESHOLD / 100
    return row.low - allowed <= median <= row.high + allowed


CONDITIONS = {test.__name__: test for test in (other_sm_clock, other_toolkit, median_stays)}


def amount(text):
    """(number, what is counted) of "4xSM"; nan where it is no number."""
    number = re.fullmatch(r"([1-9][0-9]{0,14})(xSM)?", text)
    return (int(number[1]), number[2]) if number else (math.nan, None)


def can_be(column, relation, wanted):
    """Whether a row can have such a cell."""
    choices = wanted.split("|")
    if column not in WHOLE:
        return column in compare.KEYS and relation == "=" and all(choices)
    found = list(map(amount, choices))
    return (relation == "=" or len(found) == 1) and all(
        not math.isnan(number) and (not unit or column == "blk") for number, unit in found)


def cell_is(column, relation, wanted):
    """The test of a row's cell."""
    place = 1 + compare.KEYS.index(column)

    def test(row, here, there):
        cell = row.key[place]
        if relation == "=":
            return cell in wanted.split("|")
        (found, unit), (bound, unit_of_bound) = amount(cell), amount(wanted)
        return unit == unit_of_bound and (found >= bound if relation == ">=" else found <= bound)
    return test


def names(cell):
    return re.split(", *", cell)


def is_one_of(text, cell):
    return cell == "any" or any(fnmatchcase(text, name) for name in names(cell))


def are_between(cell, here, there):
    """Whether two GPUs are of these kinds."""
    if cell in ("any", "same"):
        return cell == "any" or here == there
    def are(*kinds):  # "H200" is not of "GH200"
        return all(re.search(rf"\b{re.escape(kind)}\b", gpu)
                   for kind, gpu in zip(kinds, (here, there)))

    one, other = names(cell)
    return are(one, other) or are(other, one)


class Spread:
    """A line of the table; its columns are attributes."""

    def __init__(self, row):
        if tuple(row) != COLUMNS:
            raise tsv.TsvError(f"{row.where}: the columns must be {', '.join(COLUMNS)}")
        self.__dict__.update(row)
        for column in ("percent", "cycles"):
            if not tsv.NUMBER.fullmatch(row[column]) or float(row[column]) < 0:
                raise tsv.TsvError(f"{row.where}, column {column}: '{tsv.shown(row[column])}' is "
                                   "not a number from 0 on")
            setattr(self, column, float(row[column]))
        for column, known in (("in_reports", self.in_reports in ("yes", "no")),
                              ("between", self.in_reports == "no" or self.between in ("any", "same")
                               or tuple(map(bool, names(self.between))) == (True, True))):
            if not known:
                raise tsv.TsvError(f"{row.where}, column {column}: nobody knows "
                                   f"'{tsv.shown(row[column])}'")
        self.in_reports = self.in_reports == "yes"
        self.tests = [self.test_of(text, row) for text in self.when.split()
                      if self.in_reports and self.when != "any"]

    @staticmethod
    def test_of(text, row):
        compared = COMPARED.fullmatch(text)
        if compared and can_be(*compared.groups()):
            return cell_is(*compared.groups())
        if text not in CONDITIONS:
            raise tsv.TsvError(f"{row.where}, column when: nobody knows '{tsv.shown(text)}'")
        return CONDITIONS[text]

    def rows(self):
        """Which rows of its programs it is of, in a phrase; ` marks code."""
        methods = ", ".join(f"`{name}`" if METHOD.fullmatch(name) else name
                            for name in names(self.methods))
        when = map(self.words_of, self.when.split() if self.in_reports else [self.when])
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
        """The bound for readers, "" where none is known."""
        return " and ".join(f"{bound:g}{unit}" for bound, unit in (
            (self.percent, "%"), (self.cycles, " cycles")) if not math.isnan(bound))

    def where(self):
        """Between which GPUs."""
        return {"same": "GPUs of one kind"}.get(self.between, self.between.replace(", ", " and "))

    def bounds(self, row):
        """Whether a row has moved by no more than this; nan: no bound."""
        cycles = math.inf  # no bound in cycles is of a row that has none
        if compare.UNITS[row.quantity] == "cycles" and row.change != -100:  # then it is 0 now
            cycles = abs(row.value.mean * row.change / (100 + row.change))
        return not abs(row.change) > self.percent and not cycles > self.cycles

    def can_move(self, row, run, recorded):
        """Beside each recorded run, for a moved row lies beyond all."""
        file, section, method = row.key[:3]
        return (is_one_of(file.split(".")[0], self.programs) and is_one_of(section, self.sections)
                and is_one_of(method, self.methods) and self.bounds(row)
                and all(are_between(self.between, *(one.environment.get("gpu", "")
                                                    for one in (run, other)))
                        and all(test(row, run.environment, other.environment)
                                for test in self.tests) for other in recorded))


@functools.lru_cache(maxsize=None)
def read(path=FILE):
    """All lines, each checked."""
    return [Spread(row) for row in tsv.read_table(tsv.read_bytes(path), path)]


class Known:
    """What is known to move the moved rows of a run. spreads: those that can, the first of each
    name, in the order of the table, from 1 on; counts: how many rows of each; unknown: rows of
    which nothing is known."""

    def __init__(self, run, recorded, rows):
        spreads = [spread for spread in read() if spread.in_reports]
        self.bounds = {spread.name: [] for spread in spreads}  # of all lines of a name
        for spread in filter(Spread.extent, spreads):
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
        return spread.why + f" Up to {', '.join(bounds)}." * bool(bounds)

    def lines(self):
        """Texts under HEAD, a row each."""
        for number, spread in enumerate(self.spreads, 1):
            yield (str(number), coded(self.text(spread)), spread.evidence,
                   str(self.counts[spread]))


HEAD = ("Known", "What it is", "Where it is shown", "Rows")
