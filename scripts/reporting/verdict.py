"""Is the node normal? The verdict on a run, for check.py, report.py and compare.py.

A row is fine if it is within the recorded runs, or no further beyond them than bounds.py says. Of a
method with others, and measured again, the nearer of both rows counts.
"""

import functools
import math
import re
import statistics
from collections import Counter, defaultdict, namedtuple

from parts import suite, tsv, whole_files
from parts.environment import SECONDS_OF
from parts.means import GPUS
from reporting import bounds, normal
from reporting.bounds import group_of
from reporting.estimates import many

LEVELS = ("normal", "unknown", "look", "broken")  # the gravest last
EXIT_CODES = {"normal": 0, "look": 1, "broken": 2, "unknown": 4}
FEW = 3  # so many rows of a method, or all that it has, are `broken` if they are slower by BROKEN
BROKEN = 25.0  # percent
MANY, TOGETHER = 10, 7.0  # rows of a group; percent of their median
OPTIONAL = re.compile("nccl|nvshmem|mpi")  # methods that need what not every machine has
CLOCK_MOVED, CLOCK_BROKEN = 0.02, 0.10  # of the recorded one
CAPPED, CAPPED_TO = "sw-power-cap", 0.75  # healthy H200s cap large sums to 0.82 of the full clock
FEW_DIFFER = 10  # methods, which are measured again; more are the node's
OUTCOMES = 3  # of Pitfalls that differ are one race more or less
RIGHT = ("right", "as allowed")  # forms of Pitfalls that are no mistake

FILE = "verdict.txt"  # of a measured folder

# What a row of Pitfalls says, by section; that of the lanes' clocks says nothing that is judged.
SAYS = {
    "warp barrier verdict": lambda row: "holds" if row["blocks"] == "1" else "does not hold",
    "partial groups": lambda row: row["outcome"],
    "races": lambda row: {"0": "no wrong result", "nan": "not known"}.get(row["wrong"],
                                                                          "wrong results")}
Outcome = namedtuple("Outcome", "file section method form outcome")

# level: one of LEVELS; text: for people; rows: of class Judged, that it is about.
Fault = namedtuple("Fault", "level text rows", defaults=((),))


