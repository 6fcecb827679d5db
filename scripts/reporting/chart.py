"""What a picture of report.py shows: charts of panels of series, each value with where it
stands."""

import math
from collections import namedtuple

from reporting.estimates import Estimate, estimate_of
from reporting.names import legend

# x: a number, or a text of the panel's ticks or groups; estimate: of class Estimate; method: whose.
Point = namedtuple("Point", "x estimate method", defaults=[""])

# A level that a panel is to be seen against: a horizontal line with its name at the left, or a
# vertical one with its name at the top; foot: at the right, or at the foot.
Level = namedtuple("Level", "name value vertical foot", defaults=[False])
SPREAD = "standard deviation"  # what most bars show
HEAT, LINES, DOTS = "heat map", "line chart", "dot chart"


class Series:
    """Points of one name. Series of the same name look the same in all panels of a chart."""

    def __init__(self, name, points):
        self.name, self.points = name, list(points)


class Panel:
    """One pair of axes. x, y: what they show, with the unit; ticks: where x is marked, with texts
    where it is a dict (of a heat map the columns); row: panels of another stand below; joined:
    by lines; from_zero: a linear y begins there; groups: of a dot chart (name, texts of x),
    from the top; levels: of class Level; name: in files, where the title is not drawn;
    shows: y from and to, in each run, with the series beside one another."""

    def __init__(self, title, x, y, series, log_x=False, log_y=False, ticks=None, row="",
                 joined=True, from_zero=True, groups=None, levels=(), name="", shows=None):
        self.title, self.x, self.y, self.name = title, x, y, name or title
        self.series = [one for one in series if one.points]
        self.log_x, self.log_y, self.ticks, self.row = log_x, log_y, ticks, row
        self.joined, self.from_zero = joined, from_zero
        self.groups, self.levels, self.shows = groups, list(levels), shows

    def estimates(self):
        return [point.estimate for series in self.series for point in series.points]


class Chart:
    """A picture. name: of its files; label: "Figure 5", "" where the study has none; unit: of
    all panels, "" where they differ and the title says it; spread: what its bars show, ""
    where there are none; columns: at most so many panels beside one another; wide: it spans a
    page of two columns; several: it is of several GPUs; same_y: panels beside one another have
    the same y; same_x: and the same x."""

    def __init__(self, name, label, title, kind, unit, spread="", columns=1, wide=True,
                 several=False, same_y=False, same_x=False):
        self.name, self.label, self.title, self.kind = name, label, title, kind
        self.unit, self.spread, self.columns, self.wide = unit, spread, columns, wide
        self.several, self.same_y, self.same_x = several, same_y, same_x
        self.panels, self.notes, self.missing = [], [], []
        self.about = ""  # what was measured with what
        self.simulated = False

    def add(self, panel, looked_for=None):
        """The panel where it has anything; looked_for: its name where it should have."""
        if self.kind != LINES or panel.log_y:  # differences can be noise, without a logarithm
            self.missing += [f"{series.name} at {point.x}, which is not above 0"
                             for series in panel.series
                             for point in series.points if not point.estimate.value > 0]
            panel.series = [Series(series.name, kept) for series in panel.series for kept in [
                [point for point in series.points if point.estimate.value > 0]] if kept]
        if panel.series:
            self.panels.append(panel)
        elif looked_for:
            self.missing.append(looked_for)

    def estimates(self):
        return [estimate for panel in self.panels for estimate in panel.estimates()]

    def warned(self):
        return any(estimate.remarks for estimate in self.estimates())

    def rows_of_panels(self):
        """Lists of the panels that stand beside one another, from the top."""
        rows = []
        for panel in self.panels:
            if not rows or len(rows[-1]) == self.columns or rows[-1][-1].row != panel.row:
                rows.append([])
            rows[-1].append(panel)
        return rows

    def measured(self):
        """Whether the run has anything of it."""
        return any(not of_study(estimate) for estimate in self.estimates())

    def names(self):
        """Of all series, each once."""
        return list(dict.fromkeys(series.name for _, series, _ in self.rows()))

    def legend(self):
        """What the names of methods in the picture mean, a sentence or ""."""
        return legend(point.method for _, _, point in self.rows()).replace("`", "")

    def caption(self):
        """Sentences."""
        yield f"{self.title}, in {self.unit}." if self.unit else f"{self.title}."
        if self.spread:
            yield (f"Bars: {self.spread}. A bar that is not seen is smaller than its mark, or not "
                   "known (the study).")
        yield from self.notes
        if self.warned():
            yield ("!: the run warns of this value." if self.kind == HEAT
                   else "Open marks: the run warns of these values.")
        if self.missing:
            yield f"Not in this run: {'; '.join(self.missing)}."

    def alternative(self):
        """For who does not see it."""
        values = [estimate.value for estimate in self.estimates() if not of_study(estimate)]
        span = f", {min(values):.3g} to {max(values):.3g} {self.unit}" if self.unit else ""
        return f"{self.kind.capitalize()}: {self.title}. {len(values)} values{span}."

    def rows(self):
        """Of a table with all that is drawn."""
        for panel in self.panels:
            for series in panel.series:
                for point in series.points:
                    yield panel, series, point


def scaled(estimate, factor):
    """In another unit."""
    return estimate and Estimate(estimate.value * factor, estimate.spread * factor,
                                 estimate.sources,
                                 estimate.remarks, estimate.wrong, estimate.nothing)


def of_study(estimate):
    return all(file.startswith("ipdps20/") for file, _, _ in estimate.sources)


def points(rows, x, column, spread=None, factor=1.0):
    """The Points of rows by x(row), without those that have no number, are of a wrong sum or of a
    removed barrier."""
    for row in rows:
        estimate = scaled(estimate_of(row, column, spread), factor)
        if not (math.isnan(estimate.value) or estimate.wrong or estimate.nothing):
            yield Point(x(row), estimate, row["method"])


def per_sm(run, row):
    """Blocks per SM."""
    return row.whole("blk") // run.sms


def study_estimate(row, figure):
    """Of a row of the study's figure."""
    return Estimate(float(row["latency_us"]), math.nan,
                    [(f"ipdps20/figure_{figure}.tsv", "", row.line)])
