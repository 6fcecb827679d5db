"""What report.py writes about a run: its blocks of the pages, its part of report.json."""

from pathlib import Path

from compare import KEYS
from reporting import charts, in_short, moved, normal, run_warnings
from reporting.blocks import Box, Heading, Picture, Rows, Text
from reporting.figures import number, sources, title_of
from reporting.headline_sheets import headline_json

SHOWN = 8  # faults
MACHINES = Path("figures/machines")  # the chart of several machines


def machines_picture(chart, parts):
    """The chart of several machines."""
    about = "; ".join(f"{part.name}: {part.run.about()}" for part in parts)
    return Picture(chart, MACHINES, about)


def verdict_box(part):
    """Is it normal, and why not."""
    verdict = part.verdict
    texts = {"normal": "As on the recorded machines.", "look": "Something differs.",
             "broken": "Something is much slower, or does not work."}
    faults = [f"{fault.level}: {fault.text}" for fault in verdict.faults]
    if len(faults) > SHOWN:
        faults[SHOWN:] = [f"and {len(faults) - SHOWN} more"]
    return Box(verdict.level, f"{part.run.mark}Is it normal? {verdict.level.capitalize()}. "
               f"{texts[verdict.level]} {verdict.judged:,} rows judged, "
               f"{len(verdict.unexplained)} beyond what is known.", faults)


def normal_blocks(part):
    yield Heading(3, f"{part.run.mark}{part.name}: is it normal?", f"{part.name}-normal")
    yield Text(part.reference())
    if part.recorded:
        head, lines = normal.table(part)
        yield Rows(part.run.mark + normal.HOW, head, 2, lines)
        yield from moved.sheets(part)


def warning_blocks(part):
    mark = part.run.mark
    yield Heading(3, f"{mark}{part.name}: warnings of the run", f"{part.name}-warnings")
    yield Text(mark + run_warnings.summed_up(part.run, part.warned))
    if part.warned:
        head = run_warnings.HEAD
        yield Rows(mark.rstrip(": "), head, len(head),
                   list(map(run_warnings.cells, part.warned)), "All of them")


def run_blocks(part, pictures):
    """All that the pages say of a run."""
    run = part.run
    yield Heading(2, run.mark + part.name, part.name)
    yield Text(" ".join((f"{run.about()}.", *run.doubts())))
    if run.partial:
        yield Text("An interrupted run: not everything was measured.", note=True)
    yield verdict_box(part)
    if in_short.conclusion(run):
        yield Text(run.mark + in_short.conclusion(run))
    yield part.headline
    absent = list(part.absent())
    if absent:
        yield Text(f"Not in this run: {', '.join(absent)}.", note=True)
    yield Rows(run.mark.rstrip(": "), (f"{run.mark}Environment", ""), 2,
               list(run.environment.items()), "Environment")
    yield from (table.sheet(run) for table in part.tables if table.measured())
    yield from (Text(sentence, note=True) for sentence in charts.not_shown(part.charts, pictures))
    yield from (Picture(*shown) for shown in part.pictured())
    yield from normal_blocks(part)
    yield from warning_blocks(part)


def figure_json(quantity, figure):
    return {"unit": quantity.unit, **figure.numbers(), "text": figure.text(),
            "wrong": figure.wrong, "nothing_waits": figure.nothing,
            "remarks": figure.remarks, "sources": sources(figure.sources)}


def table_json(table):
    lines = [{
        "labels": dict(zip(table.labels, line.labels)),
        "figures": {title_of(quantity): figure_json(quantity, figure)
                    for quantity, figure in zip(table.quantities, line.figures) if figure},
        "study": {gpu: {quantity.name: {"unit": quantity.unit, "value": float(text)}
                        for quantity, text in zip(table.quantities, texts or ()) if text}
                  for gpu, texts in line.study.items() if texts and any(texts)}}
        for line in table.lines]
    return {"title": table.title, "notes": list(table.below()), "missing": table.missing,
            "rows": lines}


def chart_json(chart):
    return {"label": chart.label, "title": chart.title, "missing": chart.missing, "points": [
        {"panel": panel.name, "series": series.name, "x": point.x, "unit": chart.unit_of(panel),
         "value": number(point.figure.value), "spread": number(point.figure.spread),
         "remarks": point.figure.remarks, "sources": sources(point.figure.sources)}
        for panel, series, point in chart.rows()]}


def normal_json(part):
    verdicts = {}
    for file, line, verdict in (*((row.key[0], row.row.line, row.verdict) for row in part.normal),
                                *((one.file, one.line, one.verdict) for one in part.outcomes
                                  if one.line)):
        verdicts.setdefault(f"{file}.tsv", {})[line] = verdict
    return {
        "verdict": part.verdict.level,
        "faults": [{"level": fault.level, "text": fault.text} for fault in part.verdict.faults],
        "recorded": [other.path.name for other in part.recorded], "same_gpu": part.alike,
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
        "headline": headline_json(part, study),
        "tables": {table.number: table_json(table) for table in part.tables
                   if table.measured()},
        "figures": {chart.name: chart_json(chart) for chart in part.charts if chart.measured()},
        "observations": [{"id": name, "verdict": verdict, "text": text, "sources": sources(found)}
                         for name, verdict, text, found in part.observations],
        "normal": normal_json(part),
        "warnings": [one._asdict() for one in part.warned]}