class Verdict:
    """faults: the gravest first; judged, not_judged: how many rows have a recorded one, and how many
    none; capped: how many have a warning that is_capped(); stale: methods whose recorded rows are
    all stale; beyond: {file: methods with rows beyond their bounds}, of the first measurement; again:
    those of them that were measured again. runs: those to compare with; rows, lacking: of normal.judged() and .lacking()."""

    def __init__(self, run, recorded, partial=False, known_bounds=None, chosen=False,
                 as_is=False):
        """recorded: all recorded runs, or those to compare with if they are chosen; partial: not
        all methods were measured; known_bounds: others than those of bounds.tsv; as_is: see
        normal.judged()."""
        self.runs = recorded if chosen else normal.references(run, recorded)
        self.chosen = chosen
        self.rows = normal.judged(run, self.runs, as_is)
        self.lacking = normal.lacking(run, self.runs)
        self.faults, self.judged, self.not_judged = [], 0, len(self.rows)
        self.beyond, self.again = defaultdict(set), []
        self.stale = sorted({row.key[2] for row in self.rows if row.verdict == normal.STALE})
        if not self.runs:
            gpu = run.environment.get("gpu", "this GPU")
            self._add("unknown", "a simulated run is not judged" if run.simulated else
                      f"no other run of {gpu} is recorded")
        # Of some methods, or of a version that did not yet have all.
        partial = partial or "methods" in run.environment or all(
            output.sets is None for output in run.files.values())
        self._judge(run, partial, known_bounds or bounds.read(), as_is)
        if not chosen:
            self._missing_gpus(run, [one for one in recorded if one.simulated == run.simulated
                                     and one.gpus > 1], partial)
        self.faults.sort(key=lambda fault: -LEVELS.index(fault.level))  # a stable sort

    @property
    def level(self):
        return self.faults[0].level if self.faults else LEVELS[0]

    def to_measure_again(self):
        """{file: methods} to measure once more, for a disturbance is not the node; {} where too many
        differ."""
        few = len(set().union(*self.beyond.values())) <= FEW_DIFFER
        return {file: sorted(methods) for file, methods in self.beyond.items()} if few else {}

    def _add(self, level, text, rows=()):
        self.faults.append(Fault(level, text, tuple(rows)))

    def _judge(self, run, partial, known_bounds, as_is):
        rows = [row for row in self.rows if row.low == row.low]
        self.judged, self.not_judged = len(rows), len(self.rows) - len(rows)
        faulty = list(self._faulty(rows, run, known_bounds))
        for _, bad, _, _ in faulty:
            self.beyond[bad[0].key[0]].add(bad[0].key[2])
        second = normal.judged(run.again, self.runs) if run.again else []
        if second and not as_is:
            methods = self.to_measure_again()
            again = {row.key: row for row in second if row.key[2] in methods.get(row.key[0], ())}
            self.again = sorted({key[2] for key in again})
            rows = [min(row, again.get(row.key, row), key=distance) for row in rows]
            faulty = self._faulty(rows, run, known_bounds)
        if not self.chosen:
            self._files(run)
        self._clocks(run)
        self._gpus(run)
        self._said(run)
        self._wrong(run, second)
        self._methods(faulty)
        self._impossible(run)
        self._groups(rows)
        if self.runs and not self.chosen:
            self._not_judged(run)
        if not partial:
            self._missing_files(run)
        self._missing_rows(run, partial)

    def _files(self, run):
        """What makes the folder doubtful."""
        if run.partial:
            self._add("look", "the run goes on, or it was interrupted: rows can be missing")
        others = defaultdict(list)
        for name, what, *_ in run.of_others():
            others[what].append(f"{name}.tsv")
        for what, names in others.items():
            self._add("look", f"of another {what} than the run: {', '.join(names)}")
        for file, output in run.files.items():
            lost = ", ".join(output.lost())
            if lost:
                self._add("look", f"sections are missing ({file}): {lost}")
            used = sum(int(gpus["used"]) for gpus in output.head("gpus")
                       if re.fullmatch("[0-9]{1,4}", gpus.get("used", "")))
            if used > len(output.head("gpu")):
                self._add("look", f"{used} GPUs were used, {len(output.head('gpu'))} are named "
                          f"({file})")

    def _clocks(self, run):
        """SM clocks that the rows saw, beside those of the recorded runs."""
        known = [clock for other in self.runs for *_, clock in clocks_of_rows(other)]
        recorded = statistics.median(known or [float("nan")])
        seen = defaultdict(list)
        for file, gpus, clock in clocks_of_rows(run):
            seen[file, gpus].append(clock)
        moved = defaultdict(list)
        for key, clocks in seen.items():
            clock = statistics.median(clocks)
            if abs(clock - recorded) > CLOCK_MOVED * recorded:
                moved[round(clock)].append(key)
        for clock, keys in moved.items():
            where = f" ({', '.join(dict.fromkeys(file for file, _ in keys))})" * (
                len(keys) < len(seen))
            self._add_clock(f"SM clock {clock:,} MHz{where}", clock, recorded)

    def _add_clock(self, text, clock, recorded):
        text = f"{text}, recorded {recorded:,.0f} MHz"
        if all(fault.text != text for fault in self.faults):
            self._add("broken" if clock < (1 - CLOCK_BROKEN) * recorded else "look", text)

    def _gpus(self, run):
        """What the heads of the files say of the GPUs."""
        recorded = statistics.median(clocks_of_heads(self.runs, None) or [float("nan")])
        for index in range(run.gpus):
            clock = statistics.median(clocks_of_heads([run], index) or [recorded])
            if clock < (1 - CLOCK_MOVED) * recorded:
                which = f"GPU {index}: " * (run.gpus > 1)
                self._add_clock(f"{which}SM clock {clock:,.0f} MHz", clock, recorded)
        if self.runs and run.gpus > 1 and "no" in peer_access([run]) and (
                "no" not in peer_access(self.runs)):
            self._add("broken", "no access between all pairs of GPUs")

    def _said(self, run):
        """What the programs warn of."""
        outputs = outputs_of(run)
        self.capped = sum(is_capped(said) for _, output in outputs for said in output.warnings())
        for tag, text in WARNED.items():
            files = [file for file, output in outputs
                     if any(said.tag == tag and not is_capped(said) for said in output.warnings())]
            if files:
                self._add("look", f"{text} ({', '.join(dict.fromkeys(files))})")

    def _wrong(self, run, second):
        """Wrong results, and what Pitfalls saw. Some sums are wrong everywhere."""
        right = set().union(*map(right_of, self.runs))

        def is_wrong(row):
            recorded = [normal.values(other)[row.key][1].row.get("right") for other in self.runs
                        if row.key in normal.values(other)]
            return row.row.get("right") == "0" and (
                "1" in recorded or not recorded and row.key[:3] in right)

        wrong = defaultdict(int)
        for row in filter(is_wrong, self.rows + second):
            wrong[row.key[0]] += 1
        for file, output in outputs_of(run):
            wrong[file] += sum(said.tag == "results" for said in output.warnings())
        for file, count in wrong.items():
            if count:
                self._add("broken", f"{count} wrong results ({file})")
        seen, known = outcomes(run), {one for other in self.runs for one in outcomes(other)}
        other = [one for one in seen if one not in known and one[:4] in {of[:4] for of in known}]
        wrong = [one for one in seen
                 if (one.form, one.outcome) == ("right", "wrong results")]
        if wrong:
            self._add("broken", f"{len(wrong)} right programs have wrong results (Pitfalls): "
                      f"{wrong[0].method}")
        stuck = [one for one in other if one.form in RIGHT and one not in wrong]
        if stuck:
            self._add("look", f"{len(stuck)} right programs do not end as recorded (Pitfalls): "
                      f"{stuck[0].method}: {stuck[0].outcome}")
        if len(other) > OUTCOMES:
            self._add("look", f"{len(other)} outcomes are other ones than recorded (Pitfalls): "
                      f"{other[0].method} and others")

    def _not_judged(self, run):
        """Rows on more GPUs than any recorded run has, by a toolkit that none has, and files most
        of whose rows are new."""
        recorded = max(other.gpus for other in self.runs)
        ours = [row for row in self.rows if row.key[0].split(".")[0] != normal.OF_LIBRARIES]
        rows = [row for row in ours
                if not (row.key[GPUS].isdigit() and int(row.key[GPUS]) > recorded)]
        if len(rows) < len(ours):
            self._add("unknown", f"{len(ours) - len(rows)} rows are on more than "
                      f"{many(recorded)} and not judged: no recorded run has so many")
        theirs = {normal.release(file, other) for other in self.runs for file in other.files}
        new = [file for file in run.files if normal.release(file, run) not in theirs]
        if new:
            mine, *theirs = (f"{one // 100}.{one % 100}" for one in (
                normal.release(new[0], run), *sorted(filter(None, theirs))))
            self._add("unknown", f"compiled by CUDA {mine}, the recorded runs by "
                      f"{' and '.join(theirs)}: rows of launches, grids and several GPUs are "
                      "judged beside the nearest, no others")
        total = Counter(row.key[0] for row in rows if row.verdict != normal.STALE)
        for file, count in Counter(row.key[0] for row in rows
                                   if row.verdict == "not recorded").items():
            if 2 * count > total[file] and file in tsv.FILES and file not in new:
                self._add("unknown", f"{count} of {total[file]} rows are not judged, as no "
                          f"recorded run has them ({file})")

    @staticmethod
    def _faulty(rows, run, known_bounds):
        """Of each method on as many GPUs that has such: its name, rows beyond their bounds, those of
        them that are far slower, all."""
        for where, group in by_method(rows, run):
            bad = list(filter(known_bounds.exceeds, group))
            if (len(bad) == 1 and len(group) >= FEW
                    and abs(bounds.change(bad[0])) < known_bounds.alone):
                continue
            if bad:
                yield where, bad, [row for row in bad if bounds.change(row) >= BROKEN], group

    def _methods(self, faulty):
        for where, bad, far, group in faulty:
            broken = len(far) >= min(FEW, len(group))
            self._add("broken" if broken else "look", of_rows(far if broken else bad, where, group), bad)

    def _impossible(self, run):
        """Single rows whose program does not say why they are so."""
        for where, group in by_method(self.rows, run):
            bad = [row for row in group if cannot_be(row) and not row.row.said("no-rate")]
            if bad:
                self._add("look", f"{where}: {len(bad)} of {len(group)} rows have no value, or one "
                          "that cannot be", bad)

    def _groups(self, rows):
        """Groups of rows that moved together, by less than a method alone has to."""
        by_group = defaultdict(list)
        for row in rows:
            by_group[group_of(row.key[0], row.key[2])].append(row)
        for name, group in by_group.items():
            percent = statistics.median(map(bounds.change, group))
            if len(group) >= MANY and abs(percent) > TOGETHER:
                self._add("look", of_rows(group, f"rows of {name}", group), group)

    def _missing_files(self, run):
        """Of programs that were started, or that recorded runs have."""
        older = run.toolkit(suite.OLDER)
        recorded = [file for file in tsv.FILES if older or not file.endswith(suite.OLDER)
                    if any(has_rows(other.files.get(file, ()), run.gpus) for other in self.runs)]
        started = [key.removeprefix(SECONDS_OF) for key in run.environment if key.startswith(SECONDS_OF)]
        for file in dict.fromkeys([*started, *recorded]):
            if file not in run.files:
                self._add("look", f"{file}.tsv is missing")
            elif file in recorded and not has_rows(run.files[file], run.gpus):
                self._add("look", f"{file}.tsv has no rows")

    def _missing_rows(self, run, partial):
        """partial: only if a method that was measured has none on so many GPUs."""
        rows = normal.values(run)
        there = {(key[0], key[2]) if partial else key[0] for key in rows}
        counts = {(*key[:3], key[GPUS]) for key in rows} if partial else ()
        by_section = defaultdict(list)
        for key in self.lacking or ():
            if OPTIONAL.match(key[2]):
                continue
            if (((key[0], key[2]) if partial else key[0]) in there
                    and (*key[:3], key[GPUS]) not in counts):
                by_section[key[:2]].append(key)
        for (file, section), keys in by_section.items():
            # A newer program may not have the section.
            if any(one.title == section for one in run.files[file]):
                self._add("look", f"{len(keys)} rows are missing ({file}, {section}): "
                          + some_of(key[2] for key in keys))

    def _missing_gpus(self, run, recorded, partial):
        """What recorded runs have on two GPUs to all, or on all alone, whatever kind they are, is
        wanted here, too."""
        here, wanted = counts_of(run), defaultdict(list)
        for other in recorded:
            for key, counts in counts_of(other, run).items():
                if other.gpus in counts and not OPTIONAL.match(key[2]):
                    # Two GPUs do not tell "each number" from "all".
                    wanted[key] += [counts >= set(range(2, other.gpus + 1))] * (other.gpus > 2)
        missing = defaultdict(lambda: defaultdict(set))
        for key, found in wanted.items():
            each = bool(found) and all(found)
            output = run.files.get(key[0])
            if output and (key in here or not partial) and not output.has_skipped(key[2]) and any(
                    one.title == key[1] for one in output):
                asked = set(range(2 if each else run.gpus, run.gpus + 1)) - {1}
                for count in asked - here.get(key, set()):
                    missing[key[0]][count].add(key[2])
        for file, counts in missing.items():
            gpus = ", ".join(map(str, sorted(counts)))
            self._add("look", f"no rows on {gpus} GPUs ({file}): "
                      + some_of(sorted(set().union(*counts.values()))))


