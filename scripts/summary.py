#!/usr/bin/env python3
"""Shows a results folder in short: every barrier at the shapes that people ask for.

Numbers are means; behind a launch stands its standard deviation. ! marks a number that the run
warns of, or that depends on the repeat count; the worst warning of each kind stands at the end. "none": the compiler left nothing that waits, so that there is no latency. -: not measured, or it
does not fit on the GPU. Two numbers are of both toolkits, the older one's last. ? marks a wrong
sum.
"""

from collections import defaultdict

from parts import command_line, pitfalls_summary, reduction_summary, suite, tsv
from reporting import chart_libraries, in_short
from reporting.estimates import short_text
from reporting.run_warnings import LOG, joined, warned
from parts.tables import grid, methods

WARP_SIZES = ("1", "2", "4", "8", "16", "32")
BLOCK_THREADS = ("32", "64", "128", "256", "512", "1024")
CLUSTERS = tuple(f"{n} x {threads}" for threads in (32, 1024) for n in (2, 4, 8, 16))
LAUNCH_SECTION = ("ImplicitBarrier", "sleep kernel")


def launches(run):
    section = run.section(*LAUNCH_SECTION)
    counts = sorted({row.whole("GPUCount") for row in section.rows})
    shapes = list(dict.fromkeys((row["blk"], row["thrd"]) for row in section.rows))

    def cell(method, shape, gpus):
        row = section.find(method=method, GPUCount=str(gpus), blk=shape[0], thrd=shape[1])
        text = short_text(run, section, row, "m(ovh)", 0)
        return f"{text} ± {float(row['s(ovh)']):.0f}" if row else text

    yield "One more kernel launch, in ns, by GPUs (ImplicitBarrier: m(ovh) ± s(ovh))"
    yield from grid("grid x block", map(str, counts), [
        (f"{method} {' x '.join(shape)}", [cell(method, shape, gpus) for gpus in counts])
        for method in methods(section) for shape in shapes
        if section.find_all(method=method, blk=shape[0], thrd=shape[1])])


def of_blocks(section):
    """Where each row of a section stands: corner and columns of its table, line, column, row."""
    for row in section.rows:
        line, blocks, threads = row["method"], row["blk"], row["thrd"]
        if blocks != "1":
            yield "clusters, blocks x threads", CLUSTERS, line, f"{blocks} x {threads}", row
        else:
            line += ", half of them" * (row.get("tile", threads) != threads)
            yield "threads of the block", BLOCK_THREADS, line, threads, row


def of_warps(section):
    """The same: one warp by what `tile` counts, and whatever has blocks of several warps."""
    for method in methods(section):
        rows = section.find_all(method=method)
        one = {row["tile"]: row for row in rows if row["thrd"] == "32"}
        told = section.said_of(rows[0], "tile")
        corner, columns = "threads of the group", WARP_SIZES
        if told:
            corner, columns = told[0].values.get("counts", "tile"), tuple(one)
        elif tuple(one) == ("32",):
            corner, columns, one = "all its threads", ("cycles",), {"cycles": one["32"]}
        for column, row in one.items():
            yield f"one warp, {corner}", columns, method, column, row
        several = {row["tile"] for row in rows if row["thrd"] != "32"}
        for row in (row for row in rows if row["tile"] in several):
            line = f"{method}, tile {row['tile']}"
            yield "1 to 32 warps, threads", BLOCK_THREADS, line, row["thrd"], row


def inside_one_sm(run, title, places):
    """What the older toolkit's compiler makes of a warp stands behind what it differs from."""
    quantity, (newer, older) = "m(ave_cycle)", suite.files_of("BenchmarkIntraSM")
    tables = defaultdict(lambda: defaultdict(dict))
    found = {}  # what is shown -> of the newer toolkit its place and its number
    for file in (newer, older)[:1 + (places is of_warps)]:
        section = run.section(file, title)
        for corner, columns, line, column, row in places(section):
            text, number = short_text(run, section, row, quantity, 1), float(row[quantity])
            if column in columns and file == newer:
                tables[corner, columns][line][column] = text
                found[line, column] = (corner, columns), number
            elif column in columns and (line, column) in found:
                table, other = found[line, column]
                if abs(number - other) > 0.02 * abs(other):
                    tables[table][line][column] += f" / {text}"
    for (corner, columns), rows in tables.items():
        lines = list(grid(corner, columns, [
            (line, [cells.get(column, "-") for column in columns])
            for line, cells in rows.items()]))
        if len(columns) == 1:  # narrow: three lines in one
            third = (len(lines) + 1) // 3
            lines[1:] = ["".join(lines[1:][n::third]) for n in range(third)]
        yield from lines


def one_gpu(run):
    """Each barrier of one GPU: blocks per SM x threads per block."""
    for file, title in (("BenchmarkInterSM", "grid latency"),
                        *((file, "multi-GPU latency") for file in tsv.GRID_FILES)):
        section = run.section(file, title)
        rows = section.find_all(GPUcount="1")
        blocks = sorted({row.whole("blk") for row in rows})
        for method in dict.fromkeys(row["method"] for row in rows):
            yield from grid(f"{method}, blocks per SM x threads", BLOCK_THREADS, [
                (f"{count / run.sms:g}", [
                    short_text(run, section, section.find(
                        method=method, GPUcount="1", blk=str(count), thrd=threads),
                               "m(avginstru)", 2, 1e-3)
                    for threads in BLOCK_THREADS]) for count in blocks])


