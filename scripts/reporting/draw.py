"""Draws the charts of report.py. Needs matplotlib. Sizes are those of a paper of two columns, marks
differ in grey as well, and the same numbers make the same files."""

import io
import itertools
import math
from contextlib import contextmanager
from pathlib import Path

import matplotlib
from matplotlib import ticker
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine  # since matplotlib 3.6
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from PIL import Image  # matplotlib needs it, too

from reporting.chart import DOTS, HEAT, LINES, of_study

NARROW, WIDE = 3.5, 7.16  # inches: a column, a page
DOTS_PER_INCH = 200
STYLE = Path(__file__).with_name("pictures.mplstyle")
LEGEND = 0.14  # inches: a line of it
TALL = {HEAT: 0.17, LINES: 1.5, DOTS: 0.15}  # inches: of a line of cells, of a panel, of a line of dots
ABOUT = {HEAT: 0.5, LINES: 0.45, DOTS: 0.3}  # inches: above and below a row of panels
OPEN, MARKED = "open marks: the run warns of these values", "!: the run warns of this value"
COLOURS = "viridis_r"  # darker is more, in grey too
UNITS = {"microseconds": "µs"}  # as short as a title needs it
# Colours of Okabe and Ito; each name has a mark and a line of its own, too.
INKS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (6, 2, 2, 2)))
BARS = {"elinewidth": 0.7, "capthick": 0.7}
GREY = {"color": "0.4", "linewidth": 0.7, "zorder": 0}  # of levels


@contextmanager
def settings():
    """In it pictures are made and written, whatever the user's own settings are."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(matplotlib.rc_params_from_file(
            STYLE, use_default_template=False))
        yield


def log_axis(axis, low, high, text="{:g}".format):
    """Numbers rather than powers; more marks where there are few decades."""
    subs = (1,) if high / low > 1000 else (1, 2, 5) if high / low > 10 else range(1, 10)
    axis.set_major_locator(ticker.LogLocator(base=10, subs=subs, numticks=20))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: text(value)))
    axis.set_minor_formatter(ticker.NullFormatter())


def tick_texts(panel):
    """{where x is marked: with what}"""
    return panel.ticks if isinstance(panel.ticks, dict) else {x: str(x) for x in panel.ticks}


# Heat maps.
def in_cell(estimate):
    """The study's with its two decimals, else three digits, of which two are decimals at most."""
    value = estimate.value
    places = 2 if of_study(estimate) or value < 9.995 else 1 if value < 99.95 else 0
    return f"{estimate.value:.{places}f}" + "!" * bool(estimate.remarks)


