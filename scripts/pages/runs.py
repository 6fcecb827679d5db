"""What pages show of the recorded runs: lines of Markdown, made from their rows."""

from types import SimpleNamespace

from pages.recorded import code, table_of
from parts import environment, tables, tsv
from reporting.estimates import many, shape, short_name, short_text, size_name
from reporting.headline import launch, of_grids
from reporting.names import legend
from reporting.sheets import coded, markdown_table
from reporting.study_tables import ARRAY, toolkits

# Of the table of multi-GPU barriers: method, label.
BARRIERS = {"peer_grid_sync": "`peer_grid_sync`", "multi_grid_sync": "`multi_grid_sync`",
            "multi_grid_sync_no_peer": "`multi_grid_sync` without peer access"}
LAUNCHES = ("multi_cooperative_launch", "single_omp_traditional_launch")
SHAPES = ((1, 1024), (32, 64))  # blocks for each SM, threads


def multi_gpu_barriers(runs):
    """The multi-GPU barriers of the run with most GPUs, in microseconds."""
    run = max(runs, key=lambda run: run.gpus)
    counts = range(1, run.gpus + 1)
    lines = [(label, of, [of_grids("multi-GPU latency", method, *of, gpus)(run) for gpus in counts])
             for method, label in BARRIERS.items() for of in SHAPES]
    lines += [(f"`{method}`", (1, 1024), [launch(method, gpus)(run) for gpus in counts])
              for method in LAUNCHES]
    yield from markdown_table(["Barrier", "CUDA", "Blocks x threads", *map(many, counts)], 3, [
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
    """Median microseconds of each sum of one array, of the run with most GPUs."""
    run = max(runs, key=lambda run: run.gpus)
    sections = [run.section(file, "strong scaling") for file in tsv.REDUCTIONS]
    counts = range(1, run.gpus + 1)
    return markdown_table(["Array", "Method", *map(many, counts)], 2, [
        [size_name(size), code(method), *(
            cell(section, 1, "med(host)", method=method, type=ARRAY, bytes=str(size),
                 GPUcount=str(gpus)) for gpus in counts)]
        for size in (2 ** 20, 2 ** 28, 2 ** 36) for section in sections
        for method in dict.fromkeys(row["method"] for row in section.rows)])


def durations(runs):
    """How long runs took, by what measure.py writes and by results/durations.tsv."""
    timed = [{**run.environment, "version": "", "note": f"results/{run.path.name}", "seconds": sum(
        float(run.environment.get(environment.SECONDS_OF + name, 0)) for name in run.files)}
             for run in runs]
    timed += table_of("durations")
    return markdown_table(["GPUs", "Version", "How it is known", "Minutes"], 3, [
        [f"{row['gpu_count']} {short_name(SimpleNamespace(environment=row, simulated=False))}",
         row["version"], row["note"], f"{float(row['seconds']) / 60:.1f}"]
        for row in timed if float(row["seconds"])])


SAMPLE_THREADS = ("32", "256", "1024")


def sample(runs):
    """Lines of output, their columns aligned, and where the answer is."""
    run = run_of(runs, SAMPLE)
    path = run.path / "BenchmarkIntraSM.tsv"
    lines = tsv.read_bytes(path).decode().splitlines()
    title = lines.index("# block latency")
    rows = [row for row in run.section("BenchmarkIntraSM", "block latency").find_all(
        method="blocksync") if row["thrd"] in SAMPLE_THREADS]
    cells = [list(rows[0]), *([row[column] for column in row] for row in rows)]
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
    yield (f"cycles. `s(ave_cycle)` is the standard deviation of its {last['n']} samples (`n`).")
