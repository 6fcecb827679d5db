"""What moved against the recorded runs, and what is known to move it, as sheets of report.py."""

from parts.means import KEYS, UNITS
from reporting import known_spread, outcomes
from reporting.estimates import remarks
from reporting.sheets import Cell, Sheet

MOST_MOVED = 20  # rows that are shown; normal.tsv has all


def remarks_of(run, row):
    """What the run says of a row of Judged."""
    return remarks(run.section(*row.key[:2]), row.row)


def environment_differences(run, recorded):
    """(key, texts of the run and of each recorded one) of what differs; the date always does."""
    runs = [run, *recorded]
    for key in dict.fromkeys(key for one in runs for key in one.environment):
        texts = [one.environment.get(key, "–") for one in runs]
        if key != "date_utc" and len(set(texts)) > 1:
            yield key, texts


def environment(part):
    mark, measured = part.run.mark, " (measured)" * part.run.simulated
    names = [part.name, *(other.path.name + measured for other in part.recorded)]
    sheet = Sheet(f"{mark}What differs between these machines", len(names) + 1, ["", *names])
    sheet.rows = [[key, *texts] for key, texts in
                  environment_differences(part.run, part.recorded)]
    return sheet


def moved(part):
    rows = sorted(part.moved, key=lambda row: bool(part.known.of(row)))  # a stable sort
    sheet = Sheet(f"{part.run.mark}The {min(MOST_MOVED, len(rows))} of {len(rows)} rows that moved "
                  "most, those without a known reason first", 4,
                  ("File, line", "Section", "Row", "Known", "Here", "Recorded", "Unit", "Change"),
                  kind="")
    said = []
    for row in rows[:MOST_MOVED]:
        shape = " ".join(f"{name} {cell}" for name, cell in zip(KEYS[2:], row.key[3:])
                         if cell != "nan")
        found = remarks_of(part.run, row)
        said += [f"! {row.key[0]}, line {row.row.line}: {text}." for text in found]
        sheet.rows.append([
            f"{row.key[0]}, {row.row.line}", row.key[1], f"{row.key[2]} {shape}",
            part.known.numbers(row),
            Cell(row.value.text + "!" * bool(found), "; ".join(found)),
            f"{row.low:.2f} to {row.high:.2f}", UNITS[row.quantity], in_words(row)])
    sheet.notes += [f"All are in tables/{part.name}/normal.tsv.", *said]
    return sheet


def in_words(row):
    """How far a row has moved, without a sign."""
    return f"{abs(row.change):.1f}% {row.verdict}"


def of_way(rows, verdict):
    """How many rows are faster or slower, and by how much at most."""
    changes = [abs(row.change) for row in rows if row.verdict == verdict]
    return f"{len(changes)}, up to {max(changes):.1f}%" if changes else "0"


def groups(part):
    """Rows of one method and section, those first of which one moved most."""
    found = {}
    for row in part.moved:
        found.setdefault(row.key[:3], []).append(row)
    sheet = Sheet(f"{part.run.mark}Where rows moved", 4, ("File", "Section", "Method", "Known", "Faster", "Slower"))
    for key, rows in found.items():
        sheet.rows.append([*key, part.known.numbers(*rows),
                           *(of_way(rows, verdict) for verdict in ("faster", "slower"))])
    sheet.notes.append("Known: what is known to move some of these rows, by the list below.")
    return sheet


def known(part):
    sheet = Sheet(f"{part.run.mark}What is known to move such rows", 3, known_spread.HEAD, kind="")
    sheet.rows = list(part.known.lines())
    sheet.notes.append(f"{part.known.unknown} of {len(part.known.of_row)} moved rows have none of "
                       "these.")
    return sheet


def sheets(part):
    """What "is it normal?" shows."""
    found = [moved(part), groups(part), known(part)] if part.known.of_row else []
    found += [environment(part), outcomes.sheet(part.outcomes, part.run.mark)]
    return [sheet for sheet in found if sheet.rows]
