"""The pictures of report.py as files and in its pages. Without matplotlib their numbers alone."""

import os
import re
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from pathlib import Path
from urllib.parse import quote

from parts.command_line import ignore_signals
from parts.programs import end_with
from reporting import chart_study
from reporting.chart_barriers import all_barriers
from reporting.sheets import literal, tex

MAKERS = (*chart_study.MAKERS, all_barriers)
TWO_LINES = 240  # letters, of a caption in LaTeX
COLUMNS = ("panel", "series", "x", "unit", "value", "spread", "marks", "source")


def charts_of(run, study):
    charts = [make(run, study) for make in MAKERS]
    for chart in charts:
        # Says in its title and across the picture where it shows what was simulated.
        chart.title, chart.simulated = run.mark + chart.title, run.simulated
        chart.about = run.about()
    return charts


def lines_of_tsv(chart):
    """All that a picture shows, with the rows that it is of. No two lines have the same panel,
    series, x and unit."""
    yield f"# {chart.title}"
    yield "\t".join(COLUMNS)
    for panel, series, point in chart.rows():
        estimate = point.estimate
        yield "\t".join((panel.name, series.name, str(point.x), chart.unit or panel.y,
                         f"{estimate.value:.10g}", f"{estimate.spread:.10g}",
                         "!" * bool(estimate.remarks), estimate.where()))


def begin(parent):
    """Of a process that draws: signals are for the script, which it does not outlive."""
    ignore_signals()
    end_with(parent)


def at_once(draw, charts):
    """[draw(chart)] by as many processes as there are processors, where the system has room for them."""
    workers = max(1, min(len(charts), len(os.sched_getaffinity(0))))
    try:
        with ProcessPoolExecutor(workers, initializer=begin, initargs=(os.getpid(),)) as pool:
            return list(pool.map(draw, charts))
    except (OSError, NotImplementedError, BrokenExecutor):
        return list(map(draw, charts))


class Pictures:
    """All charts as files. charts: {path without ending: Chart}; why: why there are no
    pictures, or ""."""

    def __init__(self, charts):
        self.charts, self.drawn, self.why = charts, {}, ""
        try:
            from reporting.draw import draw
        except ImportError as error:
            self.why = f"no pictures, because matplotlib cannot be used: {error}"
            return
        measured = {path: chart for path, chart in charts.items() if chart.measured()}
        self.drawn = dict(zip(measured, at_once(draw, measured.values())))

    def files(self):
        """path -> text or bytes; None: not to be there"""
        files = {}
        for path, chart in self.charts.items():
            made = self.drawn.get(path, {})
            files[Path(f"{path}.tsv")] = (
                "\n".join(lines_of_tsv(chart)) + "\n" if chart.measured() else None)
            for ending in ("png", "pdf"):
                files[Path(f"{path}.{ending}")] = made.get(ending)
            files[Path(f"{path}.tex")] = "\n".join(latex(chart, path)) + "\n" if made else None
        return files

    def png(self, path):
        """Bytes, None where none was drawn."""
        return self.drawn.get(path, {}).get("png")


def latex(chart, path):
    """The lines of a file to \\input; the path of the picture is from the folder of the report."""
    first, *notes = chart.caption()
    caption, others = f"{first} {chart.about}.", []
    for sentence in filter(None, (*notes, chart.legend())):
        if len(f"{caption} {sentence}") > TWO_LINES:  # what has no room is a comment
            others.append(sentence)
        else:
            caption += f" {sentence}"
    kind = "figure*" if chart.wide else "figure"
    label = re.sub("[^A-Za-z0-9]+", "-", "-".join(Path(path).parts[1:]))
    yield "% Needs \\usepackage{graphicx}."
    yield rf"\begin{{{kind}}}"
    yield r"\centering"
    yield rf"\includegraphics[width=\linewidth]{{{path}.pdf}}"
    yield rf"\caption{{{tex(caption)}}}"
    yield from (f"% {tex(sentence)}" for sentence in others)
    yield rf"\label{{fig:{label}}}"
    yield rf"\end{{{kind}}}"


def chart_lines(chart, path, pictures):
    """As Markdown."""
    first, *notes = chart.caption()
    caption = " ".join(filter(None, (first, chart.legend(), *notes)))
    if pictures.png(path):
        yield f"![{literal(chart.alternative())}]({quote(str(path))}.png)"
        yield ""
    yield f"**{literal(chart.label or 'Chart')}.** {literal(f'{caption} Numbers: {path}.tsv.')}"
    yield ""


def not_shown(charts, pictures):
    """Sentences on pictures that there are none of, and on those of several GPUs."""
    if pictures.why:
        yield f"There are {pictures.why}."
    labels = [chart.label for chart in charts if chart.label and chart.several and not chart.measured()]
    if labels:
        yield f"Of several GPUs, so not for this run: {', '.join(labels)}."
