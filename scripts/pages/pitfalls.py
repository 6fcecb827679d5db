"""What results/evidence/pitfalls.md shows, of Pitfalls."""

from pages.recorded import code, heading, of_today, rows, span
from parts import tsv
from reporting.sheets import coded, markdown_table


def texts_of(runs, files, title, column):
    """(method, form) -> the different texts of this column in all runs."""
    found = {}
    for run in runs:
        for row in (row for file in files for row in run.section(file, title).rows):
            found.setdefault((row["method"], row.get("form", "")), {})[row[column]] = None
    return found


def verdicts(runs):
    """In how many launches a barrier of a warp made its lanes wait."""
    held, launches = (texts_of(runs, tsv.PITFALLS[:1], "warp barrier verdict", column)
                      for column in ("held", "launches"))
    return markdown_table(["Method", "Launches", "It blocked in"], 1, [
        [code(method), *(" or ".join(texts[method, form]) for texts in (launches, held))]
        for method, form in held])


FORMS = ("exits early", "stays and skips", "as allowed")


def partial_groups(runs):
    """What came of each case, in the forms that most cases have, then of the others."""
    outcomes = {key: coded(", ".join(
        f"`{which}`" if kind == tsv.ERROR else text
        for text in texts for kind, which in [tsv.outcome_of(text)]))
        for key, texts in texts_of(runs, tsv.PITFALLS, "partial groups", "outcome").items()}
    methods = dict.fromkeys(method for method, form in outcomes if form == FORMS[0])
    yield from markdown_table(["Method", *FORMS], 4, [
        [code(method), *(outcomes.get((method, form), "–") for form in FORMS)]
        for method in methods])
    yield ""
    yield from markdown_table(["Method", "Form", "Outcome"], 3, [
        [code(method), form, text] for (method, form), text in outcomes.items()
        if method not in methods])


def races(runs):
    """Wrong results of each race, in the forms without and with its barrier or fence."""
    wrong, tries = (texts_of(runs, tsv.PITFALLS[:1], "races", column)
                    for column in ("wrong", "tries"))
    return markdown_table(["Race", "Tries", "Wrong without", "Wrong with"], 1, [
        [code(method), " or ".join(tries[method, form]), *(
            span(list(map(int, wrong[method, of]))) for of in ("wrong", "right"))]
        for method, form in wrong if form == "wrong"])


def messages(runs):
    """How many messages of each order were stale."""
    found = {}  # {(test, order, form): {heading: text}}
    for run in of_today(runs):
        for row in rows(run, "Pitfalls", "message passing"):
            found.setdefault((row["method"], row["order"], row["form"]), {})[heading(run)] = (
                f"{row['stale']} of {row['messages']}")
    names = dict.fromkeys(name for texts in found.values() for name in texts)
    return markdown_table(
        ["Litmus test", "Order", "Form", *(f"stale of messages, {name}" for name in names)], 3,
        [[code(test), code(order), form, *(texts.get(name, "–") for name in names)]
         for (test, order, form), texts in found.items()])
