#!/usr/bin/env python3
"""Compares results folders row by row: is B the same as A, faster or slower?

  compare.py A B                          one run with one run
  compare.py A1 A2 A3 --with B1 B2 B3     the mean of several runs with that of others

Rows are matched by file, section and what was measured: method, GPUs, grid, block, tile,
workload, type, bytes, what a prediction is from, nodes, processes, and repeats where the
executable does not choose them. Compared is the last mean of a row: m(addl) (m(ttl) of single
launches), m(ovh), m(cpu) of launches behind a held queue, m(ave_cycle),
m(diff_thrput), m(avginstru), m(op); of sums m(GB/s), m(cycle), m(sync).
change_percent is (B-A)/|A|. interval_percent is its half width: of the two 95% intervals of
--stats; where a side has several runs, half the range of its runs instead. Verdicts:
  same      the change is at most the threshold
  faster    it is more, and more than the interval
  slower    (of a throughput or GB/s the larger value is faster)
  unclear   it is more than the threshold, but not than the interval, or one value is nan

stdout: comments, a line for each group of rows; then tab-separated rows, without columns that all
of them lack; then, as comments, what only one side has. The rows are those that have moved, are not
the same, and by more than between healthy machines (docs/normal.md); with --all all of them.
stderr: counts, how B differs from A by more than healthy machines do, and the verdict with its
reason. With --allow, or where the GPUs differ, B is as A if at most so many percent of the rows
have moved, also those that only one side has; all that have moved are shown then.

Exit codes: 0 B is as A; 1 it is not, or of as many GPUs one side lacks a file or a section, or B a
method, or the output cannot be written; 2 bad usage, also what cannot be read or has no row in
common.
"""

import math
import statistics
import sys
from collections import defaultdict

from parts import command_line, tsv
from parts.means import KEYS, MORE_IS_FASTER, VERDICTS, Value, compare, values_of
from reporting import bounds
from reporting.verdict import Verdict

ALLOWED = 3  # percent


def say(text):
    print(f"compare.py: {text}", file=sys.stderr)


def combine(runs):
    """values_of() several runs: means, and half the range of the runs as the half width.
    A row that one of them lacks is not there."""
    if len(runs) == 1:
        return runs[0]
    combined = {}
    for key in (key for key in runs[0] if all(key in run for run in runs)):
        means = [run[key][1].mean for run in runs]
        mean = sum(means) / len(means)
        combined[key] = (runs[0][key][0],
                         Value(mean, (max(means) - min(means)) / 2, f"{mean:.3f}"))
    return combined


def only_in(mine, other, runs, by_method):
    """What `other`, the rows of `runs`, lacks: (keys of the rows, text, whether it is a whole
    file or section, or by_method a whole method)."""
    lone = defaultdict(lambda: defaultdict(list))  # file -> section
    there = {key[:end] for key in other for end in (1, 2, 3)}  # files, sections, methods
    for key, (_, value) in mine.items():
        if key[:1] not in there or key not in other and (value.row is None or all(
                run.files[key[0]].should_have(value.row) for run in runs)):
            lone[key[0]][key[1]].append(key)
    for file, sections in lone.items():
        if (file,) not in there:
            keys = sum(sections.values(), [])
            yield keys, f"{file}, all {len(keys)} rows", True
            continue
        for title, keys in sections.items():
            if (file, title) not in there:
                yield keys, f"{file}, section {title}", True
                continue
            for method in dict.fromkeys(key[2] for key in keys):
                yield ([key for key in keys if key[2] == method],
                       f"{file}, section {title}, method {method}",
                       by_method and (file, title, method) not in there)


def words(key):
    """A row, without the cells that it lacks."""
    return [*key[:3], *(f"{name}={cell}" for name, cell in zip(KEYS[2:], key[3:]) if cell != "nan")]


def by_group(compared, a):
    """A line for each group of rows; a: values_of() the first side."""
    def slower(one):
        key, row = one
        return -row.change if a[key][0] in MORE_IS_FASTER else row.change

    def in_words(percent):
        text = f"{abs(percent):.1f}%"
        return text if text == "0.0%" else f"{text} {'slower' if percent > 0 else 'faster'}"

    found = {name: [] for name in bounds.GROUP_NAMES}
    for one in compared.items():
        found[bounds.group_of(one[0][0], one[0][2])].append(one)
    for name, rows in found.items():
        known = [one for one in rows if not math.isnan(one[1].change)]
        most = max(known, key=lambda one: abs(one[1].change), default=None)
        if rows:
            yield (f"# {name}: {len(rows):,} rows, "
                   f"{sum(row.verdict != 'same' for _, row in rows):,} moved" + (
                       f", median {in_words(statistics.median(map(slower, known)))}, most "
                       f"{in_words(slower(most))}: {' '.join(words(most[0]))}" if known else ""))


