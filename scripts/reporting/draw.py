"""Draws the charts of report.py. Needs matplotlib."""

from reporting.chart import HEAT, LINES
from reporting.draw_dots import dot_chart
from reporting.draw_heat_map import heat_map
from reporting.draw_lines import line_chart
from reporting.draw_style import files_of, settings


def picture_of(chart):
    """A matplotlib Figure; to be made and used within settings()."""
    return {HEAT: heat_map, LINES: line_chart}.get(chart.kind, dot_chart)(chart)


def draw(chart):
    """{"png": bytes, "pdf": bytes}"""
    with settings():
        return files_of(picture_of(chart))
