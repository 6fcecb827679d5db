#!/usr/bin/env python3
"""Shows a results folder in short: every barrier at the shapes that people ask for.

Numbers are means; behind a launch stands its standard deviation. ! marks a number that the run
warns of, or that depends on the repeat count; the worst warning of each kind stands at the end. "none": the compiler left nothing that waits, so that there is no latency. -: not measured, or it
does not fit on the GPU. Two numbers are of both toolkits, the older one's last. ? marks a wrong
sum.
"""

from collections import defaultdict

from parts import command_line, frame, suite, tsv
from parts.tables import pivot
from reporting import headline
from reporting.estimates import many, place, place_text, short_text, size_name
from reporting.run_warnings import count, joined
from reporting.switch_model import predicted

WARP_SIZES = ("1", "2", "4", "8", "16", "32")
BLOCK_THREADS = ("32", "64", "128", "256", "512", "1024")
CLUSTERS = tuple(f"{n} x {threads}" for threads in (32, 1024) for n in (2, 4, 8, 16))
SHAPES = ((1, 32), (1, 1024), (32, 64))  # blocks per SM, threads
SUMMED, SIZES = "float", (2 ** 20, 2 ** 24, 2 ** 28, 2 ** 32)  # which arrays are shown
FORMS = ("exits early", "stays and skips", "as allowed", "otherwise")


def sorted_by(column, rows):
    return sorted(rows, key=lambda row: row.whole(column))


def numbers_of(column, rows):
    return sorted({row.whole(column) for row in rows})


def launches(run):
    section = run.section("ImplicitBarrier", "sleep kernel")
    yield "One more kernel launch, in ns, by GPUs (ImplicitBarrier: m(ovh) ± s(ovh))"
    yield from pivot("grid x block", (
        (f"{row['method']} {row['blk']} x {row['thrd']}", row["GPUCount"],
         f"{short_text(run, section, row, 'm(ovh)', 0)} ± {float(row['s(ovh)']):.0f}")
        for row in section.rows), [str(count) for count in numbers_of("GPUCount", section.rows)])


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
        lines = list(pivot(corner, ((line, column, text) for line, cells in rows.items()
                                    for column, text in cells.items()), columns))
        if len(columns) == 1:  # narrow: three lines in one
            third = (len(lines) + 1) // 3
            lines[1:] = ["".join(lines[1:][n::third]) for n in range(third)]
        yield from lines


def us(run, section, row, column="m(avginstru)"):
    return short_text(run, section, row, column, 2, 1e-3)


def one_gpu(run):
    """Each barrier of one GPU: blocks per SM x threads per block."""
    for file, title in (("BenchmarkInterSM", "grid latency"),
                        *((file, "multi-GPU latency") for file in tsv.GRID_FILES)):
        section = run.section(file, title)
        rows = section.find_all(GPUcount="1")
        for method in dict.fromkeys(row["method"] for row in rows):
            yield from pivot(f"{method}, blocks per SM x threads", (
                (f"{row.whole('blk') / run.sms:g}", row["thrd"], us(run, section, row))
                for row in sorted_by("blk", rows) if row["method"] == method), BLOCK_THREADS)


def several_gpus(run):
    """Each multi-GPU barrier at three shapes, by GPUs."""
    rows = [(section, row) for file in tsv.GRID_FILES
            for section in [run.section(file, "multi-GPU latency")] for row in section.rows]
    shapes = {(str(blocks * run.sms), str(threads)): f"{blocks} x {threads}"
              for blocks, threads in SHAPES}
    yield from pivot("blocks per SM x threads", (
        (f"{row['method']} {shapes[row['blk'], row['thrd']]}", many(row.whole("GPUcount")),
         us(run, section, row)) for section, row in rows if (row["blk"], row["thrd"]) in shapes),
                     [many(gpus) for gpus in numbers_of("GPUcount", (row for _, row in rows)) if gpus > 1])


def libraries(run, sections):
    """Barriers of libraries: each method and shape, by GPUs, nodes, threads or processes."""
    def started(row):
        return (*place(row), row.whole("processes") > 1)

    def column(nodes, gpus, processes):
        return f"{place_text(nodes, gpus)}{' p' * processes}"

    def line(row):
        return row["method"] + f", {row['blk']} x {row['thrd']}" * (row["blk"] != "nan")

    rows = [(section, row) for section in sections for row in section.rows
            if row["bytes"] in ("nan", "8")]
    yield "Barriers of libraries, all-reduces of 8 bytes, in us (Libraries: m(op))"
    yield from pivot("grid x block", (
        (line(row), column(*started(row)), us(run, section, row, "m(op)")) for section, row in rows),
                     [column(*one) for one in sorted({started(row) for _, row in rows})])
    yield "  by GPUs, or nodes x GPUs of each; p: a process for each GPU, else a thread"


