"""The means of rows: which rows of two runs are of the same, and how their means differ."""

import functools
import math
from collections import namedtuple

from parts import tsv

KEYS = ("section", "method", "gpus", "rep", "blk", "thrd", "tile", "wkld", "type", "bytes",
        "cost", "stream", "reads", "cells", "nodes", "processes")
OTHER_NAMES = {"gpus": ("GPUCount", "GPUcount"), "wkld": ("idea(wkld)",), "thrd": ("thrd", "more")}
MORE_IS_FASTER = ("diff_thrput", "GB/s")
UNITS = {**dict.fromkeys(("ttl", "addl", "ovh", "cpu", "wkld", "avginstru", "exit",
                         "node", "step", "late", "op"), "ns"),
         **dict.fromkeys(("ave_cycle", "cycle", "sync", "exit_cycle"), "cycles"),
         "diff_thrput": "operations/cycle", "GB/s": "GB/s"}
VERDICTS = ("same", "faster", "slower", "unclear")

WORKLOAD, GPUS, BLOCKS = (1 + KEYS.index(key) for key in ("wkld", "gpus", "blk"))  # behind the file

# One row's value: mean, half width of its interval, text; the row where it is of one.
Value = namedtuple("Value", "mean half_width text row", defaults=(None,))
Comparison = namedtuple("Comparison", "a b change interval verdict")


def quantity_of(section):
    """Name of the mean that its rows are judged by: "ovh" of m(ovh); None where it has none."""
    if section.main is None and section.rows and "\tm(" in "\t".join(section.header):
        raise tsv.TsvError(f"{section.where}: no line section[main=NAME] below this header says by "
                           "which mean rows are judged: measure again with this version")
    if section.main and section.main not in UNITS:
        raise tsv.TsvError(f"{section.where}, column m({section.main}): no such mean is known")
    return section.main or None


@functools.lru_cache(maxsize=None)
def _columns(header, chosen):
    """The column of each of KEYS but the first; None where there is none, or the program has chosen
    its value, so that it is not part of what was asked for."""
    def column(key):
        if key == "processes" and "nodes" not in header:
            return None  # those that samples are from
        return next((name for name in OTHER_NAMES.get(key, (key,))
                     if name in header and name not in chosen), None)

    return tuple(column(key) for key in KEYS[1:])


def key_of(section, quantity, row):
    many = quantity == "addl" and row["rep"] != "1"
    return section.title, *(  # the length of a series is adapted, a single launch is one
        "nan" if column is None else "many" if many and column == "rep" else row[column]
        for column in _columns(tuple(section.header), section.chosen))


def value_of(row, quantity):
    return Value(float(row[f"m({quantity})"]), float(row.get(f"ci95({quantity})", "nan")),
                 row[f"m({quantity})"], row)


def values_of(run):
    """{(file, *cells of KEYS): (quantity, Value)} of a run."""
    found = {}
    for file, section in ((file, section) for file, sections in run.files.items()
                          if file not in tsv.PITFALLS  # which has no means
                          for section in sections):
        quantity = quantity_of(section)
        for row in section.rows if quantity else ():
            key, shown = (file, *key_of(section, quantity, row)), quantity
            if quantity == "addl" and row["rep"] == "1":
                shown = "ttl"  # one launch has no additional one
            if key in found:
                raise tsv.TsvError(f"{row.where}: the same point twice: {' '.join(key[2:])}")
            found[key] = shown, value_of(row, shown)
    return found


def compare(quantity, a, b, threshold):
    def percent(part):
        return 100 * part / abs(a.mean) if a.mean else math.nan

    change = 0.0 if a.text == b.text else percent(b.mean - a.mean)
    interval = percent(math.hypot(a.half_width, b.half_width))
    if abs(change) <= threshold:
        verdict = "same"
    elif abs(change) > interval:  # false with nan
        verdict = "faster" if (change > 0) == (quantity in MORE_IS_FASTER) else "slower"
    else:
        verdict = "unclear"
    return Comparison(a.text, b.text, change, interval, verdict)
