"""What report.py writes about a run: its blocks of the pages, its part of report.json."""

from pathlib import Path

from parts.means import KEYS
from reporting import charts, moved, normal, run_warnings
from reporting.blocks import AllRows, Box, Filed, Fold, Heading, Items, Picture, Rows, Text
from reporting.estimates import number, sources
from reporting.estimates import title_of as title_of_quantity
from reporting.headline import conclusions
from reporting.headline_sheets import headline_json

MACHINES = Path("figures/machines")  # the chart of several machines
MOST_FAULTS = 10  # that a verdict shows


def machines_picture(chart):
    """The chart of several machines."""
    return Picture(chart, MACHINES)


def title_of(part):
    """The run's name, with its label."""
    label = part.run.environment.get("label")
    return part.run.mark + part.name + (f" ({label})" if label and label != part.name else "")


def verdict_box(part):
    """What check.py says of the run."""
    found = part.verdict
    said = {"normal": f"Normal: {found.judged:,} rows compared with the recorded runs, no fault found.",
            "look": "Look: something differs from the recorded runs.",
            "broken": "Broken: much is slower than recorded, or does not work.",
            "unknown": "Unknown: nothing is wrong, but there is too little to compare with."}[
                found.level]
    items = [fault.text for fault in found.faults[:MOST_FAULTS]]
    if len(found.faults) > MOST_FAULTS:
        items.append(f"and {len(found.faults) - MOST_FAULTS} more")
    return Box(found.level, part.run.mark + said, items,
               (f"{part.name}-normal", "Row by row"))


def captioned(sheet, run):
    """Without what it was measured with, which the page says once."""
    gpu = run.environment.get("gpu", "unknown")
    sheet.title = sheet.title.partition(f". {gpu} x ")[0]
    return sheet


def filed(part, sheet, name):
    return Filed(captioned(sheet, part.run), Path("tables") / part.name / name)


def normal_blocks(part):
    yield Text(part.reference())
    if part.recorded:
        head, lines = normal.table(part)
        yield from moved.sheets(part)
        yield Rows(part.run.mark + normal.HOW, head, 1, lines)


def all_rows(part):
    """What normal.tsv has."""
    head, *rows = [line.split("\t") for line in normal.lines_of_tsv(part)
                   if not line.startswith("#")]
    return AllRows(head, rows, Path("tables") / part.name / "normal.tsv")


def warning_blocks(part):
    yield Text(run_warnings.summed_up(part.run, part.warned))
    if part.warned:
        head = run_warnings.HEAD
        yield Rows("", head, len(head), list(map(run_warnings.cells, part.warned)))


def tables_of(part):
    """The study's tables."""
    return [filed(part, table.sheet(part.run), f"table_{number}")
            for number, table in enumerate(part.tables, 1) if table.measured()]


def run_blocks(part, pictures):
    """All that the pages say of a run."""
    run, name, mark = part.run, part.name, part.run.mark
    yield Heading(2, title_of(part), name)
    yield Text(" ".join((f"{run.about()}.", *run.doubts())))
    if run.partial:
        yield Text("An interrupted run: not everything was measured.", note=True)
    yield verdict_box(part)
    said = conclusions(run)
    if said:
        yield Items([mark + sentence for sentence in said])
    yield filed(part, part.headline, "headline")
    absent = list(part.absent())
    if absent:
        yield Text(f"Not in this run: {', '.join(absent)}.", note=True)
    yield Fold(f"{mark}Tables of the study", f"{name}-tables", tables_of(part), True)
    drawn = [*(Text(sentence, note=True)
               for sentence in charts.not_shown(part.charts, pictures)),
             *(Picture(*shown) for shown in part.pictured())]
    yield Fold(f"{mark}Figures", f"{name}-figures", drawn, True)
    yield Fold(f"{mark}{name}: is it normal?", f"{name}-normal", list(normal_blocks(part)), True)
    yield Fold(f"{mark}{name}: warnings of the run", f"{name}-warnings",
               list(warning_blocks(part)))
    yield Fold(f"{mark}{name}: environment", f"{name}-environment",
               [Rows("", ("Key", "Value"), 2, list(run.environment.items()))])
    steps = [Text(f"{mark}Barriers of all blocks beside the sum of what their steps take: "
                  f"tables/{name}/barrier_steps.tsv.", note=True)] * bool(part.barrier_steps)
    yield Fold(f"{mark}{name}: all rows", f"{name}-rows", [all_rows(part), *steps])


def estimate_json(quantity, estimate):
    return {"unit": quantity.unit, **estimate.numbers(), "text": estimate.text(),
            "wrong": estimate.wrong, "nothing_waits": estimate.nothing,
            "remarks": estimate.remarks, "sources": sources(estimate.sources)}


def table_json(table):
    lines = [{
        "labels": dict(zip(table.labels, line.labels)),
        "numbers": {title_of_quantity(quantity): estimate_json(quantity, estimate)
                    for quantity, estimate in zip(table.quantities, line.estimates) if estimate},
        "study": {gpu: {quantity.name: {"unit": quantity.unit, "value": float(text)}
                        for quantity, text in zip(table.quantities, texts or ()) if text}
                  for gpu, texts in line.study.items() if texts and any(texts)}}
        for line in table.lines]
    return {"title": table.title, "notes": list(table.below()), "missing": table.missing,
            "rows": lines}


def chart_json(chart):
    return {"label": chart.label, "title": chart.title, "missing": chart.missing, "points": [
        {"panel": panel.name, "series": series.name, "x": point.x, "unit": chart.unit_of(panel),
         "value": number(point.estimate.value), "spread": number(point.estimate.spread),
         "remarks": point.estimate.remarks, "sources": sources(point.estimate.sources)}
        for panel, series, point in chart.rows()]}


def normal_json(part):
    verdicts = {}
    for file, line, verdict in (*((row.key[0], row.row.line, row.verdict) for row in part.normal),
                                *((one.file, one.line, one.verdict) for one in part.outcomes
                                  if one.line)):
        verdicts.setdefault(f"{file}.tsv", {})[line] = verdict
    return {
        "recorded": [other.path.name for other in part.recorded],
        "threshold_percent": normal.THRESHOLD,
        "counts": [{"file": file, "section": section, **found}
                   for (file, section), found in normal.counts(part).items()],
        "not_in_this_run": part.lacking and [
            {"file": file, **dict(zip(KEYS, cells))} for file, *cells in part.lacking],
        "outcomes": [one._asdict() for one in part.outcomes],
        "verdicts": verdicts,
        **moved.moved_json(part)}


def part_json(part, study):
    """The part of report.json."""
    return {
        "folder": part.name, **({"simulated": True} if part.run.simulated else {}),
        "checked": part.run.checked, "environment": part.run.environment, "absent": list(part.absent()),
        "verdict": {"level": part.verdict.level, "judged": part.verdict.judged,
                    "unexplained": len(part.verdict.unexplained),
                    "faults": [{"level": fault.level, "text": fault.text}
                               for fault in part.verdict.faults]},
        "headline": headline_json(part, study),
        "tables": {table.number: table_json(table) for table in part.tables
                   if table.measured()},
        "figures": {chart.name: chart_json(chart) for chart in part.charts if chart.measured()},
        "observations": [{"id": name, "verdict": verdict, "text": text, "sources": sources(found)}
                         for name, verdict, text, found in part.observations],
        "normal": normal_json(part),
        "warnings": [one._asdict() for one in part.warned]}