def dark(colour):
    """Whether white is read more easily on it (luminance of Rec. 709, linear light)."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
              for part in colour[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] < 0.18


def heat_axes(axes, panel, chart, lines):
    """lines: the most of the panels beside it."""
    values = [estimate.value for estimate in chart.estimates()]
    colours = ScalarMappable(LogNorm(min(values), max(*values, 1.01 * min(values))), COLOURS)
    columns = list(tick_texts(panel))
    for line, series in enumerate(panel.series):
        for point in series.points:
            colour = colours.to_rgba(point.estimate.value)
            column = columns.index(point.x)
            axes.add_patch(Rectangle((column, line), 1, 1, facecolor=colour, edgecolor="white",
                                     linewidth=0.5))
            axes.text(column + 0.5, line + 0.5, in_cell(point.estimate), ha="center",
                      va="center_baseline", color="white" if dark(colour) else "black")
    axes.set(xlim=(0, len(columns)), ylim=(lines, 0), xlabel=panel.x, ylabel=panel.y,
             title=f"{panel.title} ({UNITS.get(chart.unit, chart.unit)})")
    axes.set_xticks([place + 0.5 for place in range(len(columns))])
    axes.set_xticklabels(list(tick_texts(panel).values()))
    axes.set_yticks([place + 0.5 for place in range(len(panel.series))])
    axes.set_yticklabels([series.name for series in panel.series])
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)


# Line charts.
def draw_series(axes, series, look, size=3, shift=0):
    """Marks of so many points with bars, open where the run warns."""
    points = sorted(series.points, key=lambda point: point.x)
    axes.errorbar([point.x + shift for point in points], [point.estimate.value for point in points],
                  yerr=[point.estimate.bar() for point in points], markersize=size, **BARS, **look)
    warned = [point for point in points if point.estimate.remarks]
    axes.plot([point.x + shift for point in warned], [point.estimate.value for point in warned],
              linestyle="none", marker=look["marker"], color=look["color"],
              markerfacecolor="white", markersize=size, zorder=3)


def line_axes(axes, panel, looks):
    for place, series in enumerate(panel.series):
        if panel.joined:
            shift = 0.05 * (place - (len(panel.series) - 1) / 2) if panel.shows else 0
            draw_series(axes, series, looks[series.name], shift=shift)
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
    if panel.shows:
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, panel.shows[0]), max(high, panel.shows[1]))
    if panel.ticks:
        axes.xaxis.set_major_locator(ticker.FixedLocator(list(tick_texts(panel))))
        axes.xaxis.set_major_formatter(ticker.FixedFormatter(list(tick_texts(panel).values())))
        axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.set(xlabel=panel.x, ylabel=panel.y, title=panel.title)
    axes.grid(True, color="0.9", linewidth=0.5)


def draw_level(axes, panel, level):
    """A vertical one's name stands in the upper one of two panels."""
    if level.vertical:
        axes.axvline(level.value, linestyle="--", **GREY)
        if panel.title or not panel.x:
            axes.annotate(level.name, (level.value, 1 - level.foot), (-3, 6 * level.foot - 3),
                          color="0.3", ha="right", va="bottom" if level.foot else "top",
                          textcoords="offset points", xycoords=("data", "axes fraction"))
    else:
        axes.axhline(level.value, linestyle=":", **GREY)
        axes.annotate(level.name, (level.foot, level.value), (2 - 4 * level.foot, -1), color="0.3",
                      ha="right" if level.foot else "left", va="top",
                      textcoords="offset points", xycoords=("axes fraction", "data"))


# Dot charts: a line for each text of the groups, from the top, below the group's own name.
def time_text(nanoseconds):
    """12.3 ns, 4.56 µs"""
    value, unit = (nanoseconds, "ns") if nanoseconds < 999.5 else (nanoseconds / 1e3, "µs")
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f} {unit}"


def lines_of(panel):
    return [text for level, texts in panel.groups for text in (level, *texts)]


def dot_axes(axes, panel, looks):
    texts = lines_of(panel)
    axes.set_xscale("log")
    for series in panel.series:
        for point in series.points:
            look, estimate, line = looks[series.name], point.estimate, texts.index(point.x) + 0.5
            spread = estimate.bar()
            axes.errorbar([estimate.value], [line], markersize=3, **BARS,
                          xerr=[[min(spread, 0.9 * estimate.value)], [spread]],
                          color=look["color"], marker=look["marker"],
                          markerfacecolor="white" if estimate.remarks else look["color"])
            axes.annotate(time_text(estimate.value), (1, line), (40, 0), ha="right",
                          va="center_baseline", xycoords=axes.get_yaxis_transform(),
                          textcoords="offset points")
    axes.set_ylim(len(texts), 0)
    axes.set_yticks([place + 0.5 for place in range(len(texts))])
    axes.set_yticklabels([text.partition(": ")[2] or text for text in texts])
    for label, text in zip(axes.get_yticklabels(), texts):
        label.set_weight("normal" if ": " in text else "bold")
    axes.tick_params(axis="y", length=0)
    axes.grid(True, color="0.88", linewidth=0.5)
    values = [estimate.value for estimate in panel.estimates()]
    log_axis(axes.xaxis, min(values), max(values),
             lambda time: f"{time:g} ns" if time < 1e3 else f"{time / 1e3:g} µs")


