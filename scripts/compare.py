#!/usr/bin/env python3
"""Compares results folders row by row: is B the same as A, faster or slower?

  compare.py A B                          one run with one run
  compare.py A1 A2 A3 --with B1 B2 B3     the mean of several runs with that of others

Rows are matched by file, section and what was measured: method, GPUs, grid, block, tile,
workload, type, bytes, what a prediction is from, and repeats where the executable does not
choose them. Compared is the last mean of a row: m(addl) (m(ttl) of single launches), m(ovh),
m(cpu) of launches behind a held queue, m(ave_cycle), m(thrput), m(avginstru); of sums m(GB/s),
m(cycle), m(sync).
change_percent is (B-A)/|A|. interval_percent is its half width: of the two 95% intervals of
--stats; where a side has several runs, half the range of its runs instead. Verdicts:
  same      the change is at most the threshold
  faster    it is more, and more than the interval
  slower    (of a throughput or GB/s the larger value is faster)
  unclear   it is more than the threshold, but not than the interval, or one value is nan

stdout: tab-separated rows, those that are the same only with --all; then, as comments, what
only one side has. stderr: the counts, and how the runs of B differ from those of A by more than
healthy machines do (docs/repeatability.md). A row has moved when it is not the same or only one
side has it. Exit codes: 0 B is as A; 1 it is not, or of as many GPUs one side lacks a file or a
section, or the output cannot be written; 2 bad usage, also what cannot be read or has no row in common. With
--allow, or where the GPUs differ, B is as A if at most so many percent of the rows have moved.
"""

import math
import sys
from collections import namedtuple

from parts import command_line, tsv

KEYS = ("section", "method", "gpus", "rep", "blk", "thrd", "tile", "wkld", "type", "bytes",
        "cost")
OTHER_NAMES = {"gpus": ("GPUCount", "GPUcount"), "wkld": ("idea(wkld)",), "thrd": ("thrd", "more")}
# Chosen by the executable, so not part of what was asked for; an older one may have chosen
# otherwise.
ADAPTED = {"ovh": ("rep", "wkld"), "cpu": ("rep",), "thrput": ("rep",)}
MORE_IS_FASTER = ("thrput", "GB/s")
UNITS = {**dict.fromkeys(("ttl", "addl", "ovh", "cpu", "wkld", "avginstru"), "ns"),
         **dict.fromkeys(("ave_cycle", "cycle", "sync"), "cycles"),
         "thrput": "operations/cycle", "GB/s": "GB/s"}
ALLOWED = 3  # percent
VERDICTS = ("same", "faster", "slower", "unclear")

# One row's value: mean, half width of its interval, text; the row where it is of one.
Value = namedtuple("Value", "mean half_width text row", defaults=(None,))
Comparison = namedtuple("Comparison", "a b change interval verdict")


def say(text):
    print(f"compare.py: {text}", file=sys.stderr)


def quantity_of(section):
    """Name of the last mean: "ovh" of m(ovh); None where a section has none. Where launches
    are timed in several ways, that of the CPU's clock, which every row has; of sums the rate."""
    means = [column for column in section.header if column.startswith("m(")]
    mean = next((column for column in ("m(cpu)", "m(GB/s)") if column in means), (means or [""])[-1])
    odd = [column for column in means
           if column[-1] != ")" or column == mean and column[2:-1] not in UNITS]
    if odd:
        raise tsv.TsvError(f"{section.where}, column {tsv.shown(odd[0])}: no such mean is known")
    return mean[2:-1] or None


def key_of(section, quantity, row):
    def cell(key):
        if key in ADAPTED.get(quantity, ()):
            return "nan"
        if key == "rep" and quantity == "addl" and row["rep"] != "1":
            return "many"  # the length of a series is adapted, a single launch is one
        columns = OTHER_NAMES.get(key, (key,))
        return next((row[column] for column in columns if column in row), "nan")

    return section.title, *(cell(key) for key in KEYS[1:])


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


def combine(runs):
    """values_of() several runs: means, and half the range of the runs as the half width.
    A row that one of them lacks is not there."""
    if len(runs) == 1:
        return runs[0]
    combined = {}
    for file in set.intersection(*map(set, runs)):
        rows = combined[file] = {}
        for key in runs[0][file]:
            if all(key in run[file] for run in runs):
                means = [run[file][key][1].mean for run in runs]
                mean = sum(means) / len(means)
                rows[key] = (runs[0][file][key][0],
                             Value(mean, (max(means) - min(means)) / 2, f"{mean:.3f}"))
    return combined


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


