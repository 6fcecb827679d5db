"""Is it normal? Every row of a run against the recorded runs of the same kind of GPU."""

import functools
import math
import re
from collections import namedtuple

from parts import means, tsv
from parts.means import BLOCKS
from reporting import stale

THRESHOLD = 2.0  # percent beyond the recorded runs that is still the same, as in compare.py
WIDEST = 10.0  # percent of a recorded mean to either side; one known less well says nothing
LOW_CLOCK = 0.01  # of the highest SM clock at the start; rows further below it are no reference
STALE = "stale"  # what the recorded rows time has other code today
LACKING = "not in this run"
HOW = ("Verdicts on rows: same: within the recorded means and their 95% intervals, or at most "
       f"{THRESHOLD:g}% beyond; unclear: only its own interval reaches there, or no recorded mean "
       f"is known within {WIDEST:g}%; {LACKING}: the recorded run of as many GPUs has it.")

BEFORE = "before"  # folder of recorded runs of earlier versions
OF_LIBRARIES = "Libraries"  # judged beside the same version alone
# Launches, grids and several GPUs; all else is judged beside the same toolkit alone.
OF_ANY_TOOLKIT = ("ImplicitBarrier", "BenchmarkInterSM")

# key: file and cells of means.KEYS, in which n blocks for each SM are "nxSM". quantity: "ovh",
# whose mean the value is, in means.UNITS. low, high: of the recorded means and their 95%
# intervals, nan where nothing is recorded.
Judged = namedtuple("Judged", "key quantity value row low high change verdict")


@functools.lru_cache(maxsize=None)
def values(run):
    """key of Judged -> (quantity, means.Value)"""
    found = {}
    for key, value in means.values_of(run).items():
        blocks = key[BLOCKS]
        if blocks.isdigit() and int(blocks) and int(blocks) % run.sms == 0:
            key = (*key[:BLOCKS], f"{int(blocks) // run.sms}xSM", *key[BLOCKS + 1:])
        found[key] = value
    return found


@functools.lru_cache(maxsize=None)
def at_low_clock(run):
    """Of a run the rows, by id, that were measured while the SM clock was low: no reference. The
    program says so, or it shows in their own clock."""
    found = set()
    for output in run.files.values():
        full = max((float(gpu["clock"]) for gpu in output.head("gpu")
                    if tsv.NUMBER.fullmatch(gpu.get("clock", ""))), default=math.nan)
        for section in output:
            found.update(id(row) for said in section.annotations if said.tag == "slow-clock"
                         for row in section.rows_of(said))
            found.update(id(row) for row in section.rows
                         if float(row.get("clock", "nan")) < (1 - LOW_CLOCK) * full)
    return found


def recorded_paths(folder):
    """Folders of recorded runs, <gpu>x<count>. A kind of node that this version has not measured is one
    of before/."""
    found = {path.name: path for parent in (folder / BEFORE, folder)
             for path in sorted(parent.glob("*x[0-9]*"))
             if path.is_dir() and re.fullmatch(r"[A-Za-z0-9]+x\d+", path.name)}
    return [found[name] for name in sorted(found)]


def recorded_runs(folder):
    """They were measured."""
    return [tsv.Run(path, simulated=None) for path in recorded_paths(folder)]


@functools.lru_cache(maxsize=None)
def is_before(run):
    return run.path.parent.name == BEFORE


def references(run, recorded):
    """All of the same kind of GPU, without the run itself; a simulated one's are simulated, too:
    costs that are made up say nothing beside measured ones."""
    def rows_of(run):
        return {name: [section.rows for section in output] for name, output in run.files.items()}

    # GPUs of one node may have been measured in the same second.
    return [other for other in recorded
            if other.environment.get("gpu") == run.environment.get("gpu")
            and other.simulated == run.simulated
            and (other.environment != run.environment or rows_of(other) != rows_of(run))]


def width(value):
    return 0.0 if math.isnan(value.half_width) else value.half_width


def judge(quantity, value, recorded):
    """(low, high, change in percent, verdict) of a value against recorded ones."""
    known = [other for other in recorded if width(other) <= abs(other.mean) * WIDEST / 100]
    if recorded and not known:
        return math.nan, math.nan, math.nan, "unclear"
    low = min((other.mean - width(other) for other in known), default=math.nan)
    high = max((other.mean + width(other) for other in known), default=math.nan)
    if not known:
        return low, high, math.nan, "not recorded"
    mean = sum(other.mean for other in known) / len(known)
    change = 100 * (value.mean - mean) / abs(mean) if mean else math.nan
    allowed = abs(mean) * THRESHOLD / 100
    if value.text in [other.text for other in known] or (
            low - allowed <= value.mean <= high + allowed):
        verdict = "same"
    elif value.mean - width(value) > high + allowed:
        verdict = "faster" if quantity in means.MORE_IS_FASTER else "slower"
    elif value.mean + width(value) < low - allowed:
        verdict = "slower" if quantity in means.MORE_IS_FASTER else "faster"
    else:
        verdict = "unclear"  # its interval reaches theirs, or one is nan
    return low, high, change, verdict


