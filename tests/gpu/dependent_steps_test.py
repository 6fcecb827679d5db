"""GPU test: what advise.py says of dependent steps, by recorded rows of such GPUs, beside what a
program measures that shares no kernel or clock with ImplicitBarrier (dependent_steps.cu). Prints its
table and what is wrong.

usage: dependent_steps_test.py PROGRAM [ARGUMENT...]
"""
import csv
import re
import subprocess
import sys
from pathlib import Path

ADVISE = Path(__file__).resolve().parents[2] / "scripts/advise.py"
# Of intervals, which hold for nine cases in ten of many machines; these are of one.
INSIDE = 0.8
# Than the fastest way, at most: what is ranked first, and what is told to take.
FIRST_SLOWER, TAKEN_SLOWER = 0.1, 0.4


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode == 77:
        print(done.stdout)
        sys.exit(77)
    assert done.returncode == 0, done
    return done.stdout


def advice(kind, blocks, threads, work):
    """(the way to take, {way: its row, the fastest first})"""
    lines = run(ADVISE, "--gpu", kind, "--blocks", blocks, "--threads", threads,
                "--work", work).splitlines()
    rows = csv.DictReader((line for line in lines if line[0] != "#"), delimiter="\t")
    return re.match(r"# take\[way=(\w+) ", lines[0])[1], {row["way"]: row for row in rows}


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    text = run(*sys.argv[1:])
    print(text)
    gpu, *table = text.splitlines()
    kind = re.search(r"H\d+", gpu)
    if not kind:
        print(f"skipped: no recorded rows of {gpu}")
        return 77
    cases = {}
    for row in csv.DictReader(table, delimiter="\t"):
        cases.setdefault((row["blk"], row["thrd"], row["work"]), {})[row["way"]] = float(row["step"])
    outside, slow, count = [], [], 0
    for case, measured in cases.items():
        taken, ranked = advice(kind[0], *case)
        for way in measured.keys() & ranked.keys():
            low, high = (float(ranked[way][column]) for column in ("us(low)", "us(high)"))
            count += 1
            if not low <= measured[way] <= high:
                outside.append(f"{way}, {case}: {measured[way]} us, not {low} to {high}")
        # Some ways are ranked and not measured here.
        first = next(way for way in ranked if way in measured)
        for way, allowed in ((first, FIRST_SLOWER), (taken, TAKEN_SLOWER)):
            slower = measured.get(way, 0) / min(measured.values()) - 1
            if slower > allowed:
                slow.append(f"{way}, {case}: {slower:.0%} slower than the fastest, {allowed:.0%} allowed")
    print(*outside, f"{count - len(outside)} of {count} inside", *slow, sep="\n")
    return int(len(outside) > (1 - INSIDE) * count or bool(slow))


if __name__ == "__main__":
    sys.exit(main())