def table(rows):
    """rows: [(key, Comparison)]"""
    lines = [(*key, row.a, row.b,
              *(f"{round(value, 3) + 0.0:.3f}" for value in (row.change, row.interval)),
              row.verdict) for key, row in rows]
    head = ("file", *KEYS, "A", "B", "change_percent", "interval_percent", "verdict")
    columns = [i for i, name in enumerate(head)
               if name in "AB" or any(line[i] != "nan" for line in lines)]
    for cells in [head, *lines] if lines else ():
        yield "\t".join("-" if cells[i] == "nan" else cells[i] for i in columns)


def lone_rows(only, show_all):
    """What only one side has; only: two lists of only_in()."""
    for letter, entries in zip("AB", only):
        for keys, text, whole in entries:
            texts = ["\t".join(words(key)) for key in keys] if show_all else [
                text if whole else f"{text}: {len(keys)} rows"]
            yield from (f"# only in {letter}: {one}" for one in texts)


def beyond_healthy(sides, values, moved):
    """How B differs from A by more than healthy machines do: Faults, and of the keys of the rows
    that have moved those that they are of, and those that cannot be judged. values: values_of()
    each run of B."""
    faults, found, unjudged = [], set(), set()
    for run, known in zip(sides[1], values):
        verdict = Verdict(run, sides[0], True, bounds.read(close=True), chosen=True, as_is=True)
        keys = {id(value.row): key for key, (_, value) in known.items()}
        unjudged.update(keys[id(row.row)] for row in verdict.rows if math.isnan(row.low))
        for fault in verdict.faults:
            rows = {keys[id(row.row)] for row in fault.rows} & moved
            if rows or not fault.rows:
                faults.append(fault)
                found |= rows
    return faults, found, (unjudged & moved) - found


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
    values = [[values_of(run) for run in runs] for runs in sides]
    a, b = map(combine, values)
    compared = {key: compare(quantity, value, b[key][1], options.threshold)
                for key, (quantity, value) in a.items() if key in b}
    if not compared:
        raise tsv.TsvError("nothing to compare: the folders have no row in common")
    only = (list(only_in(a, b, sides[1], True)),
            list(only_in(b, a, sides[0], False)))  # B may have new methods
    moved = {key for key, row in compared.items() if row.verdict != "same"}
    allowed, faults, shown, unjudged = options.allow, [], moved, set()
    differ = len({run.environment.get("gpu") for runs in sides for run in runs}) > 1
    if differ and allowed is None:
        allowed = ALLOWED
    if allowed is None:
        faults, shown, unjudged = beyond_healthy(sides, values[1], moved)
        shown |= {key for key in moved if math.isnan(compared[key].change)}  # value or none
    if sides[0][0].simulated:
        print(tsv.SIMULATED)
        say("simulated rows, not measured")
    for letter, runs in zip("AB", sides):
        for run in runs:
            print(f"# {letter}: " + " ".join((f"{run.path}: {run.about()}.", *run.doubts())))
    if differ:
        say("warning: the GPUs differ")
    rows = [one for one in compared.items() if options.all or one[0] in shown]
    for line in (*by_group(compared, a), *table(rows), *lone_rows(only, options.all)):
        print(line)

    verdicts = [row.verdict for row in compared.values()]
    alone = sum(len(keys) for entries in only for keys, *_ in entries)
    share = 100 * (len(moved) + alone) / (len(verdicts) + alone)
    whole = [text for entries in only for *_, text, is_whole in entries if is_whole]
    as_many = len({run.gpus for runs in sides for run in runs}) == 1
    say(f"{len(verdicts)} rows on both sides: "
        + ", ".join(f"{verdicts.count(name)} {name}" for name in VERDICTS)
        + f"; {alone} on one side only")
    further = f"{len(shown)} of them further than between healthy machines" + (
        f", {len(unjudged)} not judged: wide intervals or a low clock" * bool(unjudged))
    say(f"{len(moved) + alone} rows ({share:.1f}%) have moved by more than {options.threshold:g}%, "
        "or only one side has them; " + (further if allowed is None else f"{allowed:g}% may"))
    for text in whole:
        say(f"missing on one side{'' if as_many else ', of other numbers of GPUs'}: {text}")
    for fault in faults:
        say(fault.text)
    reasons = ["one side lacks what is missing above"] * bool(whole and as_many)
    if allowed is None and (faults or shown):
        reasons.append(f"findings above: {len(faults)}, rows beyond bounds: {len(shown)}")
    reasons += ["too many rows have moved"] * (allowed is not None and share > allowed)
    if reasons:
        say(f"B is not as A: {'; '.join(reasons)}")
    else:
        say("B is as A" + ("" if allowed is not None or not moved else
                           ": healthy machines differ as much" if moved - unjudged else
                           ": what moved cannot be judged"))
    return 1 if reasons else 0


if __name__ == "__main__":
    command_line.main(work, "compare.py")
