"""GPU test: the steps that barriers of blocks are made of, by a program that shares neither kernel
nor clock with BenchmarkInterSM (barrier_steps.cu), beside the medians that BenchmarkInterSM prints.
Places of memory differ, and both see few of them. So a row may be anywhere between the least and
the most that the program saw, and beyond by the tolerance and the half width of its interval.
Prints a table: the row, what the program saw, how far the row is off.

usage: barrier_steps_test.py BENCHMARKINTERSM BARRIER_STEPS
"""
import csv
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from parts import tsv  # noqa: E402

TOLERANCE = 0.1
STEPS = {"ping_pong", "ping_pong_ordered", "one_counter", "one_counter_read", "one_word",
         "all_block_sync"}
PEER_STEPS = {"ping_pong_peer", "ping_pong_peer_ordered"}
POINT = ("method", "GPUcount", "blk", "thrd")
SAMPLES = "400"  # a step of a few nanoseconds needs many by the CPU's clock


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode in (3, 77):
        print(done.stdout, done.stderr, sep="")
        sys.exit(77)
    assert done.returncode == 0, done
    return done.stdout


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program, steps = sys.argv[1:]
    seen = list(csv.DictReader(run(steps).splitlines(), delimiter="\t"))
    methods = list(dict.fromkeys(step["method"] for step in seen))
    assert set(methods) in (STEPS, STEPS | PEER_STEPS), methods
    sms = min(int(step["blk"]) for step in seen)
    per_sm = sorted({int(step["blk"]) // sms for step in seen})
    output = tsv.parse(run(program, max(step["GPUcount"] for step in seen), "--stats",
                           "--samples", SAMPLES, "--method", ",".join(methods),
                           "--blocks-per-sm", ",".join(map(str, per_sm))).encode())
    failures = 0
    print(*POINT, "row", "ci95", "clock", "ns", "least", "most", "mhz", "off", sep="\t")
    for step in seen:
        point = {column: step[column] for column in POINT}
        row = next(filter(None, (section.find(**point) for section in output)), None)
        assert row, f"no row of {point}"
        median, interval = float(row["med(avginstru)"]), float(row["ci95(avginstru)"])
        ns, least, most = (float(step[column]) for column in ("ns", "least", "most"))
        beyond = TOLERANCE * ns + interval
        wrong = not least - beyond <= median <= most + beyond
        failures += wrong
        print(*point.values(), f"{median:.1f}", f"{interval:.1f}", row["clock"], f"{ns:.1f}",
              f"{least:.1f}", f"{most:.1f}", step["mhz"], f"{median / ns - 1:+.1%}",
              "beyond" if wrong else "", sep="\t")
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
