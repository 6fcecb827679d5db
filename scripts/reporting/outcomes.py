"""Is it normal?, of what Pitfalls saw: its outcomes against those of the recorded runs."""

from collections import Counter, namedtuple

from parts import tsv
from reporting.normal import LACKING, as_many
from reporting.sheets import Sheet

# What a row says, by section; the section of the lanes' clocks says nothing that is judged.
SAYS = {
    "warp barrier verdict": lambda row: "holds" if row["blocks"] == "1" else "does not hold",
    "partial groups": lambda row: row["outcome"],
    "races": lambda row: {"0": "no wrong result", "nan": "not known"}.get(row["wrong"],
                                                                          "wrong results")}
VERDICTS = ("same", "other", "not recorded")

# recorded: the outcomes of the recorded runs, each once. line, outcome: None where it is LACKING.
Outcome = namedtuple("Outcome", "file section method form line outcome recorded verdict")


def outcomes(run):
    """(file, section, method, form) -> (line, outcome)"""
    return {(file, title, row["method"], row.get("form", "")): (row.line, says(row))
            for file in tsv.PITFALLS for title, says in SAYS.items()
            for row in run.section(file, title).rows}


def is_measured(run, key):
    """Whether a run has measured all sets, or rows of a method."""
    sets = run.files[key[0]].sets() if key[0] in run.files else None
    return sets is None or tsv.EVIDENCE in sets or any(
        row["method"] == key[2] for section in run.files[key[0]] for row in section.rows)


def judged(run, runs):
    """Every outcome of a run, then those that only a recorded run of as many GPUs has, as
    Outcome."""
    mine, known = outcomes(run), {other: outcomes(other) for other in runs}
    lacking = (key for other in as_many(run, runs) for key in known[other]
               if key not in mine and is_measured(run, key))
    found = []
    for key in (*mine, *dict.fromkeys(lacking)):
        line, outcome = mine.get(key, (None, None))
        recorded = list(dict.fromkeys(
            other[key][1] for other in known.values() if key in other))
        verdict = (LACKING if line is None else "same" if outcome in recorded
                   else "other" if recorded else "not recorded")
        found.append(Outcome(*key, line, outcome, recorded, verdict))
    return found


def sheet(found, mark=""):
    """How many are as recorded, which are not, and which are not there."""
    counts = Counter((one.file, one.section, one.verdict) for one in found)
    result = Sheet(f"{mark}Outcomes of Pitfalls beside the recorded ones", 2,
                   ("File", "Section", *VERDICTS))
    result.rows = [[*key, *(str(counts[(*key, verdict)]) for verdict in VERDICTS)]
                   for key in dict.fromkeys(one[:2] for one in found)]
    lacking = {}
    for one in found:
        what = ", ".join(filter(None, (one.method, one.form)))
        if one.verdict == "other":
            result.notes.append(f"{one.file}, line {one.line}: {what}: {one.outcome}; recorded: "
                                f"{', '.join(one.recorded)}.")
        elif one.verdict == LACKING:
            lacking.setdefault((one.file, one.section), []).append(what)
    result.notes += [f"{', '.join(key)}: {LACKING}: {'; '.join(names)}."
                     for key, names in lacking.items()]
    return result
