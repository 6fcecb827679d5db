#!/usr/bin/env python3
"""How often is a healthy machine called faulty?

  healthy_pairs.py            judges each of the healthy runs beside each other one
  healthy_pairs.py --bounds   the largest change of each method between any two: results/bounds.tsv

They are the recorded runs of this version and those of results/healthy_runs.tar.xz, so that each
verdict but `normal` and `unknown` is a false alarm. `verdict` is by bounds.tsv, `held_out` by
bounds that know neither of the two runs. `against` is "recorded" where a run of the archive is
judged beside all recorded ones, as a user's is; then `held_out` knows the recorded ones. A run of
the same hour is the second measurement of methods that differ, which run.sh makes; no bounds that
are `held_out` know it. stdout: tab-separated rows. Exit codes: 0; 2 bad usage, or a folder cannot be read.
"""

import itertools
import sys
import tarfile
import tempfile
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # scripts/
from parts import command_line, tsv
from pages.recorded import of_today
from reporting import bounds, normal
from reporting.verdict import Verdict

RESULTS = Path(__file__).resolve().parents[2] / "results"
HALF_AN_HOUR = timedelta(minutes=30)
ARCHIVE = RESULTS / "healthy_runs.tar.xz"
RECORDED = "recorded"


def unpacked(folder):
    """The runs of the archive, unpacked into a folder."""
    with tarfile.open(ARCHIVE) as archive:
        for member in archive:
            parts = member.name.split("/")
            if not (member.isfile() or member.isdir()) or not parts[0] or ".." in parts:
                raise tsv.TsvError(f"{ARCHIVE}: {member.name} is no file of the folder")
            archive.extract(member, folder)
    return sorted(path for path in Path(folder, "healthy_runs").iterdir())


def largest_changes(pair):
    """{bounds.group(): the largest change}"""
    run, other = pair
    return bounds.largest(normal.judged(run, [other]))


def widest(changes, without=()):
    """{bounds.group(): (how many pairs, the largest change)} of all pairs without these runs."""
    found = {}
    for pair, by_group in changes.items():
        if not set(without) & set(pair):
            for one, percent in by_group.items():
                pairs, most = found.get(one, (0, 0.0))
                found[one] = pairs + 1, max(most, percent)
    return found


def held_out(changes, runs):
    return bounds.Bounds({one: most for one, (_, most) in widest(changes, runs).items()})


def again(run, others, runs):
    """What measured the same machine again, or None."""
    def apart(other):
        return abs(measured_at(other) - measured_at(run))

    found = [other for other in runs if other is not run and other not in others
             and all(other.environment[key] == run.environment[key] for key in ("gpu", "gpu_count"))
             and apart(other) <= HALF_AN_HOUR]
    return run.again or min(found, key=apart, default=None)


def measured_at(run):
    return datetime.strptime(run.environment["date_utc"], "%Y-%m-%dT%H:%M:%SZ")


def judged(run, against, others, second, changes):
    """The row of a run beside others. against: their name; second: of again()."""
    run.again = second
    verdict = Verdict(run, others, partial=True, chosen=True)
    names = run.path.name, against
    known = held_out(changes, (*names, second.path.name) if second else names)
    out = Verdict(run, others, True, known, chosen=True)
    moved = sum(row.verdict in ("faster", "slower") for row in verdict.rows)
    return *names, verdict.judged, moved, verdict.level, out.level, (
        out.faults[0].text if out.faults else "none")


def changes_of(runs, pool=None):
    """{names of two runs: largest_changes()} of all of the same kind of GPU."""
    pairs = [pair for pair in itertools.permutations(runs, 2)
             if normal.references(pair[0], [pair[1]])]
    return dict(zip(((run.path.name, other.path.name) for run, other in pairs),
                    (pool.map if pool else map)(largest_changes, pairs)))


def work():
    parser = command_line.Parser(description=__doc__)
    parser.add_argument("--bounds", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor() as pool:
        recorded = of_today(normal.recorded_runs(RESULTS))
        archived = list(map(tsv.Run, unpacked(folder)))
        runs = [*recorded, *archived]
        changes = changes_of(runs, pool)
        if options.bounds:
            print(*bounds.COLUMNS, sep="\t")
            for one, (pairs, percent) in sorted(widest(changes).items()):
                print(*one, pairs, f"{percent:.1f}", sep="\t")
            return 0
        print("run", "against", "rows", "moved", "verdict", "held_out", "first", sep="\t")
        by_name = {run.path.name: run for run in runs}
        pairs = [(by_name[name], other, [by_name[other]]) for name, other in changes]
        pairs += [(run, RECORDED, normal.references(run, recorded)) for run in archived]
        pairs = [(run, name, others, again(run, others, runs)) for run, name, others in pairs]
        for row in pool.map(judged, *zip(*pairs), itertools.repeat(changes)):
            print(*row, sep="\t", flush=True)
    return 0


if __name__ == "__main__":
    command_line.main(work, "healthy_pairs.py")
