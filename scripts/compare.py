#!/usr/bin/env python3
"""Compares results folders row by row: is B the same as A, faster or slower?

  compare.py A B                          one run with one run
  compare.py A1 A2 A3 --with B1 B2 B3     the mean of several runs with that of others

Rows are matched by file, section and what was measured: method, GPUs, grid, block, tile,
workload, type, bytes, what a prediction is from, nodes, processes, and repeats where the
executable does not choose them. Compared is the last mean of a row: m(addl) (m(ttl) of single
launches), m(ovh), m(cpu) of launches behind a held queue, m(ave_cycle), m(thrput),
m(avginstru), m(op); of sums m(GB/s), m(cycle), m(sync).
change_percent is (B-A)/|A|. interval_percent is its half width: of the two 95% intervals of
--stats; where a side has several runs, half the range of its runs instead. Verdicts:
  same      the change is at most the threshold
  faster    it is more, and more than the interval
  slower    (of a throughput or GB/s the larger value is faster)
  unclear   it is more than the threshold, but not than the interval, or one value is nan

stdout: tab-separated rows, those that are the same only with --all; then, as comments, what
only one side has. stderr: the counts, how many rows of each group are the same, and how the runs
of B differ from those of A by more than healthy machines do (docs/repeatability.md). A row has
moved when it is not the same or only one side has it. With --allow, or where the GPUs differ, B is
as A if at most so many percent of the rows have moved.

Exit codes: 0 B is as A; 1 it is not, or of as many GPUs one side lacks a file or a section, or B a
method, or the output cannot be written; 2 bad usage, also what cannot be read or has no row in common.
"""

import math
import sys

from parts import command_line, tsv
from parts.means import KEYS, VERDICTS, Value, compare, values_of
from reporting import bounds, groups
from reporting.verdict import Verdict

ALLOWED = 3  # percent
GPUS = KEYS.index("gpus") + 1


def say(text):
    print(f"compare.py: {text}", file=sys.stderr)


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


def only_in(mine, other, runs, by_method):
    """What `other`, the rows of `runs`, lacks: (rows, text, whether it is a whole file or section,
    or by_method a whole method)."""
    for file, rows in mine.items():
        theirs = other.get(file, {})
        if rows and not theirs:
            yield len(rows), f"{file}, all {len(rows)} rows", True
            continue
        titles = {key[0] for key in theirs}
        there = {key[:GPUS] for key in theirs}
        for title in dict.fromkeys(key[0] for key in rows):
            missing = [key for key, (_, value) in rows.items()
                       if key[0] == title and key not in theirs
                       and (value.row is None or all(run.files[file].should_have(
                           value.row, title, key[:GPUS] in there) for run in runs))]
            if title not in titles and missing:
                yield len(missing), f"{file}, section {title}", True
                continue
            methods = {key[1] for key in theirs if by_method and key[0] == title}
            for method in dict.fromkeys(key[1] for key in missing):
                of_it = [key for key in missing if key[1] == method]
                if by_method and method not in methods:
                    yield len(of_it), f"{file}, section {title}, method {method}", True
                else:
                    yield from ((1, "\t".join((file, *key)), False) for key in of_it)


def table(compared, only, show_all):
    yield "\t".join(("file", *KEYS, "A", "B", "change_percent", "interval_percent", "verdict"))
    for (file, key), row in compared.items():
        if show_all or row.verdict != "same":
            numbers = (f"{round(value, 3) + 0.0:.3f}" for value in (row.change, row.interval))
            yield "\t".join((file, *key, row.a, row.b, *numbers, row.verdict))
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
    only = list(only_in(a, b, sides[1], True)), list(only_in(b, a, sides[0], False))  # B may have new methods
    allowed, faults = options.allow, []
    differ = len({run.environment.get("gpu") for runs in sides for run in runs}) > 1
    if differ and allowed is None:
        allowed = ALLOWED
    if allowed is None:
        faults = [fault for run in sides[1]
                  for fault in Verdict(run, sides[0], True, bounds.read(close=True), chosen=True).faults]
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
    agreed = groups.agreement((file, key[1], row.verdict) for (file, key), row in compared.items())
    alone = sum(rows for entries in only for rows, _, _ in entries)
    moved = len(verdicts) - verdicts.count("same") + alone
    share = 100 * moved / (len(verdicts) + alone)
    whole = [text for entries in only for _, text, is_whole in entries if is_whole]
    say(f"{len(verdicts)} rows on both sides: "
        + ", ".join(f"{verdicts.count(name)} {name}" for name in VERDICTS)
        + f"; {alone} on one side only")
    say(f"{moved} rows ({share:.1f}%) have moved by more than {options.threshold:g}%"
        + ("" if allowed is None else f"; {allowed:g}% may"))
    say("the same: " + "; ".join(f"{name} {share}" for name, share in agreed.items()))
    for text in whole:
        say(f"missing on one side: {text}")
    for fault in faults:
        say(fault.text)
    as_many = len({run.gpus for runs in sides for run in runs}) == 1
    other = whole and as_many or faults or allowed is not None and share > allowed
    say("B is not as A" if other else "B is as A" if allowed is not None or not moved else
        "B is as A: healthy machines differ as much")
    return 1 if other else 0


if __name__ == "__main__":
    command_line.main(work, "compare.py")