def told(found, most=None):
    """(lines for people, the verdict last; its level) of the node and of each GPU of several.
    found: (what, Verdict or None, further faults) of each; most: faults that are told of each."""
    verdicts = [verdict for _, verdict, _ in found if verdict]
    rows = sum(verdict.judged for verdict in verdicts)
    others = sum(verdict.not_judged for verdict in verdicts)
    stale = sorted({method for verdict in verdicts for method in verdict.stale})
    capped = sum(verdict.capped for verdict in verdicts)
    again = [method for verdict in verdicts for method in verdict.again]
    lines, level = [], LEVELS.index("normal" if rows else "unknown")
    for what, verdict, more in reversed(found):  # a GPU tells more than the node
        faults = sorted([*more, *(verdict.faults if verdict else ())],
                        key=lambda fault: -LEVELS.index(fault.level))
        level = max([level, *(LEVELS.index(fault.level) for fault in faults[:1])])
        lines += [f"{fault.level}: {what}{': ' * bool(what)}{fault.text}"
                  for fault in faults[:most]]
        if len(faults) > len(faults[:most]):
            lines.append(f"  and {len(faults) - most} more{' of ' * bool(what)}{what}")
    return [*lines, f"{LEVELS[level]}: {rows:,} rows judged"
            + f", {others:,} not, for no recorded run has precise ones" * bool(others)
            + (f", or their code has changed since ({some_of(stale)})" if stale else "")
            + f"; measured again, as rows differed: {some_of(again)}" * bool(again)
            + f"; warnings of an SM clock lowered for power: {capped:,}" * bool(capped)
            ], LEVELS[level]


