"""Tables I to VII of the study for a run, for report.py."""

import itertools
import math

from parts import suite
from reporting.estimates import Estimate, Line, Quantity, Table, estimate_of, shape, source_of
from reporting.names import legend_of_words
from reporting.sheets import coded
from reporting.study import GPUS
from reporting.switch_model import predicted

SUMMED = "double"  # Tables III to V: Table V says so, and 8 bytes are taken in section VII-B
SCENERY = "Scenery 1 is one thread or a warp, 2 a warp or a block of 1024 threads."
# What the study calls methods.
LAUNCHES = {"traditional": "traditional_launch", "cooperative": "cooperative_launch",
            "cooperative multi-device": "multi_cooperative_launch"}
TYPES = {"tile": "tile_sync", "shuffle of a tile": "tile_shufl", "coalesced": "coales_sync",
         "shuffle of a coalesced group": "coales_shufl", "block": "blocksync"}
SUMS = {"volatile & tile": "volatile_tile", "coalesced": "coa", "tile shuffle": "tile_shuffle",
        "coalesced shuffle": "coa_shuffle", "grid sync": "grid_sync", "CUB": "cub"}
ARRAY = "float"  # Table VI: the study does not say of what
# Mean of a throughput -> the mean of its time, what both are.
THROUGHPUTS = {
    "thrput": ("ttl_latency",
               "the original's: of an SM's whole time, from its first warp in to its last one out"),
    "diff_thrput": ("diff_latency", "a difference of two lengths: start-up and skew cancel")}


def toolkits(run, program):
    """[(name of the toolkit, file)] of each build that has it."""
    return [(f"CUDA {run.toolkit(file) or 'unknown'}", file)
            for file in suite.files_of(program) if file in run.files]


def by_toolkit(builds, name, unit, study):
    """Quantities: of each build, and the study's."""
    return [*(Quantity(name, unit, "", True, toolkit) for toolkit, _ in builds),
            Quantity(name, unit, study, False)]


def table_1(run, study):
    table = Table("I", "Launch overhead and null kernel latency of different launch functions",
                  ["Launch", "Blocks x threads"],
                  [Quantity("Launch overhead", "ns", "overhead_ns"),
                   Quantity("Kernel total latency of a null kernel", "ns", "null_kernel_ns")],
                  ["V100"])
    sleep, null, alone = (run.section("ImplicitBarrier", title)
                          for title in ("sleep kernel", "null kernel", "one stream"))
    shapes = {"1 x 32": {"blk": "1", "thrd": "32"},
              shape(1, 1024): {"blk": str(run.sms), "thrd": "1024"}}

    def add(name, shown, method, row, **known):
        cells = {"method": method, "GPUCount": "1", **shapes[shown]}
        table.add(study, (name, shown), [
            estimate_of(row or sleep.find(**cells), "m(ovh)"),
            estimate_of(null.find(**cells, rep="1"), "m(ttl)")], **known)

    for launch, method in LAUNCHES.items():
        for shown in shapes:
            add(launch, shown, method, None, **({} if shown == "1 x 32" else {"launch": launch}))
    for shown, cells in shapes.items():
        fastest = min(alone.find_all(**cells), key=lambda row: float(row["m(ovh)"]), default=None)
        if fastest:
            add(f"fastest today: {fastest['method']}", shown, fastest["method"], fastest)
    table.legend = coded(legend_of_words(LAUNCHES))
    table.notes.append("Of one GPU. The study does not say the shape that it launched. "
                       "Kernels here spin on the SM's clock, those of the study sleep.")
    return table


def throughputs_in(*sections):
    """Those of THROUGHPUTS that have a number there; the original's where none has."""
    return [name for name in THROUGHPUTS if any(
        row.get(f"m({name})", "nan") != "nan" for section in sections for row in section.rows)] or [
            "thrput"]


def about_throughputs(names):
    """What the columns are, a sentence each."""
    return [f"Column m({name}) is {THROUGHPUTS[name][1]}." for name in names]


def highest_throughput(section, method, tile, name):
    """Of all shapes, as the study has it; but no difference that exceeds the hardware's limit."""
    column = f"m({name})"
    return estimate_of(max(
        (row for row in section.find_all(method=method, tile=tile)
         if row.get(column, "nan") != "nan" and (name == "thrput" or not row.said("above-limit"))),
        key=lambda row: float(row[column]), default=None), column, "")


