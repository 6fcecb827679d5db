"""Draws line charts for report.py. Needs matplotlib."""

import math

from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from reporting.draw_style import (LEGEND, NARROW, OPEN, WIDE, axes_at, legend, legend_columns, log_axis,
                                  look_of, sheet, tick_texts)


def place_of(panel, x):
    """Where it is drawn; texts stand at 0, 1, ..., in the order of the ticks."""
    return panel.ticks.index(x) if isinstance(x, str) else x


def draw_series(axes, panel, series, look, size=3, shift=0):
    """Marks of so many points with bars, open where the run warns."""
    places = {point: place_of(panel, point.x) + shift for point in series.points}
    points = sorted(places, key=places.get)
    spread = [0 if math.isnan(point.estimate.spread) else point.estimate.spread for point in points]
    x, y = [places[point] for point in points], [point.estimate.value for point in points]
    axes.errorbar(x, y, yerr=spread, elinewidth=0.7, capsize=1.5, capthick=0.7, linewidth=0.9,
                  markersize=size, markeredgewidth=0.7, **look)
    warned = [point for point in points if point.estimate.remarks]
    axes.plot([places[point] for point in warned], [point.estimate.value for point in warned],
              linestyle="none", marker=look["marker"], color=look["color"],
              markerfacecolor="white", markersize=size, markeredgewidth=0.7, zorder=3)


def line_axes(axes, panel, looks):
    for place, series in enumerate(panel.series):
        if panel.joined:
            shift = 0.05 * (place - (len(panel.series) - 1) / 2) if panel.shows else 0
            draw_series(axes, panel, series, looks[series.name], shift=shift)
        else:  # the first may lie below another
            draw_series(axes, panel, series, {**looks[series.name], "linestyle": "none"},
                        2.5 if place else 4)
    for level in panel.levels:
        draw_level(axes, panel, level)
    if panel.log_x:
        axes.set_xscale("log")
    if panel.log_y:
        axes.set_yscale("log")
    elif panel.from_zero:
        axes.set_ylim(0, None)
    if panel.shows:
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, panel.shows[0]), max(high, panel.shows[1]))
    if panel.ticks:
        marked, texts = tick_texts(panel)
        axes.xaxis.set_major_locator(FixedLocator([place_of(panel, x) for x in marked]))
        axes.xaxis.set_major_formatter(FixedFormatter(texts))
        axes.xaxis.set_minor_locator(NullLocator())
    axes.set(xlabel=panel.x, title=panel.title)
    axes.grid(True, color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)


def draw_level(axes, panel, level):
    """Its name stands at the end of the line where the points are further away."""
    if level.vertical:
        axes.axvline(level.value, color="0.4", linewidth=0.7, linestyle="--", zorder=0)
        if panel.title or not panel.x:  # not the lower one of two
            axes.annotate(level.name, (level.value, 1 - level.foot), (-3, 6 * level.foot - 3),
                          color="0.3", ha="right", va="bottom" if level.foot else "top",
                          textcoords="offset points", xycoords=("data", "axes fraction"))
        return
    axes.axhline(level.value, color="0.4", linewidth=0.7, linestyle=":", zorder=0)
    ends = sorted((point.x, point.estimate.value) for one in panel.series for point in one.points)
    part = max(1, len(ends) // 5)
    far = [min(abs(math.log(y / level.value)) for _, y in end)
           for end in (ends[:part], ends[-part:])]
    right = far[1] > far[0]
    axes.annotate(level.name, (right, level.value), (-2 if right else 2, -1), color="0.3",
                  ha="right" if right else "left", va="top", textcoords="offset points",
                  xycoords=("axes fraction", "data"))


def same_limits(row):
    """row: (panel, axes) beside one another."""
    limits = [axes.get_ylim() for _, axes in row]
    low, high = min(low for low, _ in limits), max(high for _, high in limits)
    for panel, axes in row:
        edge = (high / low) ** 0.03 if panel.log_y else 1  # an axis's own is of its own range
        axes.set_ylim(low / edge, high * edge)


def line_chart(chart):
    width, names, rows = WIDE if chart.wide else NARROW, chart.names(), chart.rows_of_panels()
    looks = {name: look_of(place) for place, name in enumerate(names)}
    beside = legend_columns(names, width)
    warned = any(estimate.remarks for estimate in chart.estimates())
    strip = LEGEND * (-(-len(names) // beside) + warned) + 0.06
    left, right, gap, bottom = 0.5, 0.12, 0.2, 0.32
    tops = [0.2 if any(panel.title for panel in row) else 0.06 for row in rows]
    tall = 2.0 if len(rows) == 1 else 1.5
    edge = strip + bottom + sum(tops) + len(rows) * tall + (len(rows) - 1) * gap
    picture = sheet(width, edge)
    for row, top in zip(rows, tops):
        edge -= top + tall
        placed = [(panel, axes_at(picture, column * width / chart.columns + left, edge,
                                  width / chart.columns - left - right, tall))
                  for column, panel in enumerate(row)]
        for column, (panel, axes) in enumerate(placed):
            line_axes(axes, panel, looks)
            axes.set_ylabel("" if column and chart.same_y else panel.y)
        if chart.same_y:
            same_limits(placed)
        if chart.same_x:
            ends = [axes.get_xlim() for _, axes in placed]
            for _, axes in placed:
                axes.set_xlim(min(low for low, _ in ends), max(high for _, high in ends))
        for panel, axes in placed:
            if panel.log_y:
                log_axis(axes.yaxis, *axes.get_ylim())
        edge -= gap
    if warned:
        picture.text(0.5, 0.02 / picture.get_figheight(), OPEN, ha="center", va="bottom")
    legend(picture, names, looks, beside, any(panel.joined for panel in chart.panels),
           LEGEND * warned)
    return picture
