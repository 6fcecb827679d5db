"""Draws the charts of report.py. Needs matplotlib. Sizes are those of a paper of two columns, marks
differ in grey as well, and the same numbers make the same files."""

import io
import math
from contextlib import contextmanager
from pathlib import Path

import matplotlib
from matplotlib import ticker
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from PIL import Image  # matplotlib needs it, too

from reporting.chart import HEAT, LINES, of_study

NARROW, WIDE = 3.5, 7.16  # inches: a column, a page
DOTS_PER_INCH = 200
STYLE = Path(__file__).with_name("pictures.mplstyle")
LEGEND = 0.14  # inches: a line of it
OPEN = "open marks: the run warns of these values"
COLOURS = "viridis_r"  # darker is more, in grey too
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


def sheet(width, height):
    """An empty picture of so many inches."""
    picture = Figure(figsize=(width, height))
    FigureCanvasAgg(picture)
    return picture


def axes_at(picture, left, bottom, width, height):
    """Axes at a place in inches."""
    whole, tall = picture.get_size_inches()
    return picture.add_axes([left / whole, bottom / tall, width / whole, height / tall])


def log_axis(axis, low, high, text="{:g}".format):
    """Numbers rather than powers; more marks where there are few decades."""
    subs = (1,) if high / low > 1000 else (1, 2, 5) if high / low > 10 else range(1, 10)
    axis.set_major_locator(ticker.LogLocator(
        base=10, subs=subs, numticks=20))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: text(value)))
    axis.set_minor_formatter(ticker.NullFormatter())


def tick_texts(panel):
    """Where x is marked, and with what."""
    texts = panel.ticks if isinstance(panel.ticks, dict) else {x: str(x) for x in panel.ticks}
    return list(texts), list(texts.values())


def finish(picture, chart, looks, beside, lines=True):
    """What the marks mean, in the strip at the lower edge, which is left free for it; beside: so
    many names."""
    above = LEGEND * chart.warned() / picture.get_figheight()
    if chart.warned():
        note(picture, OPEN)
    if len(looks) > 1 or chart.kind == LINES:
        none = {} if lines else {"linestyle": "none"}
        handles = [Line2D([], [], label=name, markersize=3, **{**look, **none})
                   for name, look in looks.items()]
        picture.legend(handles=handles, loc="lower center", ncol=beside, handlelength=3 if lines else 1,
                       bbox_to_anchor=(0.5, above))


def note(picture, text):
    """At the lower edge."""
    picture.text(0.5, 0.02 / picture.get_figheight(), text, ha="center", va="bottom")


def looks_of(chart):
    """{name: what sets it apart}"""
    return {name: {"color": INKS[place % len(INKS)], "marker": MARKS[place % len(MARKS)],
                   "linestyle": DASHES[place % len(DASHES)]}
            for place, name in enumerate(chart.names())}


def spread_of(estimate):
    return 0 if math.isnan(estimate.spread) else estimate.spread


def legend_columns(names, width):
    """As many as fit, by the width of a letter."""
    return max(1, min(len(names), int(width / (0.62 + 0.057 * max(map(len, names))))))


def files_of(picture):
    """{ending: bytes}, without date and program, so that the same numbers make the same file.
    The PNG has a palette, as a page has many of them inside."""
    picture.canvas.draw()
    whole = Image.frombuffer("RGBA", picture.canvas.get_width_height(),
                             bytes(picture.canvas.buffer_rgba()), "raw", "RGBA", 0, 1)
    png, pdf = io.BytesIO(), io.BytesIO()
    few = whole.convert("RGB").quantize(256, method=2)
    few.putpalette([255 if part == 254 else part for part in few.getpalette()])  # white is white
    few.save(png, "png", optimize=True, dpi=(DOTS_PER_INCH, DOTS_PER_INCH))
    # Not savefig(), which draws once more than it needs to.
    FigureCanvasPdf(picture).print_pdf(pdf, metadata={"CreationDate": None, "Creator": None,
                                                      "Producer": None})
    return {"png": png.getvalue(), "pdf": pdf.getvalue()}


# Heat maps.
CELL = 0.2  # inches: its height
UNITS = {"microseconds": "µs"}  # as short as a title needs it


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


def heat_axes(axes, panel, unit, colours):
    columns, texts = tick_texts(panel)
    for line, series in enumerate(panel.series):
        for point in series.points:
            colour = colours.to_rgba(point.estimate.value)
            column = columns.index(point.x)
            axes.add_patch(Rectangle((column, line), 1, 1, facecolor=colour, edgecolor="white",
                                     linewidth=0.5))
            axes.text(column + 0.5, line + 0.5, in_cell(point.estimate), ha="center",
                      va="center_baseline", color="white" if dark(colour) else "black")
    axes.set(xlim=(0, len(columns)), ylim=(len(panel.series), 0),
             title=f"{panel.title} ({unit})")
    axes.set_xticks([place + 0.5 for place in range(len(columns))])
    axes.set_xticklabels(texts)
    axes.set_yticks([place + 0.5 for place in range(len(panel.series))])
    axes.set_yticklabels([series.name for series in panel.series])
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)