def library_version(key, run):
    """Of the library that a row is of; None of all others, this suite's too."""
    for library in run.files[key[0]].head("library"):
        if library["name"].lower() == key[2].split("_")[0]:
            return library["version"]
    return None


@functools.lru_cache(maxsize=None)
def release(file, run):
    """Of the toolkit that compiled what has a file's rows, as a number: 1210 of 12.10."""
    found = run.files[file].program("toolkit") or run.toolkit(file) or ""
    known = re.fullmatch(r"(\d{1,4})\.(\d{1,2})", found)
    return 100 * int(known[1]) + int(known[2]) if known else 0


@functools.lru_cache(maxsize=None)
def files_beside(file, run, other):
    """Of another run the files of the same program, those by the same toolkit first, then the
    nearest."""
    mine = release(file, run)
    return sorted((name for name in other.files if name.split(".")[0] == file.split(".")[0]),
                  key=lambda name: (abs(release(name, other) - mine), name != file))


def reference(key, run, other, as_is=False):
    """(file, Value) of the recorded row that may judge a row of a run, or None. as_is: that of the
    same file, whatever compiled it."""
    for file in [key[0]] if as_is else files_beside(key[0], run, other):
        found = values(other).get((file, *key[1:]))
        if found and id(found[1].row) not in at_low_clock(other) and (
                library_version(key, run) == library_version((file, *key[1:]), other)
                if key[0].split(".")[0] == OF_LIBRARIES else
                as_is or key[0] in OF_ANY_TOOLKIT or release(key[0], run) == release(file, other)):
            return file, found[1]
    return None


def judged(run, runs, as_is=False):
    """Every row of a run that has a mean, as Judged. as_is: also beside rows of other code."""
    def judge_row(key, quantity, value):
        found = [(other, *known) for other in runs
                 for known in [reference(key, run, other, as_is)] if known]
        # An earlier version judges only what this one has not measured.
        found = [one for one in found if not is_before(one[0])] or found
        # Not between runs of one commit.
        fresh = [known for other, file, known in found if as_is
                 or other.files[file].program("commit") == run.files[key[0]].program("commit")
                 or not stale.is_stale(other.files[file], key[1], key[2])]
        if found and not fresh:
            return (*judge(quantity, value, [])[:3], STALE)
        return judge(quantity, value, fresh)

    return [Judged(key, quantity, value, value.row, *judge_row(key, quantity, value))
            for key, (quantity, value) in values(run).items()]


def as_many(run, runs):
    """Those of as many GPUs."""
    return [other for other in runs
            if other.environment.get("gpu_count") == run.environment.get("gpu_count")]


def lacking(run, runs):
    """Keys of the rows that it lacks and recorded runs of as many GPUs have; None where there is
    no such run."""
    alike = as_many(run, runs)
    if not alike:
        return None
    return list(dict.fromkeys(
        key for other in alike for key, (_, value) in values(other).items()
        if key not in values(run) and (
            run.files[key[0]].should_have(value.row) if key[0] in run.files else key[0] in tsv.FILES)))


def environment_differences(run, recorded):
    """Lines of a key and the texts of the run and of each recorded one; the date always differs."""
    runs = [run, *recorded]
    found = ([key, *(one.environment.get(key, "–") for one in runs)]
             for key in dict.fromkeys(key for one in runs for key in one.environment))
    return [line for line in found if line[0] != "date_utc" and len(set(line[1:])) > 1]


def lines_of_tsv(part):
    """All rows, then those that are LACKING."""
    yield from [tsv.SIMULATED] * part.run.simulated
    yield "\t".join(("file", *means.KEYS, "quantity", "unit", "value", "recorded_low",
                     "recorded_high", "change_percent", "verdict", "line"))
    for row in part.normal:
        yield "\t".join((*row.key, row.quantity, means.UNITS[row.quantity], row.value.text,
                         f"{row.low:.3f}", f"{row.high:.3f}", f"{row.change:.3f}", row.verdict,
                         str(row.row.line)))
    for key in part.lacking or ():
        yield "\t".join((*key, *["nan"] * 6, LACKING, "nan"))
