"""What results/evidence/spread.md shows: how far rows of healthy machines differ, what a verdict
does not see, and what is known to move rows.

A line of results/known_spread.tsv is a cause with a bound. It is of rows that agree with all its
cells:
  name        short; lines of one name are one cause
  programs, sections, methods
              any, or names after commas; * stands for any letters. Of both toolkits
  when        any, or conditions after blanks, which all hold: names of CONDITIONS, and cells of
              the row, as gpus>=2 or blk=16xSM|32xSM (so many blocks for each SM)
  direction   any; slower: rows can be slower than recorded ones
  percent     by how much at most
  why         a sentence for readers; `code` stands between such marks
  evidence    where it can be seen, after commas: paths from the top of the repository, with a /,
              and headings
"""

import copy
import itertools
import math
import re
from fnmatch import fnmatchcase

from pages.recorded import table_of
from parts import means, tsv
from reporting.estimates import size_name
from reporting.normal import further
from reporting.sheets import Raw, coded, literal, markdown_table
from reporting.verdict import Verdict

TIME = re.compile(r"(?:m|s|med|ci95)\((?!clk)(.*)\)")
SLOWER = 1.25  # times
CONDITIONS = {"other_sm_clock": "another SM clock, and no more than that",
              "median_stays": "the median has not moved"}
COMPARED = re.compile(r"(\w+)(>=|<=|=)([\w|]+)")  # a cell of a row, and what it has to be
METHOD = re.compile(r"[a-z0-9_*]+")  # of those that a phrase can have
RELATIONS = {"=": "", ">=": "at least ", "<=": "at most "}
# Rows that differ alike, by label and program: patterns of section, method and number of GPUs. A
# row is of the first line that it fits.
ALIKE = {
    ("`threadfence_system`", "BenchmarkIntraSM"): "* threadfence_system *",
    ("clusters", "BenchmarkIntraSM"): "* cluster_* *",
    ("`distributed_load`", "BenchmarkIntraSM"): "* distributed_load *",
    ("`mbarrier`, `mbarrier_parity`", "BenchmarkIntraSM"): "* mbarrier* *",
    ("`cuda_barrier`", "BenchmarkIntraSM"): "* cuda_barrier *",
    ("all others", "BenchmarkIntraSM"): "* * *",
    ("`grid_sync`", "BenchmarkInterSM"): "* grid_sync *",
    ("`semaphore`, `named_semaphore`", "BenchmarkInterSM"): "* *semaphore *",
    ("barriers of several GPUs, run on one", "BenchmarkInterSM"): "* * 1",
    ("barriers of several GPUs", "BenchmarkInterSM"): "* * *",
    ("overhead of launches, OpenMP", "ImplicitBarrier"): "sleep?kernel *_omp_* *",
    ("overhead of other launches, one GPU", "ImplicitBarrier"): "sleep?kernel * 1",
    ("overhead of other launches, several GPUs", "ImplicitBarrier"): "sleep?kernel * *",
    ("all others", "ImplicitBarrier"): "* * *",
    ("all", "TestRepeat"): "* * *",
    ("all", "Reduction"): "* * *"}


def differences(runs):
    """How far rows of one recorded run are from those of another with the same kind of GPU."""
    changes = {line: [] for line in ALIKE}
    for pair in itertools.combinations(runs, 2):
        if len({run.environment["gpu"] for run in pair}) == 1:
            one, other = map(means.values_of, pair)
            for key in one.keys() & other.keys():
                line = next(line for line, patterns in ALIKE.items()
                            if line[1] == key[0].split(".")[0]
                            and all(map(fnmatchcase, key[1:], patterns.split())))
                a, b = (values[key][1].mean for values in (one, other))
                changes[line].append(100 * abs(b - a) / abs(a))
    return markdown_table(["Program", "Rows", "How many", "Half within", "95 of 100 within",
                           "All within"], 2, [
        [program, coded(label), f"{len(found):,}", *(
            f"{sorted(found)[max(0, math.ceil(share * len(found)) - 1)]:.1f}%"
            for share in (0.5, 0.95, 1))] for (label, program), found in changes.items() if found])


def pairs(_runs):
    """How often two healthy runs were not called normal."""
    rows = table_of("healthy_pairs")
    return markdown_table(["Bounds", "Pairs of healthy runs", "Not normal"], 1, [
        [name, str(len(rows)), str(sum(row[column] != "normal" for row in rows))]
        for name, column in (("of all healthy runs", "verdict"),
                             ("made without the two", "held_out"))])


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


def unseen_methods(run, recorded, factor=SLOWER):
    """(file, method) of all of which a verdict says nothing, where they alone are slower."""
    for file, output in run.files.items():
        names = sorted({row["method"] for section in output for row in section.rows})
        for name in names if file not in tsv.PITFALLS else ():
            verdict = Verdict(alone(run, file, name, factor), recorded, partial=True)
            if not any(name in fault.text for fault in verdict.faults):
                yield file, name


def unseen(runs):
    """Which methods could be slower unseen."""
    run, found = next(run for run in runs if run.path.name == "h200x1"), {}
    for part in (run, *further(run)):
        for file, method in unseen_methods(part, runs):
            found.setdefault(file, {})[f"`{method}`"] = None
    yield f"{SLOWER:g} times as slow, each of these alone is not told from a healthy one:"
    yield ""
    yield from markdown_table(["File", "Methods"], 2, [
        [f"{file}.tsv", coded(", ".join(names))] for file, names in found.items()])


def known_causes():
    return table_of("known_spread")


def after_commas(cell):
    return re.split(", *", cell)


def words_of(condition):
    """For readers."""
    compared = COMPARED.fullmatch(condition)
    if not compared:
        return CONDITIONS.get(condition, condition)
    column, relation, wanted = compared.groups()
    shown = size_name if column == "bytes" else str
    return f"{column}: {RELATIONS[relation]}{' or '.join(map(shown, wanted.split('|')))}"


def rows_of(cause):
    """Which rows of its programs it is of, in a phrase; ` marks code."""
    methods = ", ".join(f"`{name}`" if METHOD.fullmatch(name) else name
                        for name in after_commas(cause["methods"]))
    when = map(words_of, cause["when"].split())
    return "; ".join(part for part in (methods, cause["sections"], *when)
                     if part not in ("any", "`any`")) or "any"


def link(text):
    """Markdown for a page in results/evidence/, of a path from the top of the repository, or a
    heading."""
    return f"[{text}](../../{text})" if "/" in text else literal(text)


def causes(_runs):
    """What stands in the row above is left out."""
    head = ("Name", "Programs", "Rows", "Up to", "Why", "Shown in")
    rows, above = [], [""] * len(head)
    for cause in known_causes():
        row = [cause["name"], cause["programs"], coded(rows_of(cause)),
               f"{float(cause['percent']):g}%" + " slower" * (cause["direction"] != "any"),
               coded(cause["why"]), Raw(", ".join(map(link, after_commas(cause["evidence"]))))]
        alike = row[0] == above[0]
        rows.append([cell if not alike or at == 2 or cell != above[at] else ""
                     for at, cell in enumerate(row)])
        above = row
    return markdown_table(head, len(head), rows)
