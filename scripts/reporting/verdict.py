"""Is the node normal? The verdict on a run, for check.py, report.py and compare.py.

A row is fine if it is within the recorded runs, or has moved by no more than known_spread.tsv
says. A verdict looks at whole methods, so that a single odd row is no fault.
"""

import statistics
from collections import defaultdict, namedtuple

from parts import means, tsv
from reporting import known_spread, normal, outcomes

LEVELS = ("normal", "look", "broken")  # the exit codes of check.py
OFTEN = 0.4  # of the rows of a method on as many GPUs: so many beyond all bounds are a fault
FEW = 3  # rows at least, of as many as there are if a method has fewer
ALL_ROWS = 0.02  # of all rows
NOTABLE, BROKEN = 5.0, 25.0  # percent: the median of those rows
OPTIONAL = ("nccl",)  # methods that need what not every machine has
CLOCK_MOVED, CLOCK_BROKEN = 0.02, 0.10  # of the recorded one
OUTCOMES = 3  # of Pitfalls that differ are one race more or less
GPUS = means.KEYS.index("gpus") + 1

# level: one of LEVELS; text: for people; rows: of class Judged, that it is about.
Fault = namedtuple("Fault", "level text rows", defaults=((),))


class Verdict:
    """faults: the gravest first; unexplained: rows beyond all bounds, those that moved most first;
    judged: how many rows have a recorded one. runs, alike: of normal.references(); rows, moved,
    lacking: of normal.judged(), .moved() and .lacking(); outcomes: of outcomes.judged()."""

    def __init__(self, run, recorded, partial=False, spreads=None, chosen=False):
        """recorded: all recorded runs, or those to compare with if they are chosen; partial: not
        all methods were measured; spreads: others than those of known_spread.tsv."""
        self.runs, self.alike = (recorded, True) if chosen else normal.references(run, recorded)
        self.chosen = chosen
        self.rows = normal.judged(run, self.runs)
        self.moved = normal.moved(self.rows)
        self.known = known_spread.Known(run, self.runs, self.moved, spreads)
        self.lacking = normal.lacking(run, self.runs)
        self.outcomes = outcomes.judged(run, self.runs)
        self.faults, self.unexplained, self.judged = [], [], 0
        if self.alike:
            self._judge(run, partial)
        else:
            gpu = run.environment.get("gpu", "this GPU")
            self._add("look", f"no other run of {gpu} is recorded")
        self.faults.sort(key=lambda fault: -LEVELS.index(fault.level))  # a stable sort

    @property
    def level(self):
        return self.faults[0].level if self.faults else LEVELS[0]

    def slower(self):
        """The faults that are of rows slower than those of the other runs."""
        return [fault for fault in self.faults if any(row.verdict == "slower" for row in fault.rows)]

    def _add(self, level, text, rows=()):
        self.faults.append(Fault(level, text, tuple(rows)))

    def _judge(self, run, partial):
        rows = [row for row in self.rows if row.verdict != "not recorded"]
        self.unexplained = [row for row in self.moved if not self.known.of(row)]
        self.judged = len(rows)
        self._clocks(run)
        self._gpus(run)
        self._said(run)
        self._wrong(run)
        self._methods(rows, run.gpus > 1)
        self._more_gpus()
        if len(self.unexplained) > ALL_ROWS * self.judged and not any(
                fault.rows for fault in self.faults):
            self._add("look", f"{len(self.unexplained)} of {self.judged} rows differ from the "
                      "recorded runs", self.unexplained)
        partial = partial or "methods" in run.environment  # of a run of some methods
        if not partial:
            self._missing_files(run)
        self._missing_rows(run, partial)
        self._toolkits(run)

    def _clocks(self, run):
        """SM clocks that the rows saw, beside those of the recorded runs."""
        known = [float(row["clock"]) for other in self.runs for _, row in rows_with_clock(other)]
        recorded = statistics.median(known or [float("nan")])
        seen = defaultdict(list)
        for file, row in rows_with_clock(run):
            seen[file, gpus_of(row)].append(float(row["clock"]))
        moved = defaultdict(list)
        for key, clocks in seen.items():
            clock = statistics.median(clocks)
            if abs(clock - recorded) > CLOCK_MOVED * recorded:
                moved[round(clock)].append(key)
        for clock, keys in moved.items():
            where = f" ({', '.join(dict.fromkeys(file for file, _ in keys))})" * (
                len(keys) < len(seen))
            self._add("broken" if clock < (1 - CLOCK_BROKEN) * recorded else "look",
                      f"SM clock {clock:,} MHz{where}, recorded {recorded:,.0f} MHz")

    def _gpus(self, run):
        """What the heads of the files say of the GPUs."""
        recorded = statistics.median(clocks_of_heads(self.runs, None) or [float("nan")])
        for index in range(run.gpus if run.gpus > 1 else 0):
            clock = statistics.median(clocks_of_heads([run], index) or [recorded])
            if clock < (1 - CLOCK_MOVED) * recorded:
                self._add("broken" if clock < (1 - CLOCK_BROKEN) * recorded else "look",
                          f"GPU {index}: SM clock {clock:,.0f} MHz, recorded {recorded:,.0f} MHz")
        if run.gpus > 1 and "no" in peer_access([run]) and "no" not in peer_access(self.runs):
            self._add("broken", "no access between all pairs of GPUs")

    def _said(self, run):
        """What the programs warn of."""
        for tag, text in WARNED.items():
            files = [file for file, output in run.files.items()
                     if any(said.tag == tag for _, _, said in output.warnings())]
            if files:
                self._add("look", f"{text} ({', '.join(files)})")

    def _wrong(self, run):
        """Wrong results, and what Pitfalls saw. Some sums are wrong everywhere."""
        def is_wrong(row):
            recorded = [normal.values(other)[row.key][1].row.get("right") for other in self.runs
                        if row.key in normal.values(other)]
            return row.row.get("right") == "0" and "1" in recorded

        wrong = defaultdict(int)
        for row in filter(is_wrong, self.rows):
            wrong[row.key[0]] += 1
        for file, output in run.files.items():
            wrong[file] += sum(said.tag == "results" for _, _, said in output.warnings())
        for file, count in wrong.items():
            if count:
                self._add("broken", f"{count} wrong results ({file})")
        other = [one for one in self.outcomes if one.verdict == "other"]
        wrong = [one for one in self.outcomes if (one.form, one.outcome) == ("right", "wrong results")]
        if wrong:
            self._add("broken", f"{len(wrong)} right programs have wrong results (Pitfalls): "
                      f"{wrong[0].method}")
        if len(other) > OUTCOMES:
            self._add("look", f"{len(other)} outcomes are other ones than recorded (Pitfalls): "
                      f"{other[0].method} and others")

    def _more_gpus(self):
        """Rows on more GPUs than any recorded run has."""
        recorded = max(other.gpus for other in self.runs)
        more = [row for row in self.rows
                if row.key[GPUS].isdigit() and int(row.key[GPUS]) > recorded]
        if more and not self.chosen:
            self._add("look", f"{len(more)} rows are on more than {on_gpus(str(recorded))}, of which "
                      "none is recorded: not judged")

    def _methods(self, rows, several):
        groups = defaultdict(list)
        for row in rows:
            groups[(*row.key[:3], row.key[GPUS])].append(row)
        beyond = {id(row) for row in self.unexplained}
        for (file, section, method, gpus), group in groups.items():
            bad = [row for row in group if id(row) in beyond]
            few = min(FEW, len(group))
            often = len(bad) >= max(OFTEN * len(group), few)
            far = [row for row in bad if row.verdict == "slower" and abs(row.change) >= BROKEN]
            if len(far) >= few:
                bad = far
            if len(far) >= few or often and statistics.median(
                    abs(row.change) for row in bad) >= NOTABLE:
                self._add(*fault_of(bad, f"{method} ({file}, {section})" + (
                    f" on {on_gpus(gpus)}" if several and gpus != "nan" else ""), len(group)), bad)
            unclear = [row for row in group if is_noisy(row)]
            nothing = [row for row in unclear if row.value.text == "nan"]
            if 2 * len(nothing) > len(group) or len(group) >= 2 * FEW and 2 * len(unclear) > len(
                    group):
                self._add("look", f"{method} ({file}, {section}): {len(unclear)} of {len(group)} "
                          "rows are too noisy to be judged", unclear)

    def _missing_files(self, run):
        files = dict.fromkeys(file for other in self.runs for file in other.files
                              if "." not in file and file not in run.files)
        for file in files:
            self._add("look", f"{file}.tsv is missing")

    def _missing_rows(self, run, partial):
        """partial: only if a method that was measured has none on so many GPUs."""
        rows = normal.values(run)
        there = {(key[0], key[2]) if partial else key[0] for key in rows}
        counts = {(*key[:3], key[GPUS]) for key in rows} if partial else ()
        by_section = defaultdict(list)
        for key in self.lacking or ():
            if key[2] in OPTIONAL:
                continue
            if (((key[0], key[2]) if partial else key[0]) in there
                    and (*key[:3], key[GPUS]) not in counts):
                by_section[key[:2]].append(key)
        for (file, section), keys in by_section.items():
            if not self._can_have(run, file, section):
                continue
            methods = list(dict.fromkeys(key[2] for key in keys))
            self._add("look", f"{len(keys)} rows are missing ({file}, {section}): "
                      + ", ".join(methods[:3]) + " and others" * (len(methods) > 3))

    def _can_have(self, run, file, section):
        """False if a run's program may be too old for a section: it has none, and all recorded runs
        that have it are of other commits."""
        def has(one):
            return any(other.title == section for other in one.files.get(file, ()))

        commit = run.environment.get("suite_commit")
        return has(run) or any(has(other) and commit in (None, other.environment.get("suite_commit"))
                               for other in normal.as_many(run, self.runs))

    def _toolkits(self, run):
        here = normal.toolkit("", run.environment) or "none"
        theirs = sorted({normal.toolkit("", other.environment) or "none" for other in self.runs})
        if here not in theirs:
            self._add("look", f"compiled by CUDA {here}, the recorded runs by "
                      f"{' and '.join(theirs)}: rows inside an SM can differ")


