#!/usr/bin/env python3
"""Compares two results folders row by row: is B the same as A, faster or slower?

Rows are matched by file, section and the keys that the output shows. A key is nan
where a row has none and where the executables adapt it: counts of operations, the
length of a series of launches (rep 1 is a single one), the unit of the sleep kernel.

Compared is the mean of what a row is for: m(ovh), m(addl) (m(ttl) for single
launches), m(ave_cycle), m(thrput) or m(avginstru). change_percent is (B-A)/|A|,
interval_percent the half width of its 95% interval, sqrt(ci95(A)^2+ci95(B)^2)/|A|;
what was measured without --stats has none. Verdicts:
  same     change and interval are at most the threshold
  faster   the change is beyond the threshold and the interval excludes zero
  slower   (of a throughput the larger value is faster)
  unclear  the interval is too wide to say, or a value is nan

stdout: tab-separated rows, those that are the same only with --all; then, as comments,
the rows that only one folder has. stderr: the counts. Exit codes: 0 no row is faster
or slower; 1 a row is; 2 bad usage, also what cannot be read or has no row in common.
"""

import argparse
import math
import os
import sys
from collections import namedtuple
from pathlib import Path

FILES = ("ImplicitBarrier.tsv", "BenchmarkIntraSM.tsv", "BenchmarkInterSM.tsv",
         "BenchmarkInterSM.cuda11.tsv", "TestRepeat.tsv", "TestRepeat.cuda11.tsv")
ENVIRONMENT = "environment.tsv"
KEYS = ("section", "method", "gpus", "rep", "blk", "thrd", "tile", "wkld")
# A section is known by the column that it compares: titles are free text.
QUANTITIES = ("ovh", "addl", "thrput", "avginstru", "ave_cycle")
ADAPTED_REP = ("ovh", "thrput")
VERDICTS = ("same", "faster", "slower", "unclear")

Folder = namedtuple("Folder", "path files environment")
Comparison = namedtuple("Comparison", "a b change interval verdict")


class UsageError(Exception):
    """What the caller has to change; one line."""


def say(message):
    print(f"compare.py: {message}", file=sys.stderr)


def number(cells, column):
    return float(cells.get(column, "nan"))


def key_of(section, quantity, cells):
    """The quantity, then the values of KEYS as text."""
    def key(column):
        return f"{number(cells, column):.12g}"  # one spelling, so that 5.000 is 5

    rep = "nan" if quantity in ADAPTED_REP else key("rep")
    wkld = "nan"
    if quantity == "addl" and "idea(wkld)" in cells:
        wkld = key("idea(wkld)")
        rep = "1" if rep == "1" else "nan"  # the length of a series is adapted, one launch is one
    gpus = key("GPUcount" if "GPUcount" in cells else "GPUCount")
    shape = map(key, ("blk", "thrd", "tile"))
    return quantity, section, cells["method"], gpus, rep, *shape, wkld


def require(condition, where, what):
    if not condition:
        raise UsageError(f"{where}: {what}")


def quantity_of(header, where):
    require(len(set(header)) == len(header), where, "a column name stands twice")
    quantity = next((name for name in QUANTITIES if f"m({name})" in header), None)
    if quantity is None:
        say(f"warning: {where}: a section without a column to compare")
    return quantity


def cells_of(texts, header, where):
    require(len(texts) == len(header), where, f"{len(texts)} cells in {len(header)} columns")
    for column, text in list(zip(header, texts))[1:]:
        try:
            float(text)
        except ValueError:
            require(False, where, f"{column} is '{text}', not a number")
    return dict(zip(header, texts))


def read_rows(path):
    """key -> cells (column -> text)"""
    rows, header, previous = {}, None, ""
    with open(path, encoding="utf-8", errors="replace") as file:
        for line_number, line in enumerate(file, 1):
            where = f"{path}, line {line_number}"
            require(line.endswith("\n"), where, "the last line is not whole")  # a number may be cut
            if line.startswith("method\t"):
                require(previous.startswith("#"), where, "no title above this header")
                header = line[:-1].split("\t")
                section, quantity = previous[1:].split(":")[0].strip(), quantity_of(header, where)
            elif not line.startswith("#"):
                require(header, where, "a row above any header")
                cells = cells_of(line[:-1].split("\t"), header, where)
                if quantity:
                    key = key_of(section, quantity, cells)
                    require(key not in rows, where, "the same point as in a row above")
                    rows[key] = cells
            previous = line
    return rows


def read_folder(path):
    if not path.is_dir():
        raise UsageError(f"{path} is not a folder")
    present = [name for name in (ENVIRONMENT, *FILES) if (path / name).exists()]
    if not present:
        raise UsageError(f"{path} is not a results folder")
    try:
        files = {name: read_rows(path / name) for name in present if name != ENVIRONMENT}
        text = (path / ENVIRONMENT).read_text("utf-8", "replace") if ENVIRONMENT in present else ""
    except OSError as error:
        raise UsageError(f"cannot read {error.filename}: {error.strerror}") from None
    pairs = (line.split("\t", 1) for line in text.splitlines() if "\t" in line)
    return Folder(path, files, dict(pairs))


