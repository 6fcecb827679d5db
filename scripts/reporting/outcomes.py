"""Is it normal?, of what Pitfalls saw: its outcomes against those of the recorded runs."""

from collections import Counter, namedtuple

import tsv
from reporting.sheets import Sheet

# What a row says, by section; the section of the lanes' clocks says nothing that is judged.
SAYS = {
    "warp barrier verdict": lambda row: "holds" if row["blocks"] == "1" else "does not hold",
    "partial groups": lambda row: row["outcome"],
    "races": lambda row: "wrong results" if int(row["wrong"]) else "no wrong result"}
VERDICTS = ("same", "other", "not recorded")

# recorded: the outcomes of the recorded runs, each once.
Outcome = namedtuple("Outcome", "file section method form line outcome recorded verdict")


def outcomes(run):
    """(file, section, method, form) -> (line, outcome)"""
    return {(file, title, row["method"], row.get("form", "")): (row.line, says(row))
            for file in tsv.PITFALLS for title, says in SAYS.items()
            for row in run.section(file, title).rows}


def judged(run, runs):
    """Every outcome of a run, as Outcome."""
    known = [outcomes(other) for other in runs]
    found = []
    for key, (line, outcome) in outcomes(run).items():
        recorded = list(dict.fromkeys(other[key][1] for other in known if key in other))
        verdict = "same" if outcome in recorded else "other" if recorded else "not recorded"
        found.append(Outcome(*key, line, outcome, recorded, verdict))
    return found


def sheet(found):
    """How many are as recorded, and which are not."""
    counts = Counter((one.file, one.section, one.verdict) for one in found)
    result = Sheet("Outcomes of Pitfalls beside the recorded ones", 2,
                   ("File", "Section", *VERDICTS))
    result.rows = [[*key, *(str(counts[(*key, verdict)]) for verdict in VERDICTS)]
                   for key in dict.fromkeys(one[:2] for one in found)]
    result.notes = [
        f"{one.file}, line {one.line}: {', '.join(filter(None, (one.method, one.form)))}: "
        f"{one.outcome}; recorded: {', '.join(one.recorded)}."
        for one in found if one.verdict == "other"]
    return result
