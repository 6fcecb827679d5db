"""The study's figures for a run, for report.py."""

from parts import tsv
from reporting.chart import (HEAT, LINES, SPREAD, Chart, Level, Panel, Point, Series, per_sm,
                             points, study_estimate)
from reporting.estimates import Estimate, many, remarks, shape, share, short_name, source_of
from reporting.study import GPUS
from reporting.study_tables import ARRAY, THROUGHPUTS, about_throughputs, throughputs_in

THREADS = (32, 64, 128, 256, 512, 1024)
WARPS = (1, 4, 16, 64, 256, 1024)
SHOWN_GPUS = (1, 2, 5, 6, 8)  # as in Figure 8
US = 1e-3  # of nanoseconds
IN_FIGURE_7 = (1, 2)  # GPUs; Figure 8 does not repeat its panels
# Like the study's barrier, which has no peer access: the first that was measured of so many GPUs.
STUDIED = ("multi_grid_sync_no_peer", "multi_grid_sync")
PEER_ACCESS = "Like the study's barrier, multi_grid_sync_no_peer has no peer access; others have."
SHAPES = ((1, 32), (1, 1024), (32, 64))  # Figure 9: blocks per SM, threads


def held_warps(run):
    """How many warps an SM holds, by what the run has skipped as its blocks do not fit; None where it
    says nothing."""
    return max((int(said.number("thrd") * said.number("holds")) // 32
                for section in run.files.get("BenchmarkInterSM", ()) for said in section.annotations
                if said.tag == "does-not-fit" and "thrd" in said.cells), default=None)


def figure_4(run, study):
    section = run.section("BenchmarkIntraSM", "throughput")
    names = throughputs_in(section)
    chart = Chart("figure_4", "Figure 4", "blocksync by the warps started on an SM: "
                  "cycles of one barrier of all of them (above), warp barriers per cycle "
                  "(below)", LINES, "", "half width of the 95% interval", columns=len(names),
                  wide=len(names) > 1)

    def series(column, scale):
        for threads in THREADS:
            yield Series(f"{threads} threads", [
                Point(per_sm(run, row) * threads // 32, Estimate(
                    float(row[f"m({column})"]) / scale(row),
                    float(row.get(f"ci95({column})", "nan")) / scale(row),
                    [source_of(row)], remarks(row, f"m({column})")), "blocksync")
                for row in section.find_all(method="blocksync", thrd=str(threads))])

    held = held_warps(run)
    most = [Level(f"an SM holds {held} warps", held, True)] if held else []
    known = [Level(gpu, study.number("II", "throughput_sync_per_cycle", type="block", gpu=gpu),
                   False, True) for gpu in GPUS]
    for name in names:
        total = THROUGHPUTS[name][0]
        chart.add(Panel(f"m({total}) / rep above, m({name}) below", "", "cycles",
                        series(total, lambda row: row.whole("rep")),
                        log_x=True, log_y=True, ticks=WARPS, levels=most, name=f"m({total}) / rep"))
    for name in names:
        chart.add(Panel("", "warps per SM (blocks x warps of a block)", "warp barriers per cycle",
                        series(name, lambda row: 1), log_x=True, ticks=WARPS,
                        levels=most + known, name=f"m({name})"),
                  "throughput of blocksync")
    chart.notes += about_throughputs(names)
    if held:
        chart.notes.append(f"Broken line: an SM holds {held} warps; more run one after the "
                           "other. A line is of blocks of so many threads.")
    chart.notes.append("Dotted: the highest of V100 and P100 (Table II of the study).")
    return chart


def heat_panel(run, section, method, gpus, title=""):
    """Blocks per SM from the top, threads of a block to the right."""
    rows = section.find_all(method=method, GPUcount=str(gpus))
    return Panel(
        title or f"{short_name(run)}, {many(gpus)}: {method}", "threads per block", "blocks per SM",
        [
            Series(str(count), points([row for row in rows if per_sm(run, row) == count],
                                      lambda row: row.whole("thrd"), "m(avginstru)", "s(avginstr)",
                                      US))
            for count in sorted({per_sm(run, row) for row in rows})],
        ticks=sorted({row.whole("thrd") for row in rows}))


