"""What pages show of the recorded runs: lines of Markdown, made from their rows."""

import itertools
import math
from fnmatch import fnmatchcase
from types import SimpleNamespace

from pages.recorded import RESULTS, code, output, rows
from parts import environment, means, suite, tables, tsv
from reporting.estimates import many, shape, short_name, short_text, size_name
from reporting.headline import launch, of_grids
from reporting.names import legend
from reporting.sheets import coded, markdown_table
from reporting.study_tables import ARRAY, toolkits

# Of the table of multi-GPU barriers: label, method.
BARRIERS = (("`peer_grid_sync`", "peer_grid_sync"), ("`multi_grid_sync`", "multi_grid_sync"),
            ("`multi_grid_sync` without peer access", "multi_grid_sync_no_peer"))
LAUNCHES = ("multi_cooperative_launch", "single_omp_traditional_launch")
SHAPES = ((1, 1024), (32, 64))  # blocks for each SM, threads


def barriers_table(runs):
    """The multi-GPU barriers of the run with most GPUs, in microseconds."""
    run = max(runs, key=lambda run: run.gpus)
    counts = range(1, run.gpus + 1)
    lines = [(label, of, [of_grids("multi-GPU latency", method, *of, gpus) for gpus in counts])
             for label, method in BARRIERS for of in SHAPES]
    lines += [(f"`{method}`", (1, 1024), [launch(method, gpus) for gpus in counts])
              for method in LAUNCHES]
    shown = []
    for label, of, finds in lines:
        found = [find(run) for find in finds]
        if any(found):
            file = next(one for one in found if one).estimate.sources[0][0]
            toolkit = "cuda_toolkit_before13" if suite.OLDER in file else "cuda_toolkit"
            shown.append([coded(label), run.environment[toolkit], shape(*of), *(
                one.estimate.short(2, 1e-3) if one else "–" for one in found)])
    return [*markdown_table(["Barrier", "CUDA", "Blocks x threads",
                             *map(many, counts)], 3, shown),
            "", legend([*(method for _, method in BARRIERS[:2]), *LAUNCHES])]


SAMPLE = "h200x1"
TILES = ("1", "2", "4", "8", "16", "32")
IN_A_WARP = ("tile_sync", "coales_sync", "syncwarp", "in_use_none", "in_use_tile",
             "in_use_coalesced", "in_use_syncwarp")


def run_of(runs, name):
    return next(run for run in runs if run.path.name == name)


def cell(run, section, digits, column, **cells):
    """A mean without its spread."""
    text = short_text(run, section, section.find(**cells), column, digits)
    return "–" if text == "-" else text


