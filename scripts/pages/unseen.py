"""Of which methods does a verdict say nothing, where they alone are slower? For
results/evidence/spread.md."""

import copy
import re

from parts import means, tsv
from reporting.verdict import Verdict

TIME = re.compile(r"(?:m|s|med|ci95)\((?!clk)(.*)\)")
SLOWER = 1.25  # times


def slower(row, factor):
    cells = tsv.Row(row, row.values(), row.where)
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


def methods(run, recorded, factor=SLOWER):
    """(file, method) of all that are not told."""
    for file, output in run.files.items():
        names = sorted({row["method"] for section in output for row in section.rows})
        for name in names if file not in tsv.PITFALLS else ():
            verdict = Verdict(alone(run, file, name, factor), recorded, partial=True)
            if not any(name in fault.text for fault in verdict.faults):
                yield file, name
