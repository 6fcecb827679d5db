"""The part of summary.py about Pitfalls."""

from parts import tsv
from parts.tables import grid, methods

FORMS = ("exits early", "stays and skips", "as allowed")


def short(outcome):
    kind, which = tsv.outcome_of(outcome)
    return {tsv.HANGS: "hangs", tsv.ERROR: which}.get(kind, kind)


def warp_barriers(run):
    """Which of them hold lanes that are in branches of their own."""
    rows = run.section("Pitfalls", "warp barrier verdict").rows
    for blocks, what in (("1", "held by"), ("0", "not by")):
        names = [row["method"] for row in rows if row["blocks"] == blocks]
        if names:
            yield f"  lanes in branches of their own: {what} {', '.join(names)}"


def partial_groups(run):
    cells = {}  # method -> form -> outcome
    for file in tsv.PITFALLS:
        for row in run.section(file, "partial groups").rows:
            form = row["form"] if row["form"] in FORMS else "otherwise"
            cells.setdefault(row["method"], {})[form] = short(row["outcome"])
    columns = (*FORMS, "otherwise")
    yield from grid("part of a group", columns, [
        (method, [forms.get(form, "-") for form in columns]) for method, forms in cells.items()])


def races(run):
    section = run.section("Pitfalls", "races")

    def cell(method, form):
        row = section.find(method=method, form=form)
        return f"{row['wrong']} of {row['tries']}" if row else "-"

    yield from grid("wrong results", ("wrong form", "right form"), [
        (method, [cell(method, form) for form in ("wrong", "right")])
        for method in methods(section)])


def messages(run):
    """Of both litmus tests, side by side."""
    section = run.section("Pitfalls", "message passing")
    tests = methods(section)
    orders = {}  # (order, form) -> its cells
    for row in section.rows:
        cells = orders.setdefault((row["order"], row["form"]), dict.fromkeys(tests, "-"))
        cells[row["method"]] = f"{row['stale']} of {row['messages']}"
    yield from grid("stale messages", tests, [
        (f"{order}, {form}", list(cells.values())) for (order, form), cells in orders.items()])


def lines(run):
    yield "What holds, hangs and races (Pitfalls)"
    yield from warp_barriers(run)
    yield from partial_groups(run)
    yield from races(run)
    yield from messages(run)
