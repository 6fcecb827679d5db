#!/usr/bin/env python3
"""Shows a results folder in short: every barrier at the shapes that people ask for.

Numbers are means; behind a launch stands its standard deviation. ! marks a number that the run
warns of, or that depends on the repeat count; the worst warning of each kind stands at the end.
"none": the compiler left nothing that waits, so that there is no latency. -: not measured, or it
does not fit on the GPU. multi_grid_sync is of the older toolkit, all else of the newer one. ? marks a
wrong sum.
"""

from collections import defaultdict

from parts import command_line, frame, suite, tsv
from parts.tables import pivot
from reporting import headline
from reporting.estimates import many, place, place_text, short_text, size_name
from reporting.run_warnings import count, joined

WARP_SIZES = ("1", "2", "4", "8", "16", "32")
BLOCK_THREADS = ("32", "64", "128", "256", "512", "1024")
CLUSTERS = tuple(f"{n} x {threads}" for threads in (32, 1024) for n in (2, 4, 8, 16))
SHAPES = ((1, 32), (1, 1024), (32, 64))  # blocks per SM, threads
SUMMED, SIZES = "float", (2 ** 20, 2 ** 24, 2 ** 28, 2 ** 32)  # which arrays are shown


def launches(run):
    rows = run.section("ImplicitBarrier", "sleep kernel").rows
    yield "One more kernel launch, in ns, by GPUs (ImplicitBarrier: m(ovh) ± s(ovh))"
    yield from pivot("grid x block", (
        (f"{row['method']} {row['blk']} x {row['thrd']}", row["GPUCount"],
         f"{short_text(row, 'm(ovh)', 0)} ± {float(row['s(ovh)']):.0f}")
        for row in rows), sorted({row["GPUCount"] for row in rows}, key=int))


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
    for method in dict.fromkeys(row["method"] for row in section.rows):
        rows = section.find_all(method=method)
        one = {row["tile"]: row for row in rows if row["thrd"] == "32"}
        told = rows[0].said("tile")
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
    found = defaultdict(list)
    for corner, columns, line, column, row in places(run.section("BenchmarkIntraSM", title)):
        found[corner, columns].append((line, column, short_text(row, "m(ave_cycle)", 1)))
    for (corner, columns), cells in found.items():
        lines = list(pivot(corner, cells, columns))
        if len(columns) == 1:  # narrow: three lines in one
            third = (len(lines) + 1) // 3
            lines[1:] = ["".join(lines[1:][n::third]) for n in range(third)]
        yield from lines


def us(row, column="m(avginstru)"):
    return short_text(row, column, 2, 1e-3)


def one_gpu(run):
    """Each barrier of one GPU: blocks per SM x threads per block."""
    for file, title in (("BenchmarkInterSM", "grid latency"),
                        *((file, "multi-GPU latency") for file in tsv.GRID_FILES)):
        rows = sorted(run.section(file, title).find_all(GPUcount="1"),
                      key=lambda row: row.whole("blk"))
        for method in dict.fromkeys(row["method"] for row in run.section(file, title).rows):
            yield from pivot(f"{method}, blocks per SM x threads", (
                (f"{row.whole('blk') / run.sms:g}", row["thrd"], us(row))
                for row in rows if row["method"] == method), BLOCK_THREADS)


def several_gpus(run):
    """Each multi-GPU barrier at three shapes, by GPUs."""
    rows = [row for file in tsv.GRID_FILES for row in run.section(file, "multi-GPU latency").rows]
    shapes = {(str(blocks * run.sms), str(threads)): f"{blocks} x {threads}"
              for blocks, threads in SHAPES}
    yield from pivot("blocks per SM x threads", (
        (f"{row['method']} {shapes[row['blk'], row['thrd']]}", many(row.whole("GPUcount")),
         us(row)) for row in rows if (row["blk"], row["thrd"]) in shapes),
                     [many(gpus) for gpus in sorted({row.whole("GPUcount") for row in rows})
                      if gpus > 1])


