"""What results/evidence/spread.md shows: how far rows of healthy machines differ, and what a
verdict does not see."""

import copy
import itertools
import math
import re

from pages.healthy_pairs import RECORDED
from pages.recorded import of_today, table_of
from parts import means, tsv
from reporting import bounds
from reporting.bounds import GROUP_NAMES, group_of
from reporting.normal import references
from reporting.sheets import coded, markdown_table
from reporting.verdict import Verdict

TIME = re.compile(r"(?:m|s|med|ci95)\((?!clk)(.*)\)")
SLOWER, FAR_SLOWER = 1.25, 1.5  # times


def differences(runs):
    """How far rows of one recorded run are from those of another with the same kind of GPU."""
    changes = {name: [] for name in GROUP_NAMES}
    for pair in itertools.combinations(of_today(runs), 2):
        if references(pair[0], pair[1:]):
            one, other = map(means.values_of, pair)
            for key in one.keys() & other.keys():
                a, b = (values[key][1].mean for values in (one, other))
                changes[group_of(key[0], key[2])].append(100 * abs(b - a) / abs(a))
    return markdown_table(["Rows", "How many", "Half within", "95 of 100 within", "All within"], 1, [
        [name, f"{len(found):,}", *(
            f"{sorted(found)[max(0, math.ceil(share * len(found)) - 1)]:.1f}%"
            for share in (0.5, 0.95, 1))] for name, found in changes.items() if found])


def pairs(_runs):
    """How often healthy runs were not called normal."""
    new, rows = [], []
    for row in table_of("healthy_pairs"):
        (new if row["against"] == RECORDED else rows).append(row)
    return markdown_table(["What is judged", "Bounds", "How many", "Not normal"], 2, [
        [name, of, str(len(found)), str(sum(row[column] != "normal" for row in found))]
        for name, of, found, column in (
            ("a run beside the recorded ones", "of all healthy runs", new, "verdict"),
            ("a run beside the recorded ones", "made without it", new, "held_out"),
            ("a run beside another", "of all healthy runs", rows, "verdict"),
            ("a run beside another", "made without the two", rows, "held_out"))])


def slower(row, factor):
    cells = tsv.Row(row, row.values(), row.where, row.section)
    for column, text in row.items():
        time = TIME.fullmatch(column)
        if time and text != "nan":
            by = 1 / factor if time[1] in means.MORE_IS_FASTER else factor
            cells[column] = f"{float(text) * by:.3f}"
    return cells


def alone(run, file, method, factor):
    """A run of another day that has these rows only, slower."""
    found, output = copy.copy(run), copy.copy(run.files[file])
    found.environment = {**run.environment, "date_utc": "later"}
    found.files = {file: output}
    output[:] = map(copy.copy, output)
    for section in output:
        section.rows = [slower(row, factor) for row in section.rows if row["method"] == method]
    return found


def is_unseen(run, recorded, file, name, factor):
    """Whether a verdict says nothing of a method that alone is slower."""
    verdict = Verdict(alone(run, file, name, factor), recorded, partial=True)
    return not any(name in fault.text for fault in verdict.faults)


def unseen_methods(run, recorded, factor=SLOWER):
    """(file, method) of all such."""
    for file, output in run.files.items():
        names = sorted({row["method"] for section in output for row in section.rows})
        for name in names if file not in tsv.PITFALLS else ():
            if is_unseen(run, recorded, file, name, factor):
                yield file, name


def unseen(runs):
    """Which methods could be slower unseen, with their largest change between healthy runs."""
    run, found = next(run for run in runs if run.path.name == "h200x1"), {}
    for file, method in unseen_methods(run, runs):
        change = max((percent for (program, _, name, _), percent in bounds.read().known.items()
                      if (program, name) == (file.split(".")[0], method)), default=math.nan)
        mark = f" ({FAR_SLOWER:g})" if is_unseen(run, runs, file, method, FAR_SLOWER) else ""
        found.setdefault(file, []).append(f"`{method}` {change:.0f}%{mark}")
    yield (f"Alone, each of these can be {SLOWER:g} times as slow and still count as healthy; those with "
           f"({FAR_SLOWER:g}) as many times. Percent: the largest change between healthy runs of either "
           "toolkit. Where recorded runs differ far, a method with a small change is here, too.")
    yield ""
    yield from markdown_table(["File", "Methods"], 2, [
        [f"{file}.tsv", coded(", ".join(names))] for file, names in found.items()])
    known = bounds.read().known.values()
    wide = sum(bounds.MARGIN * percent > bounds.WIDE for percent in known)
    yield ""
    yield (f"Rows of one workload alone: {wide} of {len(known)} groups in "
           f"[bounds.tsv](../bounds.tsv) have bounds above {bounds.WIDE:g}%.")