def keep(folder, found, simulated):
    """What is told in full, in the folder of what was measured: causes are known there later."""
    first = [tsv.SIMULATED] * simulated
    whole_files.write(folder, {FILE: "".join(f"{line}\n" for line in [*first, *told(found)[0]])})


def outcomes(run):
    """What Pitfalls saw."""
    return [Outcome(file, title, row["method"], row.get("form", ""), says(row))
            for file in tsv.PITFALLS for title, says in SAYS.items()
            for row in run.section(file, title).rows]


@functools.lru_cache(maxsize=None)
def counts_of(run, asked=None):
    """(file, section, method) -> numbers of GPUs on which it was measured; of the rows alone that
    another run should have."""
    found = defaultdict(set)
    for key, (_, value) in normal.values(run).items():
        output = asked.files.get(key[0]) if asked else None
        if key[GPUS].isdigit() and (not asked or key[0] in tsv.FILES and output and output.should_have(value.row)):
            found[key[:3]].add(int(key[GPUS]))
    return found


@functools.lru_cache(maxsize=None)
def right_of(run):
    """(file, section, method) of what had a right result."""
    return {key[:3] for key, (_, value) in normal.values(run).items()
            if value.row.get("right") == "1"}


def by_method(rows, run):
    """(which, for people; its rows) of each method of a section on as many GPUs."""
    found = defaultdict(list)
    for row in rows:
        found[(*row.key[:3], row.key[GPUS])].append(row)
    for (file, section, method, gpus), group in found.items():
        yield f"{method} ({file}, {section})" + (
            f" on {many(int(gpus))}" if run.gpus > 1 and gpus != "nan" else ""), group


