"""Rows of recorded runs side by side, for the tables of pages. Runs of earlier versions are marked,
or left out where others have the rows."""

from parts import tsv
from reporting.estimates import short_name
from reporting.normal import is_before
from reporting.sheets import coded
from reporting.study import FOLDER

RESULTS = FOLDER.parent


def heading(run):
    """"2 H200" """
    return f"{run.gpus} {short_name(run)}" + " (before)" * is_before(run)


def of_today(runs, gpus=None):
    """Those of this version, of so many GPUs, newer kinds first."""
    found = [run for run in runs if not is_before(run) and gpus in (None, run.gpus)]
    found.sort(key=lambda run: run.gpus)
    return sorted(found, reverse=True, key=lambda run: (
        float(run.environment["compute_capability"].split(";")[0]), short_name(run)))


def largest(runs):
    """Of this version the run with most GPUs of each kind."""
    return list({short_name(run): run for run in of_today(runs)}.values())  # the last of each


def machines(runs):
    """What stands in a cell, where it is of several runs."""
    return [f"Each cell: {' / '.join(map(heading, runs))}."]


def rows(run, file, title=None, **cells):
    """Those of a file with these cells, in the section with this title, or in all."""
    return [row for section in run.files.get(file, ()) if title in (None, section.title)
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
