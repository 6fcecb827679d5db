"""Draws dot charts for report.py: a line for each thing, values to the right. Needs matplotlib."""

import math

from reporting.draw_style import (LEGEND, OPEN, WIDE, axes_at, legend, legend_columns, log_axis, look_of,
                                  sheet)

LINE = 0.155  # inches: its height, and more with several series as far as a page has room
TALLEST = 8.8  # inches
TIMES = "nanoseconds"  # an axis of them has units at its marks
LEFT = 3.2  # inches: of the names


def time_text(nanoseconds):
    """12.3 ns, 4.56 µs"""
    unit, factor = ("ns", 1) if nanoseconds < 999.5 else ("µs", 1e-3)
    value = nanoseconds * factor
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f} {unit}"


def decade_text(nanoseconds):
    """10 ns, 1 µs"""
    return f"{nanoseconds:g} ns" if nanoseconds < 1e3 else f"{nanoseconds / 1e3:g} µs"


def dot_chart(chart):
    """A line for each text of the groups, from the top; values at the right of one series."""
    panel, = chart.panels
    names = chart.names()
    looks = {name: look_of(place) for place, name in enumerate(names)}
    texts = [text for _, group in panel.groups for text in group]
    warned = any(estimate.remarks for estimate in chart.estimates())
    beside = len(panel.estimates()) > len({point.x for one in panel.series for point in one.points})
    strip = 0.34 - 0.12 * (panel.x == TIMES) + (LEGEND + 0.08) * (len(names) > 1) + LEGEND * warned
    height = min(len(texts) * (LINE + 0.02 * beside * (len(names) - 1)), TALLEST - strip - 0.08)
    picture = sheet(WIDE, strip + height + 0.08)
    axes = axes_at(picture, LEFT, strip, WIDE - LEFT - (0.65 if panel.beside else 0.1), height)
    dot_axes(axes, panel, looks, beside)
    if len(names) > 1:
        legend(picture, names, looks, legend_columns(names, WIDE), False,
               LEGEND * warned)
    if warned:
        picture.text(0.5, 0.02 / picture.get_figheight(), OPEN, ha="center", va="bottom")
    return picture


def dot_axes(axes, panel, looks, beside):
    """beside: whether a line has several series, to be drawn one below another."""
    texts = [text for _, group in panel.groups for text in group]
    place_of = {text: place + 0.5 for place, text in enumerate(texts)}
    axes.set_xscale("log")
    for number, series in enumerate(panel.series):
        shift = (number + 0.5) / len(panel.series) - 0.5 if beside else 0
        for point in series.points:
            look, estimate = looks[series.name], point.estimate
            y = place_of[point.x] + 0.7 * shift
            spread = 0 if math.isnan(estimate.spread) else estimate.spread
            axes.errorbar([estimate.value], [y],
                          xerr=[[min(spread, 0.9 * estimate.value)], [spread]],
                          color=look["color"], marker=look["marker"], markersize=3,
                          markeredgewidth=0.7, elinewidth=0.7, capsize=1.5, capthick=0.7,
                          markerfacecolor="white" if estimate.remarks else look["color"])
    for text, estimate in panel.beside.items():
        axes.annotate(time_text(estimate.value), (1, place_of[text]), (40, 0), ha="right",
                      va="center_baseline", xycoords=axes.get_yaxis_transform(),
                      textcoords="offset points")
    for level in panel.levels:
        axes.axvline(level.value, color="0.4", linewidth=0.7, linestyle=":", zorder=0)
    names = [text.split(": ", 1)[1] for text in texts]
    times = panel.x == TIMES
    axes.set(ylim=(len(texts), 0), xlabel="" if times else panel.x)
    axes.set_yticks([place_of[text] for text in texts])
    axes.set_yticklabels(names)
    axes.tick_params(axis="y", length=0)
    axes.grid(True, color="0.88", linewidth=0.5)
    axes.set_axisbelow(True)
    values = panel.estimates()
    log_axis(axes.xaxis, min(one.value for one in values), max(one.value for one in values),
             decade_text if times else None)
    start, inch = 0, 1 / (WIDE - LEFT - 0.65)  # of the width of the axes
    for level, group in panel.groups:
        axes.annotate(level, (0, start + len(group) / 2), (5 - 72 * LEFT, 0), weight="bold",
                      ha="left", va="center", xycoords=("axes fraction", "data"),
                      textcoords="offset points")
        start += len(group)
        if start < len(texts):
            axes.plot([-LEFT * inch, 1 + 0.6 * inch], [start, start], color="0.5", linewidth=0.6,
                      clip_on=False, transform=axes.get_yaxis_transform())
