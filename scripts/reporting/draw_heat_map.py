"""Draws heat maps for report.py. Needs matplotlib."""

from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from matplotlib.patches import Rectangle

from reporting.chart import of_study
from reporting.draw_style import COLOURS, NARROW, WIDE, axes_at, sheet, tick_texts

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
    warned = any(estimate.remarks for estimate in chart.estimates())
    left, right, top, bottom = 0.4, 0.04, 0.2, 0.16  # about each panel
    left = max(left, *(0.12 + 0.056 * len(name) for name in chart.names()))
    lowest = 0.14 * (1 + warned)  # of all
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
    if warned:
        picture.text(0.5, 0.02 / picture.get_figheight(), "!: the run warns of this value",
                     ha="center", va="bottom")
    return picture
