#!/usr/bin/env python3
"""Says on a GPU machine whether new executables measure what old ones do: what simulated GPUs
cannot see, as host time between two reads of a clock.

usage: in_turns.py [--turns N] [--run "PROGRAM ARGUMENTS"]... [--keep FOLDER] OLD NEW
       in_turns.py --judge FOLDER

OLD and NEW are folders of executables. Each turn runs the old (A) and the new (B) as A B B A, so
that what drifts evenly moves both alike. --turns: 6, at least 3; --run: those of RUNS; --keep:
outputs go there, beside those of turns that are there already; --judge: of kept outputs alone.
Beside this file it needs the folder `scripts` and nothing else.

Rows are matched by their labels. The median of all rows may shift by 1%. A row, the median row of
a method in a section, or that of a section has moved if B's median differs from A's by more than
1%, by more than the medians of A's two halves (first and last of each turn) do, and by more than
runs of the same build would: the difference of two medians, in its standard errors by the spread
of the runs, is beyond what one of a hundred comparisons of two same builds has anywhere. (Two
runs of one build agree in 70% of the rows of launches; single rows cannot be held to 1%.)

Exit codes: 0 nothing has moved; 1 something has; 2 bad usage, or a program failed.
"""
import argparse
import collections
import math
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))
from parts import means, tsv  # noqa: E402

RUNS = ("ImplicitBarrier", "Reduction", "Stencil")
TURN = ("A1", "B1", "B2", "A2")
ALLOWED = 0.01  # of the value
LEAST = 3  # turns; two runs on one of two levels would look sure
CHANCE = 0.01  # that a comparison of two same builds finds anything
ROUNDED = 0.0005  # half of the last digit of three decimals
SHOWN = 5

# Shift of the median of B as a part of A's; that between A's halves; chance of it in the same build.
Shift = collections.namedtuple("Shift", "what part own chance")


class Stop(Exception):
    """Why nothing can be judged."""