def study_panels(study, figure, gpu):
    rows = study.figures[figure]
    for gpus in dict.fromkeys(row["gpus"] for row in rows):
        found = [row for row in rows if row["gpus"] == gpus]
        yield Panel(f"{gpu}, {many(int(gpus))}: the study", "threads per block", "blocks per SM", [
            Series(blocks, [Point(row.whole("threads"), study_estimate(row, figure))
                            for row in found if row["blocks_per_SM"] == blocks])
            for blocks in dict.fromkeys(row["blocks_per_SM"] for row in found)], ticks=THREADS)


def how_to_read(run, chart):
    """A heat map: its colours and its empty cells."""
    of_all = " and that of all panels" if len(chart.panels) > 1 else ""
    or_missing = ", or it was not measured" * (run.partial or "methods" in run.environment)
    return (f"The darker, the longer; the colour's scale is logarithmic{of_all}. "
            f"An empty cell: the blocks do not fit{or_missing}.")


def figure_5(run, _):
    chart = Chart("figure_5", "Figure 5", "One barrier of a whole grid (grid_sync), by blocks "
                  "per SM and threads per block", HEAT, "microseconds", wide=False)
    chart.add(heat_panel(run, run.section("BenchmarkInterSM", "grid latency"), "grid_sync", 1,
                         f"{short_name(run)}, grid_sync"), "grid_sync")
    chart.notes += [how_to_read(run, chart), "Column m(avginstru) is the original's."]
    return chart


def section_of(run, method):
    """That has this method's rows, without rows where none has; multi_grid_sync is of an older
    toolkit."""
    sections = [run.section(file, "multi-GPU latency") for file in tsv.GRID_FILES]
    return next((section for section in sections if section.find_all(method=method)),
                tsv.Section("multi-GPU latency", ["method"]))


def studied(run, gpus):
    """The one of STUDIED."""
    return next((method for method in STUDIED if section_of(run, method).find_all(
        method=method, GPUcount=str(gpus))), STUDIED[-1])


def figure_7(run, study):
    chart = Chart("figure_7", "Figure 7", "One barrier of all blocks of one and of two GPUs, "
                  "beside the study's P100 (multi-grid)", HEAT, "microseconds", columns=2)
    for gpus in IN_FIGURE_7:
        method = studied(run, gpus)
        chart.add(heat_panel(run, section_of(run, method), method, gpus),
                  f"{method} on {many(gpus)}")
    chart.columns = 3 if len(chart.panels) == 1 else 2  # no panel stands alone
    for panel in study_panels(study, "7", "P100"):
        chart.add(panel)
    chart.notes += [how_to_read(run, chart), PEER_ACCESS]
    return chart


def figure_8(run, study):
    chart = Chart("figure_8", "Figure 8", "One barrier of all blocks of several GPUs, "
                  "beside the study's V100 (multi-grid)", HEAT,
                  "microseconds", columns=3)
    left_out = set()
    for method in (*STUDIED, "peer_grid_sync"):
        section = section_of(run, method)
        if not section.rows and (method != STUDIED[0] or run.gpus > 1):
            chart.missing.append(method)
        counts = {row.whole("GPUcount") for row in section.rows}
        most = max(counts, default=0)
        in_7 = {gpus for gpus in IN_FIGURE_7 if method == studied(run, gpus)}
        in_7.update({1} if method == STUDIED[0] else ())  # it needs two
        counts.update(count for count in SHOWN_GPUS if count <= most)
        for gpus in sorted(counts - in_7):
            panel = heat_panel(run, section, method, gpus)
            if gpus in SHOWN_GPUS or gpus == most:
                chart.add(panel, f"{method} on {many(gpus)}")
            elif panel.series:
                left_out.add(many(gpus))
    for panel in study_panels(study, "8", "V100"):
        chart.add(panel)
    chart.notes += [how_to_read(run, chart), PEER_ACCESS,
                    "What Figure 7 shows of one and of two GPUs is not repeated."]
    if left_out:
        chart.notes.append(f"Measured, but not drawn here: {', '.join(sorted(left_out))} "
                           "(Figure 9 has three of the shapes).")
    return chart