def sums_on_one_gpu(run):
    """Each way by the size of the array."""
    section = run.section("Reduction", "one GPU")
    rows = [row for row in section.rows if row.get("type") == SUMMED]
    sizes = numbers_of("bytes", rows)
    theory = section.find(method="theory")
    if theory:
        yield f"  the memory's clock and width allow {float(theory['m(GB/s)']):.0f} GB/s"
    yield from pivot("one GPU", (
        (row["method"], size_name(row["bytes"]), short_text(run, section, row, "m(GB/s)", 0))
        for row in rows), [size_name(size) for size in sizes if size in SIZES or size == sizes[-1]])


def sums_on_several_gpus(run):
    """Each way at the largest size, by GPUs."""
    for title, each in (("strong scaling", ""), ("weak scaling", " each")):
        rows = [(section, row) for file in tsv.REDUCTIONS for section in [run.section(file, title)]
                for row in section.find_all(type=SUMMED)]
        counts = numbers_of("GPUcount", (row for _, row in rows))
        if len(counts) < 2:
            continue

        def size(row):
            return row.whole("bytes") // (row.whole("GPUcount") if each else 1)

        largest = max(size(row) for _, row in rows)
        yield from pivot(f"{title}, {size_name(largest)}{each}", (
            (row["method"], many(row.whole("GPUcount")),
             short_text(run, section, row, "m(GB/s)", 0))
            for section, row in rows if size(row) == largest), list(map(many, counts)))


def sums_of_one_warp(run):
    sections = [section for file in tsv.REDUCTIONS
                for section in [run.section(file, "warp level")] if section.rows]
    texts = defaultdict(lambda: ["-"] * len(sections))  # of each toolkit
    for number, section in enumerate(sections):
        for row in section.rows:
            texts[row["method"], row["type"]][number] = short_text(run, section, row,
                                                                  "m(ave_cycle)", 1)
    yield from pivot("32 values by a warp, cycles", (
        (*key, " / ".join(found)) for key, found in texts.items()))


def switching_points(run):
    """Where more threads become faster: as predicted from each cost, and as measured."""
    section = run.section("Reduction", "switching points")
    loops = run.section("Reduction", "shared memory")

    def cells():
        for row in section.rows:
            line = f"{row['type']}, {row['more']} threads for {row['basic']}"
            model = predicted(loops, row)
            yield line, f"by {row['cost']}", ("-" if model is None else "never" if
                                              model.case == "never" else f"{model.bytes:.0f}")
            yield line, "measured", "never" if row["measured"] == "nan" else short_text(
                run, section, row, "measured", 0).rstrip("!")

    costs = dict.fromkeys(f"by {row['cost']}" for row in section.rows)
    yield from pivot("more threads pay from, bytes", cells(), [*costs, "measured"])


def sums(run):
    yield f"Sums, of {SUMMED} where not said, in GB/s (Reduction: m(GB/s))"
    for part in (sums_on_one_gpu, sums_on_several_gpus, sums_of_one_warp, switching_points):
        yield from part(run)


def short(outcome):
    kind, which = tsv.outcome_of(outcome)
    return {tsv.HANGS: "hangs", tsv.ERROR: which}.get(kind, kind)


def pitfalls(run):
    def rows(title, files=tsv.PITFALLS[:1]):
        return [row for file in files for row in run.section(file, title).rows]

    yield "What holds, hangs and races (Pitfalls)"
    for blocks, what in (("1", "held by"), ("0", "not by")):
        names = [row["method"] for row in rows("warp barrier verdict") if row["blocks"] == blocks]
        if names:
            yield f"  lanes in branches of their own: {what} {', '.join(names)}"
    yield from pivot("part of a group", (
        (row["method"], row["form"] if row["form"] in FORMS else "otherwise", short(row["outcome"]))
        for row in rows("partial groups", tsv.PITFALLS)), FORMS)
    yield from pivot("wrong results", (
        (row["method"], f"{row['form']} form", f"{row['wrong']} of {row['tries']}")
        for row in rows("races")), ("wrong form", "right form"))
    yield from pivot("stale messages", (
        (f"{row['order']}, {row['form']}", row["method"], f"{row['stale']} of {row['messages']}")
        for row in rows("message passing")))


def warnings(run):
    yield f"Warnings of the run: {count(run)}"
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
    of_libraries = [section for name, output in run.files.items()
                    if name.split(".")[0] == "Libraries" for section in output if section.rows]
    if of_libraries:
        yield from libraries(run, of_libraries)
        yield ""
    if any(file in run.files for file in tsv.REDUCTIONS):
        yield from sums(run)
        yield ""
    if any(file in run.files for file in tsv.PITFALLS):
        yield from pitfalls(run)
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
        headline.short_lines(runs) if options.short else lines(*runs)))
    return 0


if __name__ == "__main__":
    command_line.main(work, "summary.py")