def warp_barriers(runs):
    """What toolkits leave of the barriers of a warp, by the size of the group."""
    run = run_of(runs, SAMPLE)
    sections = [(toolkit, run.section(file, "warp latency"))
                for toolkit, file in toolkits(run, "BenchmarkIntraSM")]
    return markdown_table(["Method", "Toolkit", *TILES], 2, [
        [code(method), toolkit, *(cell(run, section, 0, "m(ave_cycle)", method=method, thrd="32",
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
            [code(method), *(cell(run, section, 1, "m(ave_cycle)", method=method, type=name)
                             for name in types for _, section in sections)]
            for method in methods])


def sums_by_size(runs):
    """GB/s of each sum on one GPU."""
    run = run_of(runs, SAMPLE)
    section = run.section("Reduction", "one GPU")
    sizes = [2 ** 20, 2 ** 24, 2 ** 28, 2 ** 32, 2 ** 35]
    methods = dict.fromkeys(row["method"] for row in section.find_all(type=ARRAY))
    return markdown_table(["Method", *map(size_name, sizes)], 1, [
        [code(method), *(cell(run, section, 0, "m(GB/s)", method=method, type=ARRAY,
                              bytes=str(size)) for size in sizes)] for method in methods])


def sums_by_gpus(runs):
    """Median microseconds of each sum of one array, of the run with most GPUs."""
    run = max(runs, key=lambda run: run.gpus)
    sections = [run.section(file, "strong scaling") for file in tsv.REDUCTIONS]
    counts = range(1, run.gpus + 1)
    return markdown_table(["Array", "Method", *map(many, counts)], 2, [
        [size_name(size), code(method), *(
            cell(run, section, 1, "med(host)", method=method, type=ARRAY, bytes=str(size),
                 GPUcount=str(gpus)) for gpus in counts)]
        for size in (2 ** 20, 2 ** 28, 2 ** 36) for section in sections
        for method in dict.fromkeys(row["method"] for row in section.rows)])


# Rows that differ alike, by label and program: patterns of section, method and number of GPUs. A
# row is of the first line that it fits.
ALIKE = {
    ("`threadfence_system`", "BenchmarkIntraSM"): "* threadfence_system *",
    ("clusters", "BenchmarkIntraSM"): "* cluster_* *",
    ("`distributed_load`", "BenchmarkIntraSM"): "* distributed_load *",
    ("`mbarrier`, `mbarrier_parity`", "BenchmarkIntraSM"): "* mbarrier* *",
    ("`cuda_barrier`", "BenchmarkIntraSM"): "* cuda_barrier *",
    ("all others", "BenchmarkIntraSM"): "* * *",
    ("`grid_sync`", "BenchmarkInterSM"): "* grid_sync *",
    ("`semaphore`, `named_semaphore`", "BenchmarkInterSM"): "* *semaphore *",
    ("barriers of several GPUs, run on one", "BenchmarkInterSM"): "* * 1",
    ("barriers of several GPUs", "BenchmarkInterSM"): "* * *",
    ("overhead of launches, OpenMP", "ImplicitBarrier"): "sleep?kernel *_omp_* *",
    ("overhead of other launches, one GPU", "ImplicitBarrier"): "sleep?kernel * 1",
    ("overhead of other launches, several GPUs", "ImplicitBarrier"): "sleep?kernel * *",
    ("all others", "ImplicitBarrier"): "* * *",
    ("all", "TestRepeat"): "* * *",
    ("all", "Reduction"): "* * *"}


def differences(runs):
    """How far rows of one recorded run are from those of another with the same kind of GPU."""
    changes = {line: [] for line in ALIKE}
    for pair in itertools.combinations(runs, 2):
        if len({run.environment["gpu"] for run in pair}) == 1:
            one, other = map(means.values_of, pair)
            for file in one.keys() & other.keys():
                for key in one[file].keys() & other[file].keys():
                    line = next(line for line, patterns in ALIKE.items()
                                if line[1] == file.split(".")[0]
                                and all(map(fnmatchcase, key, patterns.split())))
                    a, b = (values[file][key][1].mean for values in (one, other))
                    changes[line].append(100 * abs(b - a) / abs(a))
    rows = []
    for (label, program), found in changes.items():
        found.sort()
        if found:
            rows.append([program, coded(label), f"{len(found):,}", *(
                f"{found[max(0, math.ceil(share * len(found)) - 1)]:.1f}%"
                for share in (0.5, 0.95, 1))])
    return markdown_table(["Program", "Rows", "How many", "Half within", "95 of 100 within",
                           "All within"], 2, rows)


def texts_of(runs, files, title, column):
    """(method, form) -> the different texts of this column in all runs."""
    found = {}
    for run in runs:
        for row in (row for file in files for row in run.section(file, title).rows):
            found.setdefault((row["method"], row.get("form", "")), {})[row[column]] = None
    return found


def verdicts(runs):
    """In how many launches a barrier of a warp made its lanes wait."""
    held, launches = (texts_of(runs, tsv.PITFALLS[:1], "warp barrier verdict", column)
                      for column in ("held", "launches"))
    return markdown_table(["Method", "Launches", "It blocked in"], 1, [
        [code(method), *(" or ".join(texts[method, form]) for texts in (launches, held))]
        for method, form in held])


FORMS = ("exits early", "stays and skips", "as allowed")


def partial_groups(runs):
    """What came of each case, in the forms that most cases have, then of the others."""
    found = texts_of(runs, tsv.PITFALLS, "partial groups", "outcome")
    outcomes = {key: coded(", ".join(
        f"`{which}`" if kind == tsv.ERROR else text
        for text in texts for kind, which in [tsv.outcome_of(text)]))
        for key, texts in found.items()}
    methods = dict.fromkeys(method for method, form in outcomes if form == FORMS[0])
    yield from markdown_table(["Method", *FORMS], 4, [
        [code(method), *(outcomes.get((method, form), "–") for form in FORMS)]
        for method in methods])
    yield ""
    yield from markdown_table(["Method", "Form", "Outcome"], 3, [
        [code(method), form, text] for (method, form), text in outcomes.items()
        if method not in methods])


def races(runs):
    """Wrong results of each race, in the forms without and with its barrier or fence."""
    wrong = texts_of(runs, tsv.PITFALLS[:1], "races", "wrong")
    tries = texts_of(runs, tsv.PITFALLS[:1], "races", "tries")

    def span(method, form):
        counts = sorted(map(int, wrong[method, form]))
        return " to ".join(f"{count}" for count in dict.fromkeys((counts[0], counts[-1])))

    return markdown_table(["Race", "Tries", "Wrong without", "Wrong with"], 1, [
        [code(method), " or ".join(tries[method, form]), span(method, "wrong"),
         span(method, "right")] for method, form in wrong if form == "wrong"])


def messages(_runs):
    """How many messages of each order were stale, of results/litmus."""
    names = [f"litmus/{path.stem}" for path in sorted((RESULTS / "litmus").glob("*.tsv"))]
    gpus = [output(name).head("gpu")[0]["name"].split()[1] for name in names]
    return markdown_table(["Litmus test", "Order", "Form",
                           *(f"stale of messages, {gpu}" for gpu in gpus)], 3, [
        [code(same[0]["method"]), code(same[0]["order"]), same[0]["form"],
         *(f"{row['stale']} of {row['messages']}" for row in same)]
        for same in zip(*map(rows, names))])


def durations(runs):
    """How long runs took, by what measure.py writes and by results/durations.tsv."""
    timed = [{**run.environment, "version": "", "note": f"results/{run.path.name}", "seconds": sum(
        float(run.environment.get(environment.SECONDS_OF + name, 0)) for name in run.files)}
             for run in runs]
    timed += tsv.read_table(tsv.read_bytes(environment.DURATIONS), environment.DURATIONS)
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
