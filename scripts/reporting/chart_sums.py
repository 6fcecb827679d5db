"""Figures 15, 16 and 18 of the study for a run: sums, and what a warp's barrier does. For
report.py."""

from parts import tsv
from reporting.chart import LINES, SPREAD, Chart, Level, Panel, Point, Series, points
from reporting.estimates import Estimate, share, source_of
from reporting.study_tables import ARRAY

SIZES = {2 ** 20: "1 MiB", 2 ** 25: "32 MiB", 2 ** 30: "1 GiB", 2 ** 35: "32 GiB"}
PERCENT = "The bars of percentages count the spread of both rates. Wrong sums are left out."
SUMS = ("implicit", "grid_sync", "cub", "programmatic", "last_block", "two_pass_tree",
        "read_limit")


def sums(run, section, method, x):
    """Rates of a method by x(row); wrong sums are left out."""
    return Series(method, points(run, section, section.find_all(method=method, type=ARRAY),
                                 x, "m(GB/s)"))


def percent(series, of):
    """All but one series in percent of that one at the same x."""
    base = {point.x: point.estimate for one in series if one.name == of for point in one.points
            if point.estimate.value > 0}
    for one in series:
        if one.name != of:
            yield Series(one.name, [Point(point.x, share(point.estimate, base[point.x]))
                                    for point in one.points if point.x in base])


def figure_15(run, _):
    chart = Chart("figure_15", "Figure 15", f"Sums of an array of {ARRAY} on one GPU by its "
                  "size: GB/s (above), percent of reading alone (below)", LINES, "", SPREAD,
                  wide=False)
    section = run.section("Reduction", "one GPU")
    rates = [sums(run, section, method, lambda row: row.whole("bytes")) for method in SUMS]
    theory = section.find(method="theory")
    levels = [Level("theory", float(theory["m(GB/s)"]), False)] if (
        theory and float(theory["m(GB/s)"]) > 0) else []
    chart.add(Panel("", "", "GB/s", rates, log_x=True, log_y=True, ticks=SIZES, levels=levels),
              f"sums of {ARRAY}")
    chart.add(Panel("", "size of the array", "percent of read_limit",
                    percent(rates, "read_limit"), log_x=True, ticks=SIZES, from_zero=False))
    chart.notes.append("read_limit reads and sums nothing, yet a sum may be faster; theory "
                       f"(dotted): the memory's clock and width. {PERCENT}")
    return chart


def scaling_series(run, title):
    """(bytes, their Series by GPUs), of the largest array of all methods; strong scaling: of the
    whole array, weak: of each GPU's."""
    def of_line(row):  # what stays the same along a line
        return row.whole("bytes") // (1 if title == "strong scaling" else row.whole("GPUcount"))

    sections = [run.section(file, title) for file in tsv.REDUCTIONS]
    size = max((of_line(row) for section in sections for row in section.find_all(type=ARRAY)),
               default=0)
    return size, [Series(method, points(run, section, [
        row for row in section.find_all(method=method, type=ARRAY) if of_line(row) == size],
        lambda row: row.whole("GPUcount"), "m(GB/s)"))
        for section, method in ((sections[0], "implicit_multi"), (sections[0], "peer_grid"),
                                (sections[1], "multi_grid"), (sections[0], "nccl"))]


def figure_16(run, _):
    chart = Chart("figure_16", "Figure 16", f"Sums of an array of {ARRAY} on several GPUs: GB/s "
                  "of implicit_multi (above), others in percent of it (below)", LINES, "", SPREAD, columns=2,
                  several=True, same_y=True)
    above, below = [], []
    for title, each in (("strong scaling", ""), ("weak scaling", " a GPU")):
        size, series = scaling_series(run, title)
        gpus = sorted({point.x for one in series for point in one.points})
        if len(gpus) < 2:
            chart.missing.append(title)
            continue
        name = f"{title}: {size / 2 ** 30:g} GiB{each}"
        above.append(Panel(name, "", "GB/s", series[:1], ticks=gpus, row="rate"))
        below.append(Panel("", "GPUs", "percent of implicit_multi",
                           percent(series, "implicit_multi"), ticks=gpus, row="percent",
                           from_zero=False, name=name, shows=(80, 120)))
    for panel in above + below:
        chart.add(panel)
    chart.notes.append(f"From the host's call until it knows the sum. {PERCENT}")
    return chart


def last_to_come(rows):
    """The Level of the lane that came last, if it also left first; or nothing."""
    last = max(rows, key=lambda row: float(row["start"]), default=None)
    if last and last is min(rows, key=lambda row: float(row["end"])):
        return [Level(f"lane {last['lane']} comes last, leaves first", last.whole("lane"), True,
                      True)]
    return []


def figure_18(run, _):
    chart = Chart("figure_18", "Figure 18", "Clocks of the lanes of a warp before and behind a "
                  "barrier that each calls in a branch of its own", LINES,
                  "cycles since the first lane's start", columns=2, same_y=True)
    section = run.section("Pitfalls", "warp barrier")
    verdicts = run.section("Pitfalls", "warp barrier verdict")
    for method in ("tile_sync", "no_sync"):
        rows = section.find_all(method=method)
        verdict = verdicts.find(method=method)
        held = f": held in {verdict['held']} of {verdict['launches']} launches" if verdict else ""
        chart.add(Panel(f"{method}{held}", "lane", "cycles", [
            Series(name, [Point(row.whole("lane"), Estimate(
                float(row[column]), float("nan"), [source_of(section, row)]), method)
                          for row in rows])
            for name, column in (("before the barrier", "start"), ("behind it", "end"))],
                        joined=False, levels=last_to_come(rows)), method)
    chart.notes.append("The barrier holds where no lane is behind it before all lanes have "
                       "come: all marks behind it lie above all before it. The lane that comes "
                       "last need not wait. The last of the launches. no_sync: nothing stands "
                       "between the two clocks.")
    return chart


MAKERS = (figure_15, figure_16, figure_18)