def several_gpus(run):
    """Each multi-GPU barrier at three shapes, by GPUs."""
    sections = [run.section(file, "multi-GPU latency") for file in tsv.GRID_FILES]
    counts = sorted({row.whole("GPUcount") for section in sections for row in section.rows})
    yield from grid("blocks per SM x threads", [f"{n} GPUs" for n in counts[1:]], [
        (f"{method} {blocks} x {threads}", [
            short_text(run, section, section.find(
                method=method, GPUcount=str(gpus), thrd=str(threads), blk=str(blocks * run.sms)),
                       "m(avginstru)", 2, 1e-3)
            for gpus in counts[1:]])
        for section in sections for method in methods(section)
        for blocks, threads in ((1, 32), (1, 1024), (32, 64))])


def libraries(run, sections):
    """Barriers of libraries: each method and shape, by GPUs, nodes, threads or processes."""
    def column(row):
        place = chart_libraries.place(row)
        return (*place, row.whole("processes") > 1)

    def line(row):
        text = row["method"]
        return text if row["blk"] == "nan" else f"{text}, {row['blk']} x {row['thrd']}"

    rows = [(section, row) for section in sections for row in section.rows
            if row["bytes"] in ("nan", chart_libraries.EIGHT)]
    columns = sorted({column(row) for _, row in rows})
    cells = defaultdict(dict)
    for section, row in rows:
        cells[line(row)].setdefault(column(row), short_text(run, section, row, "m(op)", 2, 1e-3))
    yield "Barriers of libraries, all-reduces of 8 bytes, in us (Libraries: m(op))"
    yield from grid("grid x block", [
        f"{chart_libraries.text(nodes, gpus)}{' p' * processes}" for nodes, gpus, processes in columns],
                    [(name, [found.get(one, "-") for one in columns]) for name, found in cells.items()])
    yield "  by GPUs, or nodes x GPUs of each; p: a process for each GPU, else a thread"


def warnings(run):
    every = warned(run)
    logged = sum(one.file == LOG for one in every)
    yield f"Warnings of the run: {len(every)}" + f", {logged} of them in {LOG} alone" * bool(logged)
    yield from (f"  {line}" for line in joined(run))


def parts(run):
    yield run.mark + run.about()
    yield from run.doubts()
    if run.partial:
        yield "An interrupted run: not everything was measured"
    missing = [file for file in tsv.FILES if not file.endswith(suite.OLDER)
               and not (file in suite.LATER and file not in run.files)
               and not any(section.rows for section in run.files.get(file, ()))]
    if missing:
        yield f"Nothing was measured of: {', '.join(missing)}"
    if "cuda_toolkit_before13" in run.environment:
        yield ("multi_grid_sync and the last of two numbers with CUDA "
               + run.environment["cuda_toolkit_before13"])
    yield ""
    yield from launches(run)
    yield ""
    yield "Inside one SM, in cycles (BenchmarkIntraSM: m(ave_cycle))"
    for title, places in (("block latency", of_blocks), ("warp latency", of_warps),
                          ("group latency", of_blocks)):
        yield from inside_one_sm(run, title, places)
    yield ""
    yield "Barriers of one GPU, in us (BenchmarkInterSM: m(avginstru))"
    yield from one_gpu(run)
    yield ""
    if run.environment.get("gpu_count") != "1":
        yield "Barriers of several GPUs, in us (BenchmarkInterSM: m(avginstru))"
        yield from several_gpus(run)
        yield ""
    of_libraries = chart_libraries.sections(run)
    if of_libraries:
        yield from libraries(run, of_libraries)
        yield ""
    if any(file in run.files for file in tsv.REDUCTIONS):
        yield from reduction_summary.lines(run)
        yield ""
    if any(file in run.files for file in tsv.PITFALLS):
        yield from pitfalls_summary.lines(run)
        yield ""
    yield from warnings(run)


def lines(run):
    """All, where each caption says what is simulated."""
    first, *others = parts(run)
    yield first
    yield from (run.mark * (line[:1].strip() != "") + line for line in others)


def work():
    parser = command_line.Parser(description=__doc__)
    parser.add_argument("folders", nargs="+", metavar="DIR", help="a results folder")
    parser.add_argument("--short", action="store_true",
                        help="one table of the main numbers, with a column for each folder")
    parser.add_simulated()
    options = parser.parse_args()
    if len(options.folders) > 1 and not options.short:
        parser.error("several folders need --short")
    runs = [tsv.Run(folder, options.simulated) for folder in options.folders]
    tsv.refuse_mixed(runs)
    print("\n".join(in_short.lines(runs) if options.short else lines(*runs)))  # all or nothing
    return 0


if __name__ == "__main__":
    command_line.main(work, "summary.py")