def measure(folders, runs, turns, keep):
    """Writes FOLDER/RUN.TURN.PLACE.tsv of each run, in turns."""
    first = 1 + max((int(path.name.split(".")[-3]) for path in keep.glob("*.A1.tsv")), default=0)
    for turn in range(first, first + turns):
        for line in runs:
            program, *arguments = line.split()
            for place in TURN:
                done = subprocess.run([folders[place[0]] / program, *arguments],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                if done.returncode != 0:
                    raise Stop(f"{folders[place[0]] / program} ended with {done.returncode}: "
                               f"{done.stderr.decode(errors='replace')[-500:]}")
                name = "_".join(part.replace("/", "_") for part in line.split())
                (keep / f"{name}.{turn}.{place}.tsv").write_bytes(done.stdout)
            print(f"turn {turn}: {line}", file=sys.stderr, flush=True)


def read(keep):
    """{(run, section, method, labels): {place: [value of each turn]}} of rows that all outputs
    have; how many others there are."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    paths = sorted(keep.glob("*.tsv"))
    outputs = collections.Counter()
    for path in paths:
        run, _, place = path.stem.rsplit(".", 2)
        outputs[run] += 1
        for section in tsv.read(path):
            quantity = means.quantity_of(section)
            for row in section.rows if quantity else ():
                title, *labels = means.key_of(section, quantity, row)
                value = means.value_of(row, quantity).mean
                if not math.isnan(value):
                    found[run, title, *labels][place].append(value)
    whole = {key: values for key, values in found.items()
             if sum(map(len, values.values())) == outputs[key[0]]}
    return whole, len(found) - len(whole)


def chance_of(t, freedom):
    """Of |Student's t| that is greater, for an even number of degrees of freedom."""
    angle = math.atan2(t, math.sqrt(freedom))
    term = total = 1.0
    for k in range(1, freedom // 2):
        term *= (2 * k - 1) / (2 * k) * math.cos(angle) ** 2
        total += term
    return max(0.0, 1 - math.sin(angle) * total)


def shift_of(what, values):
    """values: {place: [a number of each turn]}"""
    a, b = values["A1"] + values["A2"], values["B1"] + values["B2"]
    first, last = (statistics.median(values[place]) for place in ("A1", "A2"))
    unit = abs(statistics.median(a)) or 1
    # The mean square of both, in place of a robust measure: rows with two levels, of which
    # either may be the median, must not seem to be sure.
    spread = math.sqrt((statistics.variance(a) + statistics.variance(b)) / 2 + ROUNDED ** 2)
    error = math.sqrt(math.pi / 2) * spread * math.sqrt(2 / len(a))  # of two medians' difference
    difference = statistics.median(b) - statistics.median(a)
    return Shift(what, difference / unit, abs(last - first) / unit,
                 chance_of(abs(difference) / error, 2 * len(a) - 2))


def median_row(rows):
    """For each run, the median of these rows, each as a part of its own median."""
    parts = collections.defaultdict(list)
    for values in rows:
        unit = abs(statistics.median(sum(values.values(), []))) or 1
        for place in TURN:
            parts[place].append([value / unit for value in values[place]])
    return {place: [statistics.median(turn) for turn in zip(*rows_of_place)]
            for place, rows_of_place in parts.items()}


def judge(rows):
    """(shifts of rows, of median rows, those of both that have moved) of what read() gives."""
    groups = collections.defaultdict(list)
    for (run, title, method, *labels), values in rows.items():
        groups[f"{run}, {title}"].append(values)
        groups[f"{run}, {title}, {method}"].append(values)
    singles = [shift_of(" ".join(word for word in key if word != "nan"), values)
               for key, values in rows.items()]
    medians = [shift_of(f"median row of {what}", median_row(values))
               for what, values in groups.items() if len(values) > 1]
    most = CHANCE / (len(singles) + len(medians))
    return singles, medians, [
        shift for shift in medians + singles
        if abs(shift.part) > max(ALLOWED, shift.own) and shift.chance < most]


def report(rows, others):
    """Prints what has shifted; whether something has moved."""
    singles, medians, moved = judge(rows)
    middle = statistics.median(shift.part for shift in singles)
    turns = len(next(iter(rows.values()))["A1"])
    print(f"{len(singles)} rows, {turns} turns"
          + f"; {others} rows are not in all outputs" * (others > 0))
    print(f"median of all rows: {100 * middle:+.2f}% (within {100 * ALLOWED:g}%)")
    print(f"largest shifts of {len(medians)} median rows and of rows:")
    for shifts in (medians, singles):
        for shift in sorted(shifts, key=lambda shift: -abs(shift.part))[:SHOWN]:
            print(f"  {100 * shift.part:+.2f}%, between A's halves {100 * shift.own:.2f}%, "
                  f"chance {shift.chance:.1g}: {shift.what}")
    for shift in moved:
        print(f"MOVED by {100 * shift.part:+.2f}%: {shift.what}")
    if abs(middle) > ALLOWED:
        print("MOVED: the median of all rows")
    return bool(moved) or abs(middle) > ALLOWED


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--turns", type=int, default=6)
    parser.add_argument("--run", action="append")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--judge", type=Path)
    parser.add_argument("folders", nargs="*", type=lambda text: Path(text).resolve())
    options = parser.parse_args()
    if len(options.folders) != (0 if options.judge else 2) or options.turns < 1:
        parser.error("two folders of executables, or --judge FOLDER")
    try:
        with tempfile.TemporaryDirectory() as temporary:
            keep = options.judge or options.keep or Path(temporary)
            keep.mkdir(parents=True, exist_ok=True)
            if options.folders:
                measure(dict(zip("AB", options.folders)), options.run or RUNS, options.turns, keep)
            rows, others = read(keep)
        if not rows or len(next(iter(rows.values()))["A1"]) < LEAST:
            raise Stop(f"no row is in all outputs of {LEAST} turns or more")
        return int(report(rows, others))
    except (Stop, tsv.TsvError, OSError) as error:
        print(f"in_turns.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
