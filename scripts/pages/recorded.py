"""Rows of files of results/ side by side, for the tables of pages."""

import functools

from parts import tsv
from reporting.sheets import coded
from reporting.study import FOLDER

RESULTS = FOLDER.parent


@functools.lru_cache(maxsize=None)
def output(name):
    """Of results/NAME.tsv."""
    return tsv.read(RESULTS / f"{name}.tsv")


def rows(name, title=None, **cells):
    """Those with these cells, in the section with this title, or in all."""
    return [row for section in output(name) if title in (None, section.title)
            for row in section.rows if cells.items() <= row.items()]


def table_of(name):
    """The rows of results/NAME.tsv, which has no sections."""
    path = RESULTS / f"{name}.tsv"
    return tsv.read_table(tsv.read_bytes(path), path)


def beside(numbers):
    """Of several machines: "2 / 3"."""
    return " / ".join(f"{number:.0f}" for number in numbers) or "–"


def median(row, column):
    return float(row[f"med({column})"])


def span(values, text=str):
    """From the least to the largest: "2 to 3"."""
    return " to ".join(dict.fromkeys(map(text, (min(values), max(values)))))


def code(name):
    return coded(f"`{name}`")
