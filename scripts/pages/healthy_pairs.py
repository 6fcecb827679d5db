#!/usr/bin/env python3
"""How often is a healthy machine called faulty? For the authors of results/known_spread.tsv.

  healthy_pairs.py DIR...            judges each of these runs beside each other one
  healthy_pairs.py --bounds DIR...   the largest change that each line of known_spread.tsv covers

Without DIR: the recorded runs, and those of results/healthy_runs.tar.xz. All are of healthy
machines, so that each verdict but `normal` is a false alarm. `verdict` is by known_spread.tsv,
`held_out` by bounds that know neither of the two runs: MARGIN times the largest change between
all others. stdout: tab-separated rows. Exit codes: 0; 2 bad usage, or a folder cannot be read.
"""

import copy
import itertools
import sys
import tarfile
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # scripts/
from parts import command_line, tsv
from reporting import known_spread, normal
from reporting.verdict import Verdict

RESULTS = Path(__file__).resolve().parents[2] / "results"
ARCHIVE = RESULTS / "healthy_runs.tar.xz"
MARGIN = 1.5  # rule of the bounds in known_spread.tsv


def unpacked(folder):
    """The runs of the archive, unpacked into a folder."""
    with tarfile.open(ARCHIVE) as archive:
        for member in archive:
            if not (member.isfile() or member.isdir()) or ".." in member.name.split("/"):
                raise tsv.TsvError(f"{ARCHIVE}: {member.name} is no file")
            archive.extract(member, folder)
    return sorted(path for path in Path(folder, "healthy_runs").iterdir())


def largest_changes(pair):
    """{number of a line: the largest change of a moved row of which no wider line is}"""
    run, other = pair
    found = {}
    for row in normal.moved(normal.judged(run, [other])):
        lines = [(line.percent, -number) for number, line in enumerate(known_spread.read())
                 if line.is_of(row, run, [other])]
        if lines:
            number = -max(lines)[1]
            found[number] = max(found.get(number, 0), abs(row.change))
    return found


def held_out_lines(changes, runs):
    """The lines of known_spread.tsv with bounds of the pairs without these runs."""
    for number, line in enumerate(known_spread.read()):
        line = copy.copy(line)
        seen = [found.get(number, 0) for pair, found in changes.items()
                if not set(runs) & set(pair)]
        if not known_spread.depends_on_settings(line):
            line.percent = max(MARGIN * max(seen, default=0), normal.THRESHOLD)
        yield line


def judged(run, other, changes):
    """The row of a pair."""
    verdict = Verdict(run, [other], partial=True, chosen=True)
    names = run.path.name, other.path.name
    held_out = Verdict(run, [other], True, list(held_out_lines(changes, names)), chosen=True).level
    return (*names, verdict.judged, len(verdict.moved), len(verdict.unexplained), verdict.level,
            held_out)


def work():
    parser = command_line.Parser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, metavar="DIR")
    parser.add_argument("--bounds", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor() as pool:
        runs = ([tsv.Run(path) for path in options.folders] or
                [*normal.recorded_runs(RESULTS), *map(tsv.Run, unpacked(folder))])
        pairs = [pair for pair in itertools.permutations(runs, 2)
                 if normal.references(pair[0], [pair[1]])]
        names = [(run.path.name, other.path.name) for run, other in pairs]
        changes = dict(zip(names, pool.map(largest_changes, pairs)))
        if options.bounds:
            print("name", "methods", "when", "percent", "seen", sep="\t")
            for number, line in enumerate(known_spread.read()):
                seen = max(found.get(number, 0) for found in changes.values())
                print(line.name, line.methods, line.when, f"{line.percent:g}", f"{seen:.1f}",
                      sep="\t")
            return 0
        print("run", "against", "rows", "moved", "unexplained", "verdict", "held_out", sep="\t")
        for row in pool.map(judged, *zip(*pairs), itertools.repeat(changes)):
            print(*row, sep="\t", flush=True)
    return 0


if __name__ == "__main__":
    command_line.main(work, "healthy_pairs.py")
