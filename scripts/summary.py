#!/usr/bin/env python3
"""Shows a results folder in short: every barrier at the shapes that people ask for.

Figures are means; behind a launch stands its standard deviation. ! marks a figure whose
row carries a warning of the run, which stands at the end. "none": the barrier compiled to
nothing, so that there is no latency. -: not measured, or it does not fit on the GPU.
"""

import tsv

WARP_SIZES = ("1", "2", "4", "8", "16", "32")
BLOCK_THREADS = ("32", "64", "128", "256", "512", "1024")
FEWEST_CYCLES = 3.5  # what takes less waits for nothing (explicit_barrier/rows.hpp)
LAUNCH_SECTION = ("ImplicitBarrier", "sleep kernel")


def grid(corner, columns, rows):
    """A table: rows are (name, cells). Nothing where there is no row."""
    if not rows:
        return
    table = [(corner, *columns), *((name, *cells) for name, cells in rows)]
    widths = [max(map(len, column)) for column in zip(*table)]
    for name, *cells in table:
        yield "  " + "  ".join((name.ljust(widths[0]),
                                *(cell.rjust(width) for cell, width in zip(cells, widths[1:]))))


def figure(run, section, row, column, digits, scale=1.0):
    """The cell of a row, as the text at the top says."""
    if row is None:
        return "-"
    if any("nothing waits" in text and (above is row or (
            text.startswith(f"{row['method']}: ") and float(row[column]) < FEWEST_CYCLES))
           for above, text in section.comments):
        return "none"
    warned = any(row is other for other, _ in section.warnings(run.sms))
    return f"{float(row[column]) * scale:.{digits}f}" + "!" * warned


def methods(section):
    return list(dict.fromkeys(row["method"] for row in section.rows))


def launches(run):
    section = run.section(*LAUNCH_SECTION)
    counts = sorted({int(row["GPUCount"]) for row in section.rows})
    shapes = list(dict.fromkeys((row["blk"], row["thrd"]) for row in section.rows))

    def cell(method, shape, gpus):
        row = section.find(method=method, GPUCount=str(gpus), blk=shape[0], thrd=shape[1])
        text = figure(run, section, row, "m(ovh)", 0)
        return f"{text} ± {float(row['s(ovh)']):.0f}" if row else text

    yield "One more kernel launch, in ns, by GPUs (ImplicitBarrier: m(ovh) ± s(ovh))"
    yield from grid("grid x block", map(str, counts), [
        (f"{method} {' x '.join(shape)}", [cell(method, shape, gpus) for gpus in counts])
        for method in methods(section) for shape in shapes
        if section.find(method=method, blk=shape[0], thrd=shape[1])])


def inside_one_sm(run, title, corner, column, sizes, **others):
    """The methods of a section by one column, where the others are as given."""
    section = run.section("BenchmarkIntraSM", title)

    def cells(method):
        return [section.find(method=method, **{column: size}, **others) for size in sizes]

    yield from grid(corner, sizes, [
        (method, [figure(run, section, row, "m(ave_cycle)", 1) for row in cells(method)])
        for method in methods(section) if any(cells(method))])


def one_gpu(run):
    """Each barrier of one GPU: blocks per SM x threads per block."""
    for file, title in (("BenchmarkInterSM", "grid latency"),
                        *((file, "multi-GPU latency") for file in tsv.GRID_FILES)):
        section = run.section(file, title)
        rows = [row for row in section.rows if row["GPUcount"] == "1"]
        blocks = sorted({int(row["blk"]) for row in rows})
        for method in dict.fromkeys(row["method"] for row in rows):
            yield from grid(f"{method}, blocks per SM x threads", BLOCK_THREADS, [
                (f"{count / run.sms:g}", [
                    figure(run, section, section.find(method=method, GPUcount="1", blk=str(count),
                                         thrd=threads), "m(avginstru)", 2, 1e-3)
                    for threads in BLOCK_THREADS]) for count in blocks])


def several_gpus(run):
    """Each multi-GPU barrier at three shapes, by GPUs."""
    sections = [run.section(file, "multi-GPU latency") for file in tsv.GRID_FILES]
    counts = sorted({int(row["GPUcount"]) for section in sections for row in section.rows})
    yield from grid("blocks per SM x threads", [f"{n} GPUs" for n in counts[1:]], [
        (f"{method} {blocks} x {threads}", [
            figure(run, section, section.find(method=method, GPUcount=str(gpus), thrd=str(threads),
                                 blk=str(blocks * run.sms)), "m(avginstru)", 2, 1e-3)
            for gpus in counts[1:]])
        for section in sections for method in methods(section)
        for blocks, threads in ((1, 32), (1, 1024), (32, 64))])


def warnings(run):
    found = [(file, section, row, text) for file, sections in run.files.items()
             for section in sections for row, text in section.warnings(run.sms)]
    yield f"Warnings of the run: {len(found)}"
    for file, section, row, text in found:
        keys = ("GPUCount", "GPUcount", "rep", "blk", "thrd", "tile", "idea(wkld)")
        shape = row and " ".join(f"{key} {row[key]}" for key in keys if key in row)
        where = f", {row['method']}, {shape}" if row else ""
        yield f"  {file}, {section.title}{where}: {text}"


def lines(run):
    yield run.about()
    if run.path.name.endswith(".partial"):
        yield "An interrupted run: not everything was measured"
    missing = [file for file in tsv.FILES if not file.endswith(".cuda11")
               and not any(section.rows for section in run.files.get(file, ()))]
    if missing:
        yield f"Nothing was measured of: {', '.join(missing)}"
    if "cuda_toolkit_multi_grid" in run.environment:
        yield f"multi_grid_sync with CUDA {run.environment['cuda_toolkit_multi_grid']}"
    yield ""
    yield from launches(run)
    yield ""
    yield "Inside one SM, in cycles (BenchmarkIntraSM: m(ave_cycle))"
    yield from inside_one_sm(run, "block latency", "threads of the block", "thrd", BLOCK_THREADS)
    yield from inside_one_sm(run, "warp latency", "one warp, threads of the group", "tile",
                             WARP_SIZES, thrd="32")
    yield from inside_one_sm(run, "warp latency", "whole warps, threads of the block", "thrd",
                             BLOCK_THREADS, tile="32")
    yield ""
    yield "Barriers of one GPU, in us (BenchmarkInterSM: m(avginstru))"
    yield from one_gpu(run)
    yield ""
    if run.environment.get("gpu_count") != "1":
        yield "Barriers of several GPUs, in us (BenchmarkInterSM: m(avginstru))"
        yield from several_gpus(run)
        yield ""
    yield from warnings(run)


if __name__ == "__main__":
    tsv.main_of_folder(lines, __doc__, "summary.py")
