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


def beside(names, column, **cells):
    """The number of the last row with these cells in each file that has one: "2 / 3"."""
    found = [[row[column] for row in rows(name, **cells) if column in row] for name in names]
    return " / ".join(f"{float(texts[-1]):.0f}" for texts in found if texts) or "–"


def code(name):
    return coded(f"`{name}`")
