"""What report.py writes about a run: report.md's part, summary.json's part."""

from pathlib import Path

from reporting import charts, moved, normal, run_warnings, sheets
import tsv
from reporting.causes import Known
from reporting.figures import number, short_name, sources

MACHINES = Path("figures/machines")  # the chart of several machines


class Part:
    """A run with all that is said of it. tables: I to VIII; judged: of table_8();
    normal: of normal.judged(); recorded, alike: of normal.references(); charts: of
    report_charts; headline: a Sheet."""

    def __init__(self, run, name, tables, observations, recorded, alike, charts):
        self.run, self.name, self.tables, self.observations = run, name, tables, observations
        self.recorded, self.alike = recorded, alike
        self.normal = normal.judged(run, recorded)
        self.known = Known(run, recorded, normal.moved(self.normal))
        self.warned = run_warnings.warned(run)
        self.headline = None
        self.charts = charts

    def path_of(self, chart):
        """Of its files, without the ending."""
        return Path("figures") / self.name / chart.name

    def absent(self):
        """What the folder lacks, a text each."""
        for file in tsv.FILES:
            if file not in self.run.files:
                yield f"{file}.tsv"
        for table in self.tables:
            if not table.measured():
                yield f"Table {table.number}"
        several = self.run.environment.get("gpu_count") != "1"
        for chart in self.charts:
            if not chart.measured() and (several or not chart.several):
                yield chart.label or f"chart of {chart.name.replace('_', ' ')}"

    def reference(self):
        """What the rows are compared with, in a sentence."""
        names = ", ".join(other.path.name for other in self.recorded)
        if not self.recorded:
            return "There is no recorded run to compare with."
        if self.alike:
            return f"Compared with the recorded runs of the same kind of GPU: {names}."
        return (f"No run of this kind of GPU is recorded. Compared with the nearest, which is "
                f"another: {short_name(self.recorded[0])} ({names}).")


def normal_lines(part):
    """Is it normal?, as Markdown."""
    yield f"### {part.name}: is it normal?"
    yield ""
    yield part.reference()
    if not part.recorded:
        yield ""
        return
    yield (f"same: within the recorded means and their 95% intervals, or at most "
           f"{normal.THRESHOLD:g}% beyond; unclear: only its own interval reaches there.")
    yield ""
    yield from sheets.markdown_table(("File", "Section", *normal.VERDICTS), 2, (
        (*key, *(str(found[name]) for name in normal.VERDICTS))
        for key, found in normal.counts(part.normal).items()))
    yield ""
    for sheet in moved.sheets(part):
        yield from sheets.markdown(sheet)


def chart_lines(part, pictures):
    """All charts, as Markdown."""
    for sentence in filter(None, (pictures.why and f"There are {pictures.why}.",
                                  charts.of_several_gpus(part.charts))):
        yield sentence
        yield ""
    for chart in part.charts:
        if chart.measured():
            yield from charts.chart_lines(chart, part.path_of(chart), part.run.about(), pictures)


def machines_lines(chart, parts, pictures):
    """The chart of several machines, as Markdown."""
    if chart:
        about = "; ".join(f"{part.name}: {part.run.about()}" for part in parts)
        yield from charts.chart_lines(chart, MACHINES, about, pictures)


def page_lines(part, pictures):
    """The part of report.md."""
    yield f"## {part.name}"
    yield ""
    yield f"{part.run.about()}."
    if part.run.path.name.endswith(".partial"):
        yield "An interrupted run: not everything was measured."
    yield ""
    yield from sheets.markdown(part.headline)
    absent = list(part.absent())
    if absent:
        yield f"Not in this run: {', '.join(absent)}."
        yield ""
    yield from sheets.markdown_table(("Environment", ""), 2, part.run.environment.items())
    yield ""
    for table in part.tables:
        if table.measured():
            yield from sheets.markdown(table.sheet(part.run))
    yield from chart_lines(part, pictures)
    yield from normal_lines(part)
    yield from run_warnings.markdown(part)


def figure_json(quantity, figure):
    return {"unit": quantity.unit, "value": number(figure.value), "spread": number(figure.spread),
            "text": figure.text(), "wrong": figure.wrong, "nothing_waits": figure.nothing,
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


def normal_json(part):
    return {
        "recorded": [other.path.name for other in part.recorded], "same_gpu": part.alike,
        "threshold_percent": normal.THRESHOLD,
        "counts": [{"file": file, "section": section,
                    **{name: found[name] for name in normal.VERDICTS}}
                   for (file, section), found in normal.counts(part.normal).items()],
        **moved.moved_json(part)}


def part_json(part, headline):
    """The part of summary.json. headline: that of report_machines."""
    return {
        "folder": part.name, "environment": part.run.environment, "absent": list(part.absent()),
        "headline": headline,
        "tables": {table.number: table_json(table) for table in part.tables
                   if table.measured()},
        "observations": [{"id": name, "verdict": verdict, "text": text, "sources": sources(found)}
                         for name, verdict, text, found in part.observations],
        "normal": normal_json(part),
        "warnings": [one._asdict() for one in part.warned]}