def heat_map(chart):
    width = WIDE if chart.wide else NARROW
    left, right, top, bottom = 0.4, 0.04, 0.2, 0.16  # about each panel
    left = max(left, *(0.12 + 0.056 * len(name) for name in chart.names()))
    lowest = 0.14 * (1 + chart.warned())  # of all
    rows = chart.rows_of_panels()
    cell = CELL if len(rows) < 5 else 0.85 * CELL  # eight GPUs need a page
    heights = [cell * max(4, *(len(panel.series) for panel in row)) for row in rows]
    picture = sheet(width, sum(heights) + len(rows) * (top + bottom) + lowest)
    values = [estimate.value for estimate in chart.estimates()]
    colours = ScalarMappable(LogNorm(min(values), max(*values, 1.01 * min(values))), COLOURS)
    edge = picture.get_figheight()
    for row, height, below in zip(rows, heights, [*rows[1:], []]):
        edge -= top + height + bottom
        for column, panel in enumerate(row):
            own = len(panel.series) * cell
            axes = axes_at(picture, column * width / chart.columns + left,
                           edge + bottom + height - own, width / chart.columns - left - right, own)
            heat_axes(axes, panel, UNITS.get(chart.unit, chart.unit), colours)
            short = {"y": 1, "ha": "right"} if len(panel.series) < 4 else {}  # than the text
            axes.set_ylabel("" if column else panel.y, **short)
            axes.set_xlabel("" if column < len(below) else panel.x)
    if chart.warned():
        note(picture, "!: the run warns of this value")
    return picture


# Line charts.
def place_of(panel, x):
    """Where it is drawn; texts stand at 0, 1, ..., in the order of the ticks."""
    return panel.ticks.index(x) if isinstance(x, str) else x


def draw_series(axes, panel, series, look, size=3, shift=0):
    """Marks of so many points with bars, open where the run warns."""
    places = {point: place_of(panel, point.x) + shift for point in series.points}
    points = sorted(places, key=places.get)
    axes.errorbar([places[point] for point in points], [point.estimate.value for point in points],
                  yerr=[spread_of(point.estimate) for point in points], markersize=size, **BARS, **look)
    warned = [point for point in points if point.estimate.remarks]
    axes.plot([places[point] for point in warned], [point.estimate.value for point in warned],
              linestyle="none", marker=look["marker"], color=look["color"],
              markerfacecolor="white", markersize=size, zorder=3)


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
        axes.xaxis.set_major_locator(ticker.FixedLocator([place_of(panel, x) for x in marked]))
        axes.xaxis.set_major_formatter(ticker.FixedFormatter(texts))
        axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.set(xlabel=panel.x, title=panel.title)
    axes.grid(True, color="0.9", linewidth=0.5)


def draw_level(axes, panel, level):
    """Its name stands at the end of the line where the points are further away."""
    if level.vertical:
        axes.axvline(level.value, linestyle="--", **GREY)
        if panel.title or not panel.x:  # not the lower one of two
            axes.annotate(level.name, (level.value, 1 - level.foot), (-3, 6 * level.foot - 3),
                          color="0.3", ha="right", va="bottom" if level.foot else "top",
                          textcoords="offset points", xycoords=("data", "axes fraction"))
        return
    axes.axhline(level.value, linestyle=":", **GREY)
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
    width, looks, rows = WIDE if chart.wide else NARROW, looks_of(chart), chart.rows_of_panels()
    beside = legend_columns(looks, width)
    strip = LEGEND * (-(-len(looks) // beside) + chart.warned()) + 0.06
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
    finish(picture, chart, looks, beside, any(panel.joined for panel in chart.panels))
    return picture


# Dot charts: a line for each thing, values to the right.
LINE = 0.155  # inches: its height
TALLEST = 8.8  # inches
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
    """A line for each text of the groups, from the top; values at the right."""
    panel, = chart.panels
    looks = looks_of(chart)
    texts = [text for _, group in panel.groups for text in group]
    strip = 0.22 + (LEGEND + 0.08) * (len(looks) > 1) + LEGEND * chart.warned()
    height = min(len(texts) * LINE, TALLEST - strip - 0.08)
    picture = sheet(WIDE, strip + height + 0.08)
    dot_axes(axes_at(picture, LEFT, strip, WIDE - LEFT - 0.65, height), panel, looks)
    finish(picture, chart, looks, legend_columns(looks, WIDE), False)
    return picture


def dot_axes(axes, panel, looks):
    texts = [text for _, group in panel.groups for text in group]
    place_of = {text: place + 0.5 for place, text in enumerate(texts)}
    axes.set_xscale("log")
    for series in panel.series:
        for point in series.points:
            look, estimate = looks[series.name], point.estimate
            spread = spread_of(estimate)
            axes.errorbar([estimate.value], [place_of[point.x]], markersize=3, **BARS,
                          xerr=[[min(spread, 0.9 * estimate.value)], [spread]],
                          color=look["color"], marker=look["marker"],
                          markerfacecolor="white" if estimate.remarks else look["color"])
    for text, estimate in panel.beside.items():
        axes.annotate(time_text(estimate.value), (1, place_of[text]), (40, 0), ha="right",
                      va="center_baseline", xycoords=axes.get_yaxis_transform(),
                      textcoords="offset points")
    names = [text.split(": ", 1)[1] for text in texts]
    axes.set(ylim=(len(texts), 0))
    axes.set_yticks([place_of[text] for text in texts])
    axes.set_yticklabels(names)
    axes.tick_params(axis="y", length=0)
    axes.grid(True, color="0.88", linewidth=0.5)
    values = panel.estimates()
    log_axis(axes.xaxis, min(one.value for one in values), max(one.value for one in values),
             decade_text)
    start, inch = 0, 1 / (WIDE - LEFT - 0.65)  # of the width of the axes
    for level, group in panel.groups:
        axes.annotate(level, (0, start + len(group) / 2), (5 - 72 * LEFT, 0), weight="bold",
                      ha="left", va="center", xycoords=("axes fraction", "data"),
                      textcoords="offset points")
        start += len(group)
        if start < len(texts):
            axes.plot([-LEFT * inch, 1 + 0.6 * inch], [start, start], color="0.5", linewidth=0.6,
                      clip_on=False, transform=axes.get_yaxis_transform())


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
