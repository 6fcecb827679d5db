"""What pages show of the recorded runs: lines of Markdown, made from their rows."""

from pages.recorded import code, heading, largest
from parts import environment, tables, tsv
from reporting.estimates import many, shape, short_text, size_name
from reporting.headline import launch, of_grids
from reporting.names import legend
from reporting.normal import is_before
from reporting.sheets import coded, markdown_table
from reporting.study_tables import ARRAY, toolkits

# Of the table of multi-GPU barriers: method, label.
BARRIERS = {"peer_grid_sync": "`peer_grid_sync`", "multi_grid_sync": "`multi_grid_sync`",
            "multi_grid_sync_no_peer": "`multi_grid_sync` without peer access"}
LAUNCHES = ("multi_cooperative_launch", "single_omp_traditional_launch")
SHAPES = ((1, 1024), (32, 64))  # blocks for each SM, threads


def by_gpus(runs):
    """{heading: (run, number of GPUs)}: of each number the run of today with most GPUs, or an earlier
    one."""
    found = {}
    for run in sorted([*largest(runs)[:1], *filter(is_before, runs)], key=is_before):
        for gpus in range(1, run.gpus + 1):
            found.setdefault(gpus, run)
    return {many(gpus) + " (before)" * is_before(run): (run, gpus) for gpus, run in sorted(found.items())}


def multi_gpu_barriers(runs):
    """The multi-GPU barriers, in microseconds."""
    columns = by_gpus(runs)
    lines = [(label, of, [of_grids("multi-GPU latency", method, *of, gpus)(run)
                          for run, gpus in columns.values()])
             for method, label in BARRIERS.items() for of in SHAPES]
    lines += [(f"`{method}`", (1, 1024), [launch(method, gpus)(run) for run, gpus in columns.values()])
              for method in LAUNCHES]
    run = largest(runs)[0]
    yield from markdown_table(["Barrier", "CUDA", "Blocks x threads", *columns], 3, [
        [coded(label), run.toolkit(max(one.estimate.sources[0][0] for one in found if one)[:-4]),
         shape(*of), *(one.estimate.short(2, 1e-3) if one else "–" for one in found)]
        for label, of, found in lines if any(found)])
    yield from ("", legend([*list(BARRIERS)[:2], *LAUNCHES]))


SAMPLE = "h200x1"
TILES = ("1", "2", "4", "8", "16", "32")
IN_A_WARP = ("tile_sync", "coales_sync", "syncwarp", "in_use_none", "in_use_tile",
             "in_use_coalesced", "in_use_syncwarp")


def run_of(runs, name):
    return next(run for run in runs if run.path.name == name)


def cell(section, digits, column, **cells):
    """A mean without its spread."""
    row = section.find(**cells)
    return short_text(row, column, digits) if row else "–"


def warp_barriers(runs):
    """What toolkits leave of the barriers of a warp, by the size of the group."""
    run = run_of(runs, SAMPLE)
    sections = [(toolkit, run.section(file, "warp latency"))
                for toolkit, file in toolkits(run, "BenchmarkIntraSM")]
    return markdown_table(["Method", "Toolkit", *TILES], 2, [
        [code(method), toolkit, *(cell(section, 0, "m(ave_cycle)", method=method, thrd="32",
                                       tile=tile) for tile in TILES)]
        for method in IN_A_WARP for toolkit, section in sections])


def sums_in_a_warp(runs):
    """Cycles of each sum of 32 values, of each toolkit."""
    run = run_of(runs, SAMPLE)
    types = ("double", "float", "int")
    sections = [(toolkit, run.section(file, "warp level"))
                for toolkit, file in toolkits(run, "Reduction")]
    methods = dict.fromkeys(row["method"] for _, section in sections for row in section.rows)
    return markdown_table(
        ["Method", *(f"{name}, {toolkit}" for name in types for toolkit, _ in sections)], 1, [
            [code(method), *(cell(section, 1, "m(ave_cycle)", method=method, type=name)
                             for name in types for _, section in sections)]
            for method in methods])


def sums_by_size(runs):
    """GB/s of each sum on one GPU."""
    run = run_of(runs, SAMPLE)
    section = run.section("Reduction", "one GPU")
    sizes = [2 ** 20, 2 ** 24, 2 ** 28, 2 ** 32, 2 ** 35]
    methods = dict.fromkeys(row["method"] for row in section.find_all(type=ARRAY))
    return markdown_table(["Method", *map(size_name, sizes)], 1, [
        [code(method), *(cell(section, 0, "m(GB/s)", method=method, type=ARRAY,
                              bytes=str(size)) for size in sizes)] for method in methods])


def sums_by_gpus(runs):
    """Median microseconds of each sum of one array."""
    columns, last = by_gpus(runs), largest(runs)[0]
    methods = {file: dict.fromkeys(row["method"] for row in last.section(file, "strong scaling").rows)
               for file in tsv.REDUCTIONS}
    return markdown_table(["Array", "Method", *columns], 2, [
        [size_name(size), code(method), *(
            cell(run.section(file, "strong scaling"), 1, "med(host)", method=method, type=ARRAY,
                 bytes=str(size), GPUcount=str(gpus)) for run, gpus in columns.values())]
        for size in (2 ** 20, 2 ** 28, 2 ** 36) for file in tsv.REDUCTIONS for method in methods[file]])


def durations(runs):
    """How long runs with all sets took, by what measure.py writes."""
    return markdown_table(["GPUs", "Toolkits", "Minutes"], 2, [
        [heading(run), toolkits, f"{seconds / 60:.1f}"]
        for run in runs for toolkits, seconds in [
            (", ".join(filter(None, map(run.environment.get, ("cuda_toolkit", "cuda_toolkit_before13")))),
             sum(float(run.environment.get(environment.SECONDS_OF + name, 0)) for name in run.files))]
        if seconds])


SAMPLE_THREADS = ("32", "256", "1024")
SAMPLE_COLUMNS = ("method", "GPUcount", "rep", "blk", "thrd", "m(ave_cycle)", "s(ave_cycle)")


def sample(runs):
    """Lines of output, their columns aligned, and where the answer is."""
    run = run_of(runs, SAMPLE)
    path = run.path / "BenchmarkIntraSM.tsv"
    lines = tsv.read_bytes(path).decode().splitlines()
    title = lines.index("# block latency")
    rows = [row for row in run.section("BenchmarkIntraSM", "block latency").find_all(
        method="blocksync") if row["thrd"] in SAMPLE_THREADS]
    columns = [column for column in rows[0] if column in SAMPLE_COLUMNS]  # without --stats
    cells = [columns, *([row[column] for column in columns] for row in rows)]
    yield "```text"
    yield lines[0]
    yield next(line for line in lines if line.startswith("# gpu["))
    yield lines[title]
    yield from tables.aligned(cells)
    yield "```"
    yield ""
    last = rows[-1]
    yield (f"The answer is the column `m(ave_cycle)`: with {last['thrd']} threads (`thrd`), "
           f"`__syncthreads()` takes {last['m(ave_cycle)']}")
    yield (f"cycles. `s(ave_cycle)` is the standard deviation of its {last['n']} samples.")