# Type -> (group in the study, size here): that of the study's numbers first.
GROUPS = {"tile": (("any", "32"), ("any", "16")), "shuffle of a tile": (("any", "32"), ("any", "16")),
          "coalesced": (("1-31", "16"), ("32", "32")),
          "shuffle of a coalesced group": (("any", "32"), ("any", "16")), "block": (("a warp", "32"),)}


def table_2(run, study):
    builds = toolkits(run, "BenchmarkIntraSM")
    cycles = by_toolkit(builds, "Latency", "cycles", "latency_cycles")
    names = throughputs_in(*(run.section(file, "throughput") for _, file in builds))
    rates = [[Quantity(f"Throughput m({name})", "syncs/cycle", "", True, toolkit)
              for toolkit, _ in builds] for name in names]
    rates[0].append(Quantity("Throughput m(thrput)", "syncs/cycle", "throughput_sync_per_cycle",
                             measured=False))
    table = Table("II", "Performance of warp synchronization in a block", ["Type", "Group size"], [
        *cycles, *itertools.chain(*rates), Quantity(
            "Reference", "thread ops/cycle", "reference_thread_op_per_cycle", measured=False)],
                  GPUS, widths=(0.095, 0.11))

    def latency(file, name, size):
        section = run.section(file, "block latency" if name == "block" else "warp latency")
        cells = {"thrd": "32", **({} if name == "block" else {"tile": size})}
        return estimate_of(section.find(method=TYPES[name], **cells), "m(ave_cycle)")

    def rate(file, name, size, column):
        found = highest_throughput(run.section(file, "throughput"), TYPES[name], size, column)
        least = latency(file, name, size)
        if found and least and least.nothing:
            found.nothing = True  # the same instructions
        return found

    for name, sizes in GROUPS.items():
        for place, (group, size) in enumerate(sizes):
            estimates = [latency(file, name, size) for _, file in builds] + [None]
            for column in names:
                estimates += [rate(file, name, size, column) for _, file in builds]
                estimates += [None] * (column == names[0])
            known = place == 0 or group != sizes[0][0]
            table.add(study, (name, size), [*estimates, None],
                      **({"type": name, "group": group} if known else {}))
    table.legend = coded(legend_of_words(TYPES))
    table.notes += [
        "Throughput is the highest of all blocks per SM and threads per block, in operations of a "
        "warp per cycle and SM.",
        *about_throughputs(dict.fromkeys(("thrput", *names))),  # the study's numbers are of that
        "Where a cell says none, the toolkit compiles it to no instruction that waits. The study's numbers "
        "are of any group size, but for coalesced: 1 to 31 beside 16.",
        "The reference is what the study quotes from the programming guide. For compute capability "
        "9.0 the guide has 32 for shuffles, and nothing for barriers of a block."]
    return table


def relative(row):
    mean = float(row["m(cycle)"])
    return float(row["s(cycle)"]) / mean if mean else math.nan


def table_3(run, study):
    table = Table("III", "Projected concurrency of the configurations of section VII-B",
                  ["Scenery", "Threads"],
                  [Quantity("Bandwidth", "B/cycle", "bandwidth_B_per_cycle"),
                   Quantity("Latency", "cycles", "latency_cycles"),
                   Quantity("Concurrency", "B", "concurrency_B")], GPUS)
    section = run.section("Reduction", "shared memory")
    one = section.find(type=SUMMED, thrd="1")
    for scenery, threads in (("1", "1"), ("1", "32"), ("2", "32"), ("2", "1024")):
        row = section.find(type=SUMMED, thrd=threads)
        estimates = None
        if row and one:
            spreads = {"bandwidth": relative(row), "latency": relative(one),
                       "concurrency": math.hypot(relative(row), relative(one))}
            estimates = [Estimate(float(row[name]), float(row[name]) * spread, [source_of(row)])
                         for name, spread in spreads.items()]
        table.add(study, (scenery, threads), estimates, scenery=scenery, threads=threads)
    table.notes.append(f"Sums of double in shared memory. {SCENERY}")
    return table