def clocks_of_heads(runs, index):
    """SM clocks of a GPU, or of all, at the start of each program."""
    return [float(gpu["clock"]) for run in runs for output in run.files.values()
            for gpu in output.head("gpu") if index in (None, int(gpu.get("index", -1)))
            and tsv.NUMBER.fullmatch(gpu.get("clock", ""))]


def peer_access(runs):
    return {gpus.get("peer_access") for run in runs for output in run.files.values()
            for gpus in output.head("gpus")}


def rows_with_clock(run):
    """(file, row)"""
    for file, output in run.files.items():
        for section in output:
            yield from ((file, row) for row in section.rows if row.get("clock", "nan") != "nan")


def gpus_of(row):
    return next((row[column] for column in ("GPUCount", "GPUcount") if column in row), "1")


def on_gpus(count):
    return "1 GPU" if count == "1" else f"{count} GPUs"


def is_noisy(row):
    """Whether its interval is too wide, and its median is no nearer to the recorded means."""
    return (row.verdict == "unclear" and row.low == row.low
            and not known_spread.median_is_within(row, NOTABLE))


def fault_of(bad, what, of):
    """(level, text) of rows of one method beyond all bounds."""
    change = statistics.median(row.change for row in bad)
    slower = [row for row in bad if row.verdict == "slower"]
    most = "slower" if 2 * len(slower) >= len(bad) else "faster"
    level = "broken" if most == "slower" and abs(change) >= BROKEN else "look"
    return level, f"{what}: {abs(change):.0f}% {most} ({len(bad)} of {of} rows)"


# Tags of warnings that are of the node, and not of a row.
WARNED = {"clock": "the SM clock changed while it was measured",
          "slow-clock": "the SM clock was low for some rows, at each attempt",
          "shared-gpu": "another process used a GPU"}