def libraries(rows):
    """Barriers of libraries: each method and shape, by GPUs, nodes, threads or processes."""
    def started(row):
        return (*place(row), row.whole("processes") > 1)

    def column(nodes, gpus, processes):
        return f"{place_text(nodes, gpus)}{' p' * processes}"

    def line(row):
        return row["method"] + f", {row['blk']} x {row['thrd']}" * (row["blk"] != "nan")

    rows = [row for row in rows if row["bytes"] in ("nan", "8")]
    yield "Barriers of libraries, all-reduces of 8 bytes, in us (Libraries: m(op))"
    yield from pivot("grid x block", (
        (line(row), column(*started(row)), us(row, "m(op)")) for row in rows),
                     [column(*one) for one in sorted(set(map(started, rows)))])
    yield "  by GPUs, or nodes x GPUs of each; p: a process for each GPU, else a thread"


def sums(run):
    """Each way by the size of the array, and at the largest size by GPUs."""
    yield f"Sums of {SUMMED}, in GB/s (Reduction: m(GB/s))"
    section = run.section("Reduction", "one GPU")
    theory = section.find(method="theory")
    if theory:
        yield f"  the memory's clock and width allow {float(theory['m(GB/s)']):.0f} GB/s"
    rows = [row for row in section.rows if row.get("type") == SUMMED]
    sizes = sorted({row.whole("bytes") for row in rows})
    yield from pivot("one GPU", (
        (row["method"], size_name(row["bytes"]), short_text(row, "m(GB/s)", 0))
        for row in rows), [size_name(size) for size in sizes if size in SIZES or size == sizes[-1]])
    rows = [row for file in tsv.REDUCTIONS
            for row in run.section(file, "strong scaling").find_all(type=SUMMED)]
    largest = max((row.whole("bytes") for row in rows), default=0)
    yield from pivot(f"GPUs, {size_name(largest)}", (
        (row["method"], row["GPUcount"], short_text(row, "m(GB/s)", 0))
        for row in rows if row.whole("bytes") == largest))


def parts(run):
    yield run.about()
    yield from run.doubts()
    if run.partial:
        yield "An interrupted run: not everything was measured"
    missing = [file for file in tsv.FILES if not file.endswith(suite.OLDER)
               and not any(section.rows for section in run.files.get(file, ()))]
    if missing:
        yield f"Nothing was measured of: {', '.join(missing)}"
    if "cuda_toolkit_before13" in run.environment:
        yield f"multi_grid_sync with CUDA {run.environment['cuda_toolkit_before13']}"
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
    of_libraries = [row for name, output in run.files.items()
                    if name.split(".")[0] == "Libraries" for section in output
                    for row in section.rows]
    if of_libraries:
        yield from libraries(of_libraries)
        yield ""
    if any(file in run.files for file in tsv.REDUCTIONS):
        yield from sums(run)
        yield ""
    yield f"Warnings of the run: {count(run)}"
    yield from (f"  {line}" for line in joined(run))


def work():
    parser = command_line.Parser(description=__doc__)
    parser.add_argument("folders", nargs="+", metavar="DIR", help="a results folder")
    some = parser.add_mutually_exclusive_group()
    some.add_argument("--short", action="store_true",
                      help="one table of the main numbers, with a column for each folder")
    some.add_argument("--csv", action="store_true",
                      help="all rows as comma-separated values, a line for each quantity")
    parser.add_simulated()
    options = parser.parse_args()
    if len(options.folders) > 1 and not (options.short or options.csv):
        parser.error("several folders need --short or --csv")
    runs = [tsv.Run(folder, options.simulated) for folder in options.folders]
    tsv.refuse_mixed(runs)
    print(frame.as_csv(runs) if options.csv else "\n".join(  # all or nothing
        headline.short_lines(runs) if options.short else  # each caption says what is simulated
        (runs[0].mark * (line[:1].strip() != "") + line for line in parts(*runs))))
    return 0


if __name__ == "__main__":
    command_line.main(work, "summary.py")