def table_4(run, study):
    table = Table("IV", "Predicting the switching point between two configurations",
                  ["Scenery", "Threads", "Cost taken from"],
                  [Quantity("Sync latency", "cycles", "sync_cycles"),
                   Quantity("Nl", "B", "Nl_B"), Quantity("Nm", "B", "Nm_B")], GPUS)
    section = run.section("Reduction", "switching points")
    loops = run.section("Reduction", "shared memory")
    for scenery, basic, more in (("1", "1", "32"), ("2", "32", "1024")):
        for cost in ("barriers", "steps"):
            row = section.find(type=SUMMED, basic=basic, more=more, cost=cost)
            model = row and predicted(loops, row)
            estimates = row and [estimate_of(row, "m(sync)"), *[
                model and Estimate(size, math.nan, [source_of(row)])
                for size in (model or (None, None))[:2]]]
            cells = {"scenery": scenery, "basic": basic} if cost == "barriers" else {}
            table.add(study, (scenery, f"{more} instead of {basic}", cost), estimates, **cells)
            if row and cost == "barriers":
                found = row["measured"]
                table.notes.append(
                    f"Measured: {more} threads are faster than {basic} "
                    + ("nowhere." if found == "nan" else f"from {float(found):.0f} B on."))
    table.notes += [
        "Sums of double. The cost is taken from five barriers alone, as in the study, or from five "
        "steps of the tree in use.",
        f"{SCENERY} Up to Nl and Nm bytes the fewer threads are faster, by the study's Equation 5 "
        "(for more bytes than the concurrency of the more threads) and 4 (fewer)."]
    return table


def table_5(run, study):
    builds = toolkits(run, "Reduction")
    table = Table("V", "Latency to compute the sum of 32 values (double precision)", ["Sum"],
                  by_toolkit(builds, "Latency", "cycles", "latency_cycles"), GPUS)
    sections = [run.section(file, "warp level") for _, file in builds]
    for name in ("serial", "nosync", "volatile & tile", "tile", "coalesced", "tile shuffle",
                 "coalesced shuffle", "volatile", "warp_reduce"):
        table.add(study, (name,), [*(
            estimate_of(section.find(method=SUMS.get(name, name), type=SUMMED), "m(ave_cycle)")
            for section in sections), None], sum=name)
    table.legend = coded("In the rows, volatile & tile is `volatile_tile`, coalesced `coa`, tile "
                         "shuffle `tile_shuffle`, coalesced shuffle `coa_shuffle`.")
    table.notes.append("A sum marked ? is wrong. That of nosync is in the study, too. The sum of "
                       "volatile has no barrier.")
    return table


def table_6(run, study):
    table = Table("VI", "Bandwidth of different reduction methods", ["Sum"],
                  [Quantity("Bandwidth", "GB/s", "GB_per_s")], GPUS)
    section = run.section("Reduction", "one GPU")
    sizes = [row.whole("bytes") for row in section.find_all(type=ARRAY)]
    size = str(max(sizes, default=0))
    for name in ("implicit", "grid sync", "CUB", "CUDA sample", "theory", "programmatic",
                 "last_block",
                 "two_pass_tree", "read_limit"):
        row = section.find(method=SUMS.get(name, name), **(
            {} if name == "theory" else {"type": ARRAY, "bytes": size}))
        table.add(study, (name,), [estimate_of(row, "m(GB/s)")], sum=name)
    table.legend = coded("In the rows, grid sync is `grid_sync`, CUB `cub`.")
    if sizes:
        table.notes.append(f"Sums of {int(size) / 2 ** 30:g} GiB of {ARRAY}. The line theory is of "
                           "the memory's clock and width; the kernel read_limit reads and sums "
                           "nothing.")
    return table


def table_7(run, study):
    table = Table("VII", "Environment", ["Platform", "GPUs", "Frequency (MHz)", "Driver", "CUDA"])
    value = {key: run.environment.get(key, "–") for key in (
        "gpu", "gpu_count", "sm_clock_application", "driver", "cuda_toolkit")}
    others = run.environment.get("cuda_toolkit_before13")
    table.lines.append(Line((
        value["gpu"], value["gpu_count"], value["sm_clock_application"].replace(" MHz", ""),
        value["driver"], value["cuda_toolkit"] + (f", {others}" if others else ""))))
    for row in study.tables["VII"]:
        table.lines.append(Line((f"{row['platform']}, the study", row["gpus"],
                                 row["frequency_MHz"], row["driver"], row["cuda"])))
    return table


MAKERS = (table_1, table_2, table_3, table_4, table_5, table_6, table_7)