def cannot_be(row):
    """Whether a time, rate or clock is not above 0, or of no samples. `theory` is computed. Where the
    host stalls, a mean can be below 0, but not its interval."""
    cells, samples = row.row, row.row.get("n", "1")
    most = row.value.mean + normal.width(row.value)
    return (not most > 0 or float(cells.get(f"med({row.quantity})", "nan")) <= 0
            or float(cells.get("clock", "nan")) <= 0
            or row.key[2] != "theory" and (
                samples in ("0", "nan")
                or samples != "1" and cells.get(f"s({row.quantity})") == "nan"))


def distance(row):
    """By how much a row is beyond what is recorded; faster rows may be further."""
    percent = bounds.change(row)
    return math.inf if math.isnan(percent) else max(percent, -percent / bounds.FASTER)


def outputs_of(run):
    """[(file, Output)], also of what was measured again."""
    return [*run.files.items(), *(run.again.files.items() if run.again else ())]


def some_of(methods):
    methods = list(dict.fromkeys(methods))
    return ", ".join(methods[:3]) + " and others" * (len(methods) > 3)


def is_capped(said):
    """Whether a warning is of a clock that the driver lowered for power, and not far."""
    return said.values.get("reasons") == CAPPED and (
        said.number("mhz") >= CAPPED_TO * said.number("full"))


def clocks_of_heads(runs, index):
    """SM clocks of a GPU, or of all, at the start of each program."""
    return [float(gpu["clock"]) for run in runs for output in run.files.values()
            for gpu in output.head("gpu") if index in (None, int(gpu.get("index", -1)))
            and tsv.NUMBER.fullmatch(gpu.get("clock", ""))]


def peer_access(runs):
    return {gpus.get("peer_access") for run in runs for output in run.files.values()
            for gpus in output.head("gpus")}


@functools.lru_cache(maxsize=None)
def clocks_of_rows(run):
    """[(file, GPUs, SM clock)]"""
    return [(file, row.gpus, float(row["clock"]))
            for file, output in run.files.items() for section in output for row in section.rows
            if row.get("clock", "nan") != "nan"]


def has_rows(output, gpus):
    """On so many GPUs or fewer."""
    return any(row.gpus <= gpus for section in output for row in section.rows)


def of_rows(bad, what, group):
    """How far rows of one method are beyond what is recorded."""
    percent = statistics.median(map(bounds.change, bad))
    return (f"{what}: {abs(percent):.0f}% {'slower' if percent > 0 else 'faster'} "
            f"({len(bad)} of {len(group)} rows)")


# Tags of warnings that are of the node, and not of a row.
WARNED = {"clock": "the SM clock changed while it was measured",
          "slow-clock": "the SM clock was low for some rows, at each attempt",
          "shared-gpu": "another process used a GPU"}
