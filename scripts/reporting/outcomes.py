"""Is it normal?, of what Pitfalls saw: its outcomes against those of the recorded runs."""

from collections import namedtuple

from parts import tsv

# What a row says, by section; the section of the lanes' clocks says nothing that is judged.
SAYS = {
    "warp barrier verdict": lambda row: "holds" if row["blocks"] == "1" else "does not hold",
    "partial groups": lambda row: row["outcome"],
    "races": lambda row: {"0": "no wrong result", "nan": "not known"}.get(row["wrong"],
                                                                          "wrong results")}
# is_other: than in all recorded runs that have one
Outcome = namedtuple("Outcome", "method form outcome is_other")


def outcomes(run):
    """(file, section, method, form) -> outcome"""
    return {(file, title, row["method"], row.get("form", "")): says(row)
            for file in tsv.PITFALLS for title, says in SAYS.items()
            for row in run.section(file, title).rows}


def judged(run, runs):
    """Every outcome of a run, as Outcome."""
    known = list(map(outcomes, runs))
    for key, outcome in outcomes(run).items():
        recorded = [other[key] for other in known if key in other]
        yield Outcome(*key[2:], outcome, bool(recorded) and outcome not in recorded)
