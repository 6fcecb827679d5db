"""The means of rows: which rows of two runs are of the same, and how their means differ."""

import functools
import math
from collections import namedtuple

from parts import tsv

KEYS = ("section", "method", "gpus", "rep", "blk", "thrd", "tile", "wkld", "type", "bytes",
        "cost", "stream", "reads", "cells", "nodes", "processes")
OTHER_NAMES = {"gpus": ("GPUCount", "GPUcount"), "wkld": ("idea(wkld)",), "thrd": ("thrd", "more")}
# Chosen by the executable, so not part of what was asked for; an older one may have chosen
# otherwise.
ADAPTED = {"ovh": ("rep", "wkld"), "cpu": ("rep",), "step": ("rep",), "diff_thrput": ("rep",)}
ONCE = "m(module)"  # in a section of what a process does once: too few samples to judge
WHOLE = "m(thrput)"  # of a whole window, with start-up and skew: its difference is judged
MAIN = ("m(cpu)", "m(GB/s)", "m(node)", "m(step)", "m(late)")  # where there are several means
MORE_IS_FASTER = ("diff_thrput", "GB/s")
UNITS = {**dict.fromkeys(("ttl", "addl", "ovh", "cpu", "wkld", "avginstru", "exit",
                         "node", "step", "late", "op"), "ns"),
         **dict.fromkeys(("ave_cycle", "cycle", "sync", "exit_cycle"), "cycles"),
         "diff_thrput": "operations/cycle", "GB/s": "GB/s"}
VERDICTS = ("same", "faster", "slower", "unclear")

# One row's value: mean, half width of its interval, text; the row where it is of one.
Value = namedtuple("Value", "mean half_width text row", defaults=(None,))
Comparison = namedtuple("Comparison", "a b change interval verdict")


def quantity_of(section):
    """Name of the mean of MAIN or of the last one: "ovh" of m(ovh); None where a section has
    none, or none to judge."""
    if ONCE in section.header:
        return None
    means = [column for column in section.header if column.startswith("m(")]
    mean = next((column for column in MAIN if column in means), means[-1] if means else "")
    if mean == WHOLE:
        return None
    odd = [column for column in means
           if column[-1] != ")" or column == mean and column[2:-1] not in UNITS]
    if odd:
        raise tsv.TsvError(f"{section.where}, column {tsv.shown(odd[0])}: no such mean is known")
    return mean[2:-1] or None


@functools.lru_cache(maxsize=None)
def _columns(header, quantity):
    """The column of each of KEYS but the first; None where there is none, or its value was chosen
    by the executable."""
    def column(key):
        if key == "processes" and "nodes" not in header:
            return None  # those that samples are from
        names = () if key in ADAPTED.get(quantity, ()) else OTHER_NAMES.get(key, (key,))
        return next((name for name in names if name in header), None)

    return tuple(column(key) for key in KEYS[1:])


def key_of(section, quantity, row):
    many = quantity == "addl" and row["rep"] != "1"
    return section.title, *(  # the length of a series is adapted, a single launch is one
        "nan" if column is None else "many" if many and column == "rep" else row[column]
        for column in _columns(tuple(section.header), quantity))


def value_of(row, quantity):
    return Value(float(row[f"m({quantity})"]), float(row.get(f"ci95({quantity})", "nan")),
                 row[f"m({quantity})"], row)


def values_of(run):
    """{file: {key: (quantity, Value)}} of a run."""
    files = {}
    for file, sections in run.files.items():
        if file in tsv.PITFALLS:
            continue  # outcomes, no means
        rows = files[file] = {}
        for section in sections:
            quantity = quantity_of(section)
            for row in section.rows if quantity else ():
                key, shown = key_of(section, quantity, row), quantity
                if quantity == "addl" and row["rep"] == "1":
                    shown = "ttl"  # one launch has no additional one
                if key in rows:
                    raise tsv.TsvError(f"{row.where}: the same point twice: {' '.join(key[1:])}")
                rows[key] = shown, value_of(row, shown)
    return files


def compare(quantity, a, b, threshold):
    def percent(part):
        return 100 * part / abs(a.mean) if a.mean else math.nan

    if a.text == b.text:
        return Comparison(a.text, b.text, 0.0, percent(math.hypot(a.half_width, b.half_width)),
                          "same")
    change = percent(b.mean - a.mean)
    interval = percent(math.hypot(a.half_width, b.half_width))
    if abs(change) <= threshold:
        verdict = "same"
    elif abs(change) > interval:  # false with nan
        verdict = "faster" if (change > 0) == (quantity in MORE_IS_FASTER) else "slower"
    else:
        verdict = "unclear"
    return Comparison(a.text, b.text, change, interval, verdict)
