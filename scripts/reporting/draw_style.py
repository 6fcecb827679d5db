"""How the pictures of report.py look: sizes for a paper of two columns, marks that differ in
grey as well, files that are the same for the same numbers. Needs matplotlib."""

import io
from contextlib import contextmanager

import matplotlib
from matplotlib import ticker
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image  # matplotlib needs it, too

NARROW, WIDE = 3.5, 7.16  # inches: a column, a page
DOTS_PER_INCH = 200
FONT = 7  # points
LEGEND = 0.14  # inches: a line of it
OPEN = "open marks: the run warns of these values"
COLOURS = "viridis_r"  # darker is more, in grey too
# Colours of Okabe and Ito; each name has a mark and a line of its own, too.
INKS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (6, 2, 2, 2)))
SETTINGS = {
    "font.family": "DejaVu Sans", "font.size": FONT, "axes.titlesize": FONT,
    "axes.labelsize": FONT, "xtick.labelsize": FONT, "ytick.labelsize": FONT,
    "legend.fontsize": FONT, "axes.linewidth": 0.6, "xtick.major.width": 0.6,
    "ytick.major.width": 0.6, "xtick.major.size": 2.5, "ytick.major.size": 2.5,
    "axes.titlepad": 3, "axes.labelpad": 2, "xtick.major.pad": 2, "ytick.major.pad": 2,
    "pdf.fonttype": 42, "figure.dpi": DOTS_PER_INCH, "savefig.facecolor": "white"}
if "text.parse_math" in matplotlib.rcParams:  # since 3.6; a GPU's name is no formula
    SETTINGS["text.parse_math"] = False


@contextmanager
def settings():
    """In it pictures are made and written, whatever the user's own settings are."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
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


def look_of(place):
    """What sets the place-th name of a picture apart."""
    return {"color": INKS[place % len(INKS)], "marker": MARKS[place % len(MARKS)],
            "linestyle": DASHES[place % len(DASHES)]}


def log_axis(axis, low, high, text=None):
    """Numbers rather than powers; more marks where there are few decades."""
    subs = (1,) if high / low > 1000 else (1, 2, 5) if high / low > 10 else range(1, 10)
    axis.set_major_locator(ticker.LogLocator(
        base=10, subs=subs, numticks=20))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: (text or "{:g}".format)(value)))
    axis.set_minor_formatter(ticker.NullFormatter())


def tick_texts(panel):
    """Where x is marked, and with what."""
    texts = panel.ticks if isinstance(panel.ticks, dict) else {x: str(x) for x in panel.ticks}
    return list(texts), list(texts.values())


def legend(picture, names, looks, columns, lines=True, above=0):
    """In the strip at the lower edge, which is left free for it; above: so many inches."""
    handles = [Line2D([], [], label=name, markersize=3, linewidth=0.9, markeredgewidth=0.7,
                      **(looks[name] if lines else {**looks[name], "linestyle": "none"}))
               for name in names]
    picture.legend(handles=handles, loc="lower center", ncol=columns,
                   bbox_to_anchor=(0.5, above / picture.get_figheight()), frameon=False,
                   handlelength=3 if lines else 1, columnspacing=1.2, handletextpad=0.5,
                   labelspacing=0.3, borderpad=0.2, borderaxespad=0.1)


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