def only_in(mine, other):
    """What `other` lacks: (rows, text, whether it is a whole file or section)."""
    for file, rows in mine.items():
        theirs = other.get(file, {})
        if not theirs:
            yield len(rows), f"{file}, all {len(rows)} rows", True
            continue
        titles = {key[0] for key in theirs}
        for title in dict.fromkeys(key[0] for key in rows):
            missing = [key for key in rows if key[0] == title and key not in theirs]
            if title not in titles:
                yield len(missing), f"{file}, section {title}", True
            else:
                yield from ((1, "\t".join((file, *key)), False) for key in missing)


def table(compared, only, show_all):
    yield "\t".join(("file", *KEYS, "A", "B", "change_percent", "interval_percent", "verdict"))
    for (file, key), row in compared.items():
        if show_all or row.verdict != "same":
            figures = (f"{round(value, 3) + 0.0:.3f}" for value in (row.change, row.interval))
            yield "\t".join((file, *key, row.a, row.b, *figures, row.verdict))
    for letter, entries in zip("AB", only):
        yield from (f"# only in {letter}: {text}" for _, text, _ in entries)


def percentage(text):
    value = float(text)
    if not 0 <= value < math.inf:
        raise ValueError
    return value


def parse_arguments():
    parser = command_line.Parser(description=__doc__)
    parser.add_argument("folders", nargs="+", metavar="DIR")
    parser.add_argument("--with", dest="others", nargs="+", metavar="DIR",
                        help="the folders of B, where all others are those of A")
    parser.add_argument("--threshold", type=percentage, default=2.0, metavar="PERCENT",
                        help="largest change that is still the same (default: 2)")
    parser.add_argument("--allow", type=percentage, metavar="PERCENT",
                        help=f"largest share of rows that may have moved (default where the GPUs "
                        f"differ: {ALLOWED})")
    parser.add_argument("--all", action="store_true", help="print the rows that are the same too")
    parser.add_simulated()
    options = parser.parse_args()
    if options.others is None:
        if len(options.folders) != 2:
            parser.error("two folders are needed, or --with")
        options.others = [options.folders.pop()]
    return options


def work():
    options = parse_arguments()
    sides = [[tsv.Run(path, options.simulated) for path in paths]
             for paths in (options.folders, options.others)]
    tsv.refuse_mixed([run for runs in sides for run in runs])
    a, b = (combine([values_of(run) for run in runs]) for runs in sides)
    compared = {(file, key): compare(quantity, value, b[file][key][1], options.threshold)
                for file in a if file in b
                for key, (quantity, value) in a[file].items() if key in b[file]}
    if not compared:
        raise tsv.TsvError("nothing to compare: the folders have no row in common")
    only = list(only_in(a, b)), list(only_in(b, a))
    allowed, faults = options.allow, []
    differ = len({run.environment.get("gpu") for runs in sides for run in runs}) > 1
    if differ and allowed is None:
        allowed = ALLOWED
    if allowed is None:
        from reporting import verdict  # which needs this script
        faults = [fault for run in sides[1]
                  for fault in verdict.Verdict(run, sides[0], partial=True, chosen=True).faults]
    if sides[0][0].simulated:
        print(tsv.SIMULATED)
        say("simulated rows, not measured")
    for letter, runs in zip("AB", sides):
        for run in runs:
            print(f"# {letter}: " + " ".join((f"{run.path}: {run.about()}.", *run.doubts())))
    if differ:
        say("warning: the GPUs differ")
    for line in table(compared, only, options.all):
        print(line)

    verdicts = [row.verdict for row in compared.values()]
    alone = sum(rows for entries in only for rows, _, _ in entries)
    moved = len(verdicts) - verdicts.count("same") + alone
    share = 100 * moved / (len(verdicts) + alone)
    whole = [text for entries in only for _, text, is_whole in entries if is_whole]
    say(f"{len(verdicts)} rows on both sides: "
        + ", ".join(f"{verdicts.count(name)} {name}" for name in VERDICTS)
        + f"; {alone} on one side only")
    say(f"{moved} rows ({share:.1f}%) have moved by more than {options.threshold:g}%"
        + ("" if allowed is None else f"; {allowed:g}% may"))
    for text in whole:
        say(f"missing on one side: {text}")
    if allowed is not None:
        return 1 if whole or share > allowed else 0
    for fault in faults:
        say(fault.text)
    as_many = len({run.gpus for runs in sides for run in runs}) == 1
    return 1 if whole and as_many or faults else 0


if __name__ == "__main__":
    command_line.main(work, "compare.py")
