"""GPU test: what one more launch costs, by a measurement that shares neither kernel, clock nor
stream with ImplicitBarrier (launch_observer.cu), beside what ImplicitBarrier prints. Medians of
several processes, for processes differ. Prints a table.

usage: launch_observer_test.py IMPLICITBARRIER LAUNCH_TESTS
"""
import math
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from parts import tsv  # noqa: E402

PROCESSES = 5
# Streams that the observed process uses, and the section that uses as many.
SECTIONS = {"one": "one stream", "several": "sleep kernel"}
# Medians of so many processes differ by more than a tenth between two runs of one program. The
# clocks of the programs themselves differ by more (docs/method.md) on programmatic launches.
TOLERANCE, PROGRAMMATIC = 0.15, 0.2


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode in (3, 77):
        sys.exit(77)
    assert done.returncode == 0, done
    return done.stdout


def seen(tests, streams):
    """{(way, kernels that store, threads): (ns by the observer, by the kernels' own SM)}"""
    found = {}
    for _ in range(PROCESSES):
        for line in run(tests, "launch_observer", streams).splitlines()[1:]:
            way, storing, _, threads, *numbers = line.split("\t")
            found.setdefault((way, storing, threads), []).append([float(number) for number in numbers])
    return {point: [statistics.median(values) if all(map(math.isfinite, values)) else math.nan
                    for values in zip(*processes)] for point, processes in found.items()}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program, tests = sys.argv[1:]
    by_streams = {streams: seen(tests, streams) for streams in SECTIONS}
    ways = dict.fromkeys(way for way, *_ in by_streams["one"])
    output = tsv.parse(run(program, "1", "--processes", str(PROCESSES), "--stats", "--method",
                           ",".join(ways)).encode())
    rows = {section.title: section for section in output}
    failures = 0
    print("way", "streams", "storing", "thrd", "row", "observer", "own", "allowed", sep="\t")
    for streams, title in SECTIONS.items():
        for (way, storing, threads), numbers in by_streams[streams].items():
            row = float(rows[title].find(method=way, thrd=threads)["med(ovh)"])
            programmatic = "programmatic" in way
            allowed = PROGRAMMATIC if programmatic else TOLERANCE
            ratios = [number / row for number in numbers if math.isfinite(number)]
            # Only kernels that begin early can lack an SM that ran two of them. The rows are of
            # kernels that store nothing; what others cost is printed.
            # Of programmatic_at_end processes with several streams have two levels.
            judged = storing == "few" and (way, streams) != ("programmatic_at_end", "several")
            wrong = judged and (
                any(abs(ratio - 1) > allowed for ratio in ratios)
                or not ratios and not (programmatic and streams == "one"))
            failures += wrong
            print(way, streams, storing, threads, *(f"{number:.0f}" for number in (row, *numbers)),
                  f"{allowed:.0%}" if judged else "any", sep="\t")
            if wrong:
                print(f"{way}, {streams}, {threads} threads: beyond {allowed:.0%}", file=sys.stderr)
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