# All of a chart.
def draw_row(picture, grid, chart, row, looks):
    placed = []
    for panel, place in zip(row, grid):
        axes = picture.add_subplot(place, sharey=placed[0] if chart.same_y and placed else None)
        if chart.kind == HEAT:
            heat_axes(axes, panel, chart, max(len(one.series) for one in row))
        else:
            (line_axes if chart.kind == LINES else dot_axes)(axes, panel, looks)
        if placed and (chart.same_y or chart.kind == HEAT):
            axes.set_ylabel("")
        placed.append(axes)
    if chart.same_x:
        ends = [axes.get_xlim() for axes in placed]
        for axes in placed:
            axes.set_xlim(min(low for low, _ in ends), max(high for _, high in ends))
    for panel, axes in zip(row, placed):
        if panel.log_y:
            log_axis(axes.yaxis, *axes.get_ylim())


def picture_of(chart):
    """A matplotlib Figure; to be made and used within settings()."""
    width, rows = WIDE if chart.wide else NARROW, chart.rows_of_panels()
    looks = {name: {"color": ink, "marker": mark, "linestyle": dash} for name, ink, mark,
             dash in zip(
        chart.names(), *map(itertools.cycle, (INKS, MARKS, DASHES)))}
    named = chart.kind == LINES or chart.kind == DOTS and len(looks) > 1
    # As many as fit, by the width of a letter.
    columns = max(1, min(len(looks), int(width / (0.62 + 0.057 * max(map(len, looks))))))
    strip = LEGEND * (-(-len(looks) // columns) * named + chart.warned()) + 0.06
    lines = {HEAT: lambda panel: max(4, len(panel.series)), LINES: lambda panel: 1,
             DOTS: lambda panel: len(lines_of(panel))}[chart.kind]
    heights = [TALL[chart.kind] * max(map(lines, row)) for row in rows]  # of axes, in inches
    tall = sum(heights) + len(rows) * ABOUT[chart.kind]
    whole = Figure(figsize=(width, tall + strip), layout=ConstrainedLayoutEngine())
    FigureCanvasAgg(whole)
    picture, below = whole.subfigures(2, 1, height_ratios=(tall, strip))
    grid = picture.add_gridspec(len(rows), chart.columns, height_ratios=heights)
    for number, row in enumerate(rows):
        draw_row(picture, [grid[number, column] for column in range(chart.columns)], chart, row, looks)
    if named:
        alone = {} if chart.kind == LINES and chart.panels[0].joined else {"linestyle": "none"}
        below.legend(handles=[Line2D([], [], label=name, markersize=3, **{**look, **alone})
                              for name, look in looks.items()],
                     loc="upper center", ncol=columns, handlelength=1 if alone else 3)
    if chart.warned():
        below.text(0.5, 0.02, MARKED if chart.kind == HEAT else OPEN, ha="center", va="bottom")
    if chart.simulated:
        whole.text(0.5, 0.5, "simulated", color="#d00000", alpha=0.35, fontsize=40, rotation=25,
                   ha="center", va="center", zorder=1000)
    return whole


def draw(chart):
    """{"png": bytes, "pdf": bytes}, without date and program, so that the same numbers make the same
    file."""
    drawn, png, pdf = io.BytesIO(), io.BytesIO(), io.BytesIO()
    with settings():
        picture = picture_of(chart)
        picture.draw_without_rendering()  # places all once, for both files
        picture.set_layout_engine("none")
        picture.savefig(drawn, format="png", dpi=DOTS_PER_INCH)
        picture.savefig(pdf, format="pdf", metadata={
            "CreationDate": None, "Creator": None, "Producer": None})
    # With a palette, as a page has many of them inside.
    Image.open(drawn).convert("RGB").convert("P", palette=Image.ADAPTIVE).save(
        png, "png", optimize=True, dpi=(DOTS_PER_INCH, DOTS_PER_INCH))
    return {"png": png.getvalue(), "pdf": pdf.getvalue()}
