"""The pictures of report.py as files and in its pages. Without matplotlib their numbers alone."""

import base64
import html
import struct
from pathlib import Path

import report_chart_new
import report_chart_study

MAKERS = (*report_chart_study.MAKERS, *report_chart_new.MAKERS)
COLUMNS = ("panel", "series", "x", "value", "spread", "marks", "source")


def charts_of(run, study):
    return [make(run, study) for make in MAKERS]


def lines_of_tsv(chart):
    """All that a picture shows, with the rows that it is of."""
    yield f"# {chart.title}"
    yield "\t".join(COLUMNS)
    for panel, series, point in chart.rows():
        figure = point.figure
        where = "; ".join(", ".join(filter(None, (file, section, f"line {line}")))
                          for file, section, line in figure.sources)
        yield "\t".join((panel.title, series.name, str(point.x), f"{figure.value:.10g}",
                         f"{figure.spread:.10g}", "!" * bool(figure.remarks), where))


class Pictures:
    """Draws charts, and keeps what it drew for the pages. why: why there are none, or ""."""

    def __init__(self):
        self.drawn, self.draw, self.why = {}, None, ""
        try:
            from report_chart_draw import draw
            self.draw = draw
        except ImportError as error:
            self.why = f"no pictures, because matplotlib cannot be used: {error}"

    def files(self, folder, chart):
        """path -> text or bytes of a chart's files; None: not to be there"""
        paths = {ending: Path(folder) / f"{chart.name}.{ending}"
                 for ending in ("tsv", "png", "pdf")}
        files = dict.fromkeys(paths.values())
        if chart.measured():
            files[paths["tsv"]] = "\n".join(lines_of_tsv(chart)) + "\n"
            self.drawn[paths["png"]] = drawn = self.draw(chart) if self.draw else {}
            files.update((paths[ending], data) for ending, data in drawn.items())
        return files

    def png(self, folder, chart):
        """Bytes, None where none was drawn."""
        return self.drawn.get(Path(folder) / f"{chart.name}.png", {}).get("png")


def titled(chart, about):
    """Label and sentences of a caption; about: what was measured with what."""
    sentences = list(chart.caption())
    sentences.insert(1, f"{about}.")
    return f"{chart.label or 'Chart'}.", " ".join(sentences)


def chart_html(chart, folder, about, pictures):
    label, caption = map(html.escape, titled(chart, about))
    yield f"<figure><figcaption><b>{label}</b> {caption}</figcaption>"
    data = pictures.png(folder, chart)
    if data:
        width, height = struct.unpack(">II", data[16:24])  # of the header
        yield (f'<img width="{width}" height="{height}" alt="{html.escape(chart.alternative())}" '
               f'src="data:image/png;base64,{base64.b64encode(data).decode()}">')
    yield "</figure>"


def chart_lines(chart, folder, about, pictures):
    """As Markdown."""
    label, caption = titled(chart, about)
    if pictures.png(folder, chart):
        alternative = chart.alternative().replace("[", "(").replace("]", ")")
        yield f"![{alternative}]({Path(folder) / chart.name}.png)"
        yield ""
    yield f"**{label}** {caption} Numbers: {Path(folder) / chart.name}.tsv."
    yield ""


def of_several_gpus(charts):
    """A sentence on those that a run on one GPU cannot have, or ""."""
    labels = [chart.label for chart in charts if chart.several and not chart.measured()]
    return f"Of several GPUs, so not for this run: {', '.join(labels)}." if labels else ""