def percent(part, whole):
    return 100 * part / abs(whole) if whole else 0.0 if part == 0 else math.nan


def judge(change, interval, threshold, larger_is_faster):
    # Every comparison with nan is false, so nan falls through to unclear.
    if abs(change) <= threshold and interval <= threshold:
        return "same"
    if abs(change) > threshold and abs(change) > interval:
        return "faster" if (change > 0) == larger_is_faster else "slower"
    return "unclear"


def compare_rows(quantity, a, b, threshold):
    # One launch has no additional one. Totals of unlike series are not comparable.
    if quantity == "addl" and a.get("rep") == b.get("rep") and all(
            math.isnan(number(cells, "m(addl)")) for cells in (a, b)):
        quantity = "ttl"
    mean, half_width = f"m({quantity})", f"ci95({quantity})"
    base = number(a, mean)
    change = percent(number(b, mean) - base, base)
    interval = percent(math.hypot(number(a, half_width), number(b, half_width)), base)
    verdict = judge(change, interval, threshold, quantity == "thrput")
    return Comparison(a.get(mean, "nan"), b.get(mean, "nan"), change, interval, verdict)


def rows_only_in(mine, other):
    """(number of rows, text) of what `other` lacks; a missing file is one entry."""
    entries = []
    for name, rows in mine.items():
        if name in other:
            entries += [(1, "\t".join((name, *key[1:]))) for key in rows if key not in other[name]]
        else:
            entries.append((len(rows), f"{name}, all {len(rows)} rows"))
    return entries


def compare_files(a, b, threshold):
    """(file name, key) -> Comparison"""
    compared = {(name, key): compare_rows(key[0], cells, b[name][key], threshold)
                for name in a if name in b
                for key, cells in a[name].items() if key in b[name]}
    if not compared:
        raise UsageError("nothing to compare: the folders have no row in common")
    return compared


def table(folders, compared, only, show_all):
    """The lines of stdout."""
    for letter, folder in zip("AB", folders):
        commit, gpu, count = (folder.environment.get(key, "unknown")
                              for key in ("suite_commit", "gpu", "gpu_count"))
        yield f"# {letter}: {folder.path}, commit {commit}, {gpu} x {count}"
    yield "\t".join(("file", *KEYS, "A", "B", "change_percent", "interval_percent", "verdict"))
    for (name, key), row in compared.items():
        if show_all or row.verdict != "same":
            # + 0.0: no minus before a zero
            figures = (f"{round(value, 3) + 0.0:.3f}" for value in (row.change, row.interval))
            yield "\t".join((name, *key[1:], row.a, row.b, *figures, row.verdict))
    for letter, lines in zip("AB", only):
        yield from (f"# only in {letter}: {text}" for _, text in lines)


def write(lines):
    try:
        for line in lines:
            print(line)
        print(end="", flush=True)
    except OSError as error:
        # Python would flush once more at its end and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # a reader that has seen enough is no error
            raise UsageError(f"cannot write: {error.strerror}") from None


def summarize(compared, only, threshold):
    verdicts = [row.verdict for row in compared.values()]
    counts = [(name, verdicts.count(name)) for name in VERDICTS]
    text = ", ".join(f"{n} {name} ({100 * n / len(verdicts):.1f}%)" for name, n in counts)
    in_a, in_b = (sum(count for count, _ in lines) for lines in only)
    say(f"{len(verdicts)} rows compared at a threshold of {threshold:g}%: {text}")
    say(f"{in_a} rows only in A, {in_b} only in B")
    return 1 if "faster" in verdicts or "slower" in verdicts else 0


def percentage(text):
    value = float(text)
    if not 0 <= value < math.inf:
        raise ValueError
    return value


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(f"{message} (try --help)")


def run():
    parser = Parser(prog="compare.py", allow_abbrev=False, description=__doc__,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs=2, type=Path, metavar="DIR", help="A, then B")
    parser.add_argument("--threshold", type=percentage, default=2.0, metavar="PERCENT",
                        help="largest change that is still the same (default: 2)")
    parser.add_argument("--all", action="store_true", help="print the rows that are the same too")
    options = parser.parse_args()
    a, b = folders = [read_folder(path) for path in options.folders]
    compared = compare_files(a.files, b.files, options.threshold)
    only = rows_only_in(a.files, b.files), rows_only_in(b.files, a.files)
    gpu_a, gpu_b = (folder.environment.get("gpu", "unknown") for folder in folders)
    if gpu_a != gpu_b:
        say(f"warning: the GPUs differ: A {gpu_a}, B {gpu_b}")
    write(table(folders, compared, only, options.all))
    return summarize(compared, only, options.threshold)


if __name__ == "__main__":
    try:
        sys.exit(run())
    except UsageError as error:
        say(error)
        sys.exit(2)