def by_gpus(run, study, method):
    """(launches and barriers of a run, the study's barriers, under the name of `method`)"""
    launches = run.section("ImplicitBarrier", "sleep kernel")
    here = [Series(f"{launch}, {shape(1, 1024)}", points(
        launches.find_all(method=launch, thrd="1024"), lambda row: row.whole("GPUCount"), "m(ovh)",
        None, US)) for launch in ("multi_cooperative_launch", "single_omp_traditional_launch")]
    here += [Series(f"{barrier}, {shape(blocks, threads)}", points(
        section_of(run, barrier).find_all(method=barrier, blk=str(blocks * run.sms),
                                          thrd=str(threads)),
        lambda row: row.whole("GPUcount"), "m(avginstru)", "s(avginstr)", US))
             for barrier in (method, "peer_grid_sync") for blocks, threads in SHAPES]
    return here, [Series(f"{method}, {shape(blocks, threads)}", [
        Point(row.whole("gpus"), study_estimate(row, "8"), method) for row in study.figures["8"]
        if (row["blocks_per_SM"], row["threads"]) == (str(blocks), str(threads))])
                  for blocks, threads in SHAPES]


def figure_9(run, study):
    chart = Chart("figure_9", "Figure 9", "Barriers of several GPUs by their number", LINES, "microseconds", SPREAD,
                  columns=2, several=True, same_y=True, same_x=True)
    here, theirs = by_gpus(run, study, studied(run, 2))
    gpus = sorted({point.x for series in here for point in series.points})
    if len(gpus) > 1:
        for name, series, ticks in ((short_name(run), here, gpus),
                                    ("V100: the study", theirs, SHOWN_GPUS)):
            chart.add(Panel(name, "GPUs", "microseconds", series, log_y=True, ticks=ticks))
    else:
        chart.missing.append("rows of several GPUs")
    chart.notes += ["Launches are barriers, timed by kernel fusion. Of V100 the study prints "
                    "multi-grid barriers only (its Figure 8).", PEER_ACCESS]
    return chart


# Sums, and what a warp's barrier does.
SIZES = {2 ** 20: "1 MiB", 2 ** 25: "32 MiB", 2 ** 30: "1 GiB", 2 ** 35: "32 GiB"}
PERCENT = "The bars of percentages count the spread of both rates. Wrong sums are left out."
SUMS = ("implicit", "grid_sync", "cub", "programmatic", "last_block", "two_pass_tree",
        "read_limit")


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
    rates = [Series(method, points(section.find_all(method=method, type=ARRAY),
                                   lambda row: row.whole("bytes"), "m(GB/s)")) for method in SUMS]
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
    return size, [Series(method, points([
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


def figure_18(run, _):
    chart = Chart("figure_18", "Figure 18", "Clocks of the lanes of a warp before and behind a "
                  "barrier that each calls in a branch of its own", LINES,
                  "cycles since the first lane's start", columns=2, same_y=True)
    section = run.section("Pitfalls", "warp barrier")
    verdicts = run.section("Pitfalls", "warp barrier verdict")
    for method in ("tile_sync", "no_sync"):
        rows = section.find_all(method=method)
        last = max(rows, key=lambda row: float(row["start"]), default=None)
        levels = [Level(f"lane {last['lane']} comes last, leaves first", last.whole("lane"), True,
                        True)
                  ] if last and last is min(rows, key=lambda row: float(row["end"])) else []
        verdict = verdicts.find(method=method)
        held = f": held in {verdict['held']} of {verdict['launches']} launches" if verdict else ""
        chart.add(Panel(f"{method}{held}", "lane", "cycles", [
            Series(name, [Point(row.whole("lane"), Estimate(
                float(row[column]), float("nan"), [source_of(row)]), method)
                          for row in rows])
            for name, column in (("before the barrier", "start"), ("behind it", "end"))],
                        joined=False, levels=levels), method)
    chart.notes.append("The barrier holds where no lane is behind it before all lanes have "
                       "come: all marks behind it lie above all before it. The lane that comes "
                       "last need not wait. The last of the launches. no_sync: nothing stands "
                       "between the two clocks.")
    return chart


MAKERS = (figure_4, figure_5, figure_7, figure_8, figure_9, figure_15, figure_16, figure_18)
