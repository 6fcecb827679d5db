"""What a barrier of several GPUs costs, by library and by how many GPUs and nodes. For report.py."""

from collections import namedtuple

from parts import tsv
from reporting.chart import LINES, SPREAD, Chart, Panel, Series, points
from reporting.estimates import shape

US = 1e-3  # of nanoseconds
SUITE, MULTI_GRID = "this suite", "multi_grid"
LIBRARIES = ("NCCL", "NCCL unregistered", "NVSHMEM", "MPI", SUITE, MULTI_GRID)
OF_GRIDS = {"NCCL": "nccl_lsa_grid", "NVSHMEM": "nvshmem_barrier_grid", SUITE: "peer_grid_sync",
            MULTI_GRID: "multi_grid_sync"}
OF_GPUS = {"NCCL": "nccl_graph_registered", "NCCL unregistered": "nccl_graph_unregistered",
           "NVSHMEM": "nvshmem_barrier_stream", "MPI": "mpi_launch"}
EIGHT = "8"  # bytes of an all-reduce

# of: blocks per SM and threads of its grids, None of operations that are no kernel's part.
Part = namedtuple("Part", "title methods of")
PARTS = (*(Part(f"all blocks, {shape(*of)}", OF_GRIDS, of) for of in ((1, 1024), (32, 64))),
         Part("all GPUs, a launch for each", OF_GPUS, None))


def sections(run):
    """Those of Libraries, one for each way in which it was started."""
    return [section for name, output in run.files.items() if name.split(".")[0] == "Libraries"
            for section in output if section.rows]


def is_of(run, part, row):
    if part.of:
        return (row["blk"], row["thrd"]) == (str(part.of[0] * run.sms), str(part.of[1]))
    return row.get("bytes", "nan") in (EIGHT, "nan")


def place(row):
    """Nodes and GPUs."""
    return row.whole("nodes") if "nodes" in row else 1, row.whole("GPUcount")


def text(nodes, gpus):
    """4 on one node; 2x4 are 8 on two."""
    return f"{gpus}" if nodes == 1 else f"{nodes}x{gpus / nodes:g}"


def name_of(library, row):
    several = "processes" in row and row.whole("processes") > 1
    return library + ", processes" * several


def found(run, part):
    """{name of a series: {place: Point}}; a barrier of this suite that Libraries measured beside
    the others goes before that of BenchmarkInterSM."""
    series = {}
    grids = [run.section(file, "multi-GPU latency") for file in tsv.GRID_FILES] if part.of else ()
    for section, mean, spread in (*((one, "m(op)", None) for one in sections(run)),
                                  *((one, "m(avginstru)", "s(avginstr)") for one in grids)):
        libraries = {method: library for library, method in part.methods.items()}
        for row in section.rows:
            if row["method"] not in libraries or not is_of(run, part, row):
                continue
            for point in points(run, section, [row], lambda row: text(*place(row)), mean, spread, US):
                series.setdefault(name_of(libraries[row["method"]], row), {}).setdefault(
                    place(row), point)
    return series


def by_library(run, _):
    chart = Chart("libraries", "", "Barriers of several GPUs by library, GPUs and nodes", LINES,
                  "microseconds", SPREAD, columns=3, several=True, same_y=True, same_x=True)
    parts = [(part, found(run, part)) for part in PARTS]
    places = sorted({at for _, series in parts for points in series.values() for at in points})
    for part, series in parts:
        named = sorted(series, key=lambda name: (LIBRARIES.index(name.partition(",")[0]), name))
        chart.add(Panel(part.title, "GPUs (nodes x GPUs)", "microseconds", [
            Series(name, [series[name][at] for at in sorted(series[name])]) for name in named],
                        log_y=True, ticks=[text(*at) for at in places]), part.title)
    chart.notes += [
        "Processes: one for each GPU; else a thread for each. NVSHMEM and MPI know processes alone.",
        "All blocks: " + "; ".join(f"{library}: {method}" for library, method in OF_GRIDS.items())
        + ". All GPUs: " + "; ".join(f"{library}: {method}" for library, method in OF_GPUS.items())
        + f", of NCCL {EIGHT} bytes."]
    return chart
