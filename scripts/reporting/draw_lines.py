"""Draws the charts of report.py. Needs matplotlib."""

import math

from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from reporting.chart import HEAT, LINES, of_study
from reporting.draw_style import (COLOURS, NARROW, WIDE, axes_at, files_of, log_axis, look_of,
                                settings, sheet)

CELL, LINE = 0.2, 0.155  # inches: height of a heat map's cell, of a dot chart's line
LEGEND = 0.14  # inches: a line of it


def in_cell(figure):
    """The study's with its two decimals, else three digits, of which two are decimals at most."""
    places = 2 if of_study(figure) or figure.value < 9.995 else 1 if figure.value < 99.95 else 0
    return f"{figure.value:.{places}f}" + "!" * bool(figure.remarks)


def time_text(nanoseconds):
    """12.3 ns, 4.56 us"""
    unit, factor = ("ns", 1) if nanoseconds < 999.5 else ("us", 1e-3)
    value = nanoseconds * factor
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f} {unit}"


def tick_texts(panel):
    texts = panel.ticks if isinstance(panel.ticks, dict) else {x: str(x) for x in panel.ticks}
    return list(texts), list(texts.values())


def dark(colour):
    """Whether white is read more easily on it (luminance of Rec. 709, linear light)."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
              for part in colour[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] < 0.18


def heat_axes(axes, panel, colours):
    columns, texts = tick_texts(panel)
    for line, series in enumerate(panel.series):
        for point in series.points:
            colour = colours.to_rgba(point.figure.value)
            column = columns.index(point.x)
            axes.add_patch(Rectangle((column, line), 1, 1, facecolor=colour, edgecolor="white",
                                     linewidth=0.5))
            axes.text(column + 0.5, line + 0.5, in_cell(point.figure), ha="center",
                      va="center_baseline", color="white" if dark(colour) else "black")
    axes.set(xlim=(0, len(columns)), ylim=(len(panel.series), 0), title=panel.title)
    axes.set_xticks([place + 0.5 for place in range(len(columns))])
    axes.set_xticklabels(texts)
    axes.set_yticks([place + 0.5 for place in range(len(panel.series))])
    axes.set_yticklabels([series.name for series in panel.series])
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)


def heat_map(chart):
    width = WIDE if chart.wide else NARROW
    left, right, top, bottom, lowest = 0.4, 0.04, 0.2, 0.16, 0.14  # about each panel, all
    rows = chart.rows_of_panels()
    cell = CELL if len(rows) < 5 else 0.85 * CELL  # eight GPUs need a page
    heights = [cell * max(4, *(len(panel.series) for panel in row)) for row in rows]
    picture = sheet(width, sum(heights) + len(rows) * (top + bottom) + lowest)
    values = [figure.value for figure in chart.figures()]
    colours = ScalarMappable(LogNorm(min(values), max(*values, 1.01 * min(values))), COLOURS)
    edge = picture.get_figheight()
    for row, height in zip(rows, heights):
        edge -= top + height + bottom
        for column, panel in enumerate(row):
            own = len(panel.series) * cell
            axes = axes_at(picture, column * width / chart.columns + left,
                           edge + bottom + height - own, width / chart.columns - left - right, own)
            heat_axes(axes, panel, colours)
            short = {"y": 1, "ha": "right"} if len(panel.series) < 4 else {}  # than the text
            axes.set_ylabel("" if column else panel.y, **short)
            axes.set_xlabel(panel.x if row is rows[-1] else "")
    return picture


def draw_series(axes, series, look, size=3):
    """Marks of so many points with error bars, open where the run warns."""
    points = sorted(series.points, key=lambda point: point.x)
    spread = [0 if math.isnan(point.figure.spread) else point.figure.spread for point in points]
    x, y = [point.x for point in points], [point.figure.value for point in points]
    axes.errorbar(x, y, yerr=spread, elinewidth=0.7, capsize=1.5, capthick=0.7, linewidth=0.9,
                  markersize=size, markeredgewidth=0.7, **look)
    warned = [point for point in points if point.figure.remarks]
    axes.plot([point.x for point in warned], [point.figure.value for point in warned],
              linestyle="none", marker=look["marker"], color=look["color"],
              markerfacecolor="white", markersize=size, markeredgewidth=0.7, zorder=3)


def line_axes(axes, panel, looks):
    for place, series in enumerate(panel.series):
        if panel.joined:
            draw_series(axes, series, looks[series.name])
        else:  # the first may lie below another
            draw_series(axes, series, {**looks[series.name], "linestyle": "none"},
                        2.5 if place else 4)
    for level in panel.levels:
        draw_level(axes, panel, level)
    if panel.log_x:
        axes.set_xscale("log")
    if panel.log_y:
        axes.set_yscale("log")
    elif panel.from_zero:
        axes.set_ylim(0, None)
    if panel.ticks:
        places, texts = tick_texts(panel)
        axes.xaxis.set_major_locator(FixedLocator(places))
        axes.xaxis.set_major_formatter(FixedFormatter(texts))
        axes.xaxis.set_minor_locator(NullLocator())
    axes.set(xlabel=panel.x, title=panel.title)
    axes.grid(True, color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)


def draw_level(axes, panel, level):
    """Its name stands at the end of the line where the points are further away."""
    if level.vertical:
        axes.axvline(level.value, color="0.4", linewidth=0.7, linestyle="--", zorder=0)
        return
    axes.axhline(level.value, color="0.4", linewidth=0.7, linestyle=":", zorder=0)
    ends = sorted((point.x, point.figure.value) for one in panel.series for point in one.points)
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
    for _, axes in row:
        axes.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))


def legend(picture, names, looks, columns, lines=True):
    """In the strip at the lower edge, which is left free for it."""
    handles = [Line2D([], [], label=name, markersize=3, linewidth=0.9, markeredgewidth=0.7,
                      **(looks[name] if lines else {**looks[name], "linestyle": "none"}))
               for name in names]
    picture.legend(handles=handles, loc="lower center", ncol=columns, frameon=False,
                   handlelength=3 if lines else 1, columnspacing=1.2, handletextpad=0.5,
                   labelspacing=0.3, borderpad=0.2, borderaxespad=0.1)


def legend_columns(names, width):
    """As many as fit, by the width of a letter."""
    return max(1, min(len(names), int(width / (0.62 + 0.057 * max(map(len, names))))))


def line_chart(chart):
    width, names, rows = WIDE if chart.wide else NARROW, chart.names(), chart.rows_of_panels()
    looks = {name: look_of(place) for place, name in enumerate(names)}
    beside = legend_columns(names, width)
    strip = LEGEND * -(-len(names) // beside) + 0.06
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
        for panel, axes in placed:
            if panel.log_y:
                log_axis(axes.yaxis, *axes.get_ylim())
        edge -= gap
    legend(picture, names, looks, beside, any(panel.joined for panel in chart.panels))
    return picture


def dot_chart(chart):
    """A line for each text of the groups, from the top; values at the right of one series."""
    panel, = chart.panels
    names = chart.names()
    looks = {name: look_of(place) for place, name in enumerate(names)}
    texts = [text for _, group in panel.groups for text in group]
    strip = 0.34 + (LEGEND + 0.08) * (len(names) > 1)
    height = len(texts) * (LINE + 0.02 * (len(names) - 1))
    picture = sheet(WIDE, strip + height + 0.08)
    axes = axes_at(picture, 2.75, strip, WIDE - 2.75 - (0.65 if len(names) == 1 else 0.1), height)
    dot_axes(axes, panel, looks)
    if len(names) > 1:
        legend(picture, names, looks, legend_columns(names, WIDE), lines=False)
    return picture


def dot_axes(axes, panel, looks):
    texts = [text for _, group in panel.groups for text in group]
    place_of = {text: place + 0.5 for place, text in enumerate(texts)}
    axes.set_xscale("log")
    for number, series in enumerate(panel.series):
        shift = (number + 0.5) / len(panel.series) - 0.5
        for point in series.points:
            look, figure = looks[series.name], point.figure
            y = place_of[point.x] + 0.7 * shift
            spread = 0 if math.isnan(figure.spread) else figure.spread
            axes.errorbar([figure.value], [y], xerr=[[min(spread, 0.9 * figure.value)], [spread]],
                          color=look["color"], marker=look["marker"], markersize=3,
                          markeredgewidth=0.7, elinewidth=0.7, capsize=1.5, capthick=0.7,
                          markerfacecolor="white" if figure.remarks else look["color"])
            if len(panel.series) == 1:
                axes.text(1.11, y, time_text(figure.value), ha="right", va="center_baseline",
                          transform=axes.get_yaxis_transform())
    names = [text.split(": ", 1)[1] for text in texts]
    axes.set(ylim=(len(texts), 0), xlabel=panel.x)
    axes.set_yticks([place_of[text] for text in texts])
    axes.set_yticklabels(names)
    axes.tick_params(axis="y", length=0)
    axes.grid(True, color="0.88", linewidth=0.5)
    axes.set_axisbelow(True)
    values = panel.figures()
    log_axis(axes.xaxis, min(one.value for one in values), max(one.value for one in values))
    start = 0
    for level, group in panel.groups:
        axes.annotate(level, (0, start + len(group) / 2), (-192, 0), weight="bold", ha="left",
                      va="center", xycoords=("axes fraction", "data"),
                      textcoords="offset points")
        start += len(group)
        if start < len(texts):
            axes.plot([-0.74, 1.12], [start, start], color="0.5", linewidth=0.6, clip_on=False,
                      transform=axes.get_yaxis_transform())


def picture_of(chart):
    """A matplotlib Figure; to be made and used within settings()."""
    return {HEAT: heat_map, LINES: line_chart}.get(chart.kind, dot_chart)(chart)


def draw(chart):
    """{"png": bytes, "pdf": bytes}"""
    with settings():
        return files_of(picture_of(chart))
