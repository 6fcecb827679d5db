"""Draws the charts of report.py. Needs matplotlib."""

from reporting.chart import HEAT, LINES
from reporting.draw_dots import dot_chart
from reporting.draw_heat_map import heat_map
from reporting.draw_lines import line_chart
from reporting.draw_style import files_of, settings


def picture_of(chart):
    """A matplotlib Figure; to be made and used within settings()."""
    picture = {HEAT: heat_map, LINES: line_chart}.get(chart.kind, dot_chart)(chart)
    if chart.simulated:
        picture.text(0.5, 0.5, "simulated", color="#d00000", alpha=0.35, fontsize=40, rotation=25,
                     ha="center", va="center", zorder=1000)
    return picture


def draw(chart):
    """{"png": bytes, "pdf": bytes}"""
    with settings():
        return files_of(picture_of(chart))
