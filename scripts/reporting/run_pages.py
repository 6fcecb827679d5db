"""What report.py writes about a run: report.md's part, summary.json's part."""

from pathlib import Path

from compare import KEYS
from reporting import charts, moved, normal, run_warnings, sheets
from reporting.figures import number, sources
from reporting.headline_sheets import headline_json
from reporting.sheets import literal

MACHINES = Path("figures/machines")  # the chart of several machines


def normal_lines(part):
    """Is it normal?, as Markdown."""
    yield f"### {part.run.mark}{literal(part.name)}: is it normal?"
    yield ""
    yield literal(part.reference())
    if not part.recorded:
        yield ""
        return
    yield literal(part.run.mark + normal.HOW)
    yield ""
    head, lines = normal.table(part)
    yield from sheets.markdown_table(head, 2, lines)
    yield ""
    for sheet in moved.sheets(part):
        yield from sheets.markdown(sheet)


def chart_lines(part, pictures):
    """All charts, as Markdown."""
    for sentence in charts.not_shown(part.charts, pictures):
        yield literal(sentence)
        yield ""
    for shown in part.pictured():
        yield from charts.chart_lines(*shown, pictures)


def about_all(parts):
    return "; ".join(f"{part.name}: {part.run.about()}" for part in parts)


def machines_lines(chart, parts, pictures):
    """The chart of several machines, as Markdown."""
    if chart:
        yield from charts.chart_lines(chart, MACHINES, about_all(parts), pictures)


def page_lines(part, pictures):
    """The part of report.md."""
    yield f"## {part.run.mark}{literal(part.name)}"
    yield ""
    yield literal(f"{part.run.about()}.")
    yield from filter(None, [part.run.unchecked()])
    if part.run.path.name.endswith(".partial"):
        yield "An interrupted run: not everything was measured."
    yield ""
    yield from sheets.markdown(part.headline)
    absent = list(part.absent())
    if absent:
        yield literal(f"Not in this run: {', '.join(absent)}.")
        yield ""
    yield from sheets.markdown_table((f"{part.run.mark}Environment", ""), 2, part.run.environment.items())
    yield ""
    for table in part.tables:
        if table.measured():
            yield from sheets.markdown(table.sheet(part.run))
    yield from chart_lines(part, pictures)
    yield from normal_lines(part)
    yield from run_warnings.markdown(part)


def figure_json(quantity, figure):
    return {"unit": quantity.unit, **figure.numbers(), "text": figure.text(),
            "wrong": figure.wrong, "nothing_waits": figure.nothing,
            "remarks": figure.remarks, "sources": sources(figure.sources)}


def table_json(table):
    lines = [{
        "labels": dict(zip(table.labels, line.labels)),
        "figures": {quantity.title: figure_json(quantity, figure)
                    for quantity, figure in zip(table.quantities, line.figures) if figure},
        "study": {gpu: {quantity.title: {"unit": quantity.unit, "value": float(text)}
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
    """The part of summary.json."""
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
