"""What sections of the study say beside its Table VIII, judged by the rows of a run.

Each judge takes Evidence and gives (verdict, the study's numbers, those of the run).
"""

import math
import statistics

from parts.means import quantity_of, value_of
from reporting.estimates import shape
from reporting.evidence import NotMeasured, is_less
from reporting.study_tables import LAUNCHES, SUMMED, SUMS, highest_throughput

HOLDS, OVER, BROKEN, OPEN = "holds", "turned over", "broken", "open"
CPU, MULTI = "single_omp_traditional_launch", "multi_cooperative_launch"
TIMES_SLOWER = 3  # section VI-D
STEADY = 1.5  # this suite's choice: the slowest beside the fastest
HIDDEN = 1.1  # this suite's choice: beside what is left behind long kernels
LONGEST = 3  # workloads
ALIKE = 1.1  # this suite's choice: costs that differ by less share
FIGURE_9 = ((1, 32), (1, 1024), (32, 64))  # the shapes that it shows


def of_cases(cases):
    """Of comparisons: True as the study says, False the other way round, None neither."""
    agree, against = cases.count(True), cases.count(False)
    if agree == len(cases):
        return HOLDS
    return OVER if against > agree else BROKEN


def compared(less, more):
    """For of_cases(): whether one means.Value is less than the other."""
    return True if is_less(less, more) else False if is_less(more, less) else None


def us(value):
    return f"{value.mean / 1e3:.2f}"


def alike(*values):
    return max(values) <= ALIKE * min(values)


def launches_alike(rows):
    """The multi-device launch alone is dearer."""
    known = [rows.known("I", "overhead_ns", launch=launch) for launch in LAUNCHES]
    means = [rows.launch(method, 1).mean for method in LAUNCHES.values()]
    cases = [alike(*means[:2]) or None, means[2] > ALIKE * means[0] or None]
    return of_cases(cases), *(
        "cooperative {1:.2f}, multi-device {2:.2f} times the traditional {0:,.0f} ns".format(
            of[0], *(one / (of[0] or math.nan) for one in of[1:])) for of in (known, means))


def coalesced_shuffle(rows):
    """A group of a whole warp is no better than a smaller one."""
    known = rows.known("II", "latency_cycles", type="shuffle of a coalesced group")
    whole, half = (rows.in_a_warp("coales_shufl", tile).mean for tile in ("32", "16"))
    verdict = HOLDS if alike(whole, half) else OVER if whole < half else BROKEN
    return verdict, f"{known:g} cycles for every size", (
        f"{whole:.0f} cycles for 32 lanes, {half:.0f} for 16")


def throughput(rows, kind, method):
    """Whether it is near what the guide has; kind: the study's word for the method."""
    known, limit = (rows.known("II", column, type=kind) for column in (
        "throughput_sync_per_cycle", "reference_thread_op_per_cycle"))
    section = rows.run.section("BenchmarkIntraSM", "throughput")
    row = highest_throughput(section, method, "32", quantity_of(section))
    if row is None:
        raise NotMeasured(f"no throughput of {method}")
    return HOLDS if alike(32 * row.value, limit) else BROKEN, (
        f"{32 * known:.1f} of {limit:g} thread op/cycle"), f"{32 * row.value:.2f}"


def block_throughput(rows):
    return throughput(rows, "block", "blocksync")


def fewer_threads(rows):
    """A warp sums 32 doubles faster than a thread, but 1024 faster than 1024 threads do."""
    def cycles(threads, size):
        return rows.value("Reduction", "sums in shared memory", "cycle", type=SUMMED,
                          method="shared_sum", thrd=threads, bytes=size)

    small, large = ([cycles(threads, size) for threads in pair] for size, pair in (
        ("256", ("32", "1")), ("8192", ("32", "1024"))))
    known = [rows.known("IV", column, basic=basic) for column,
             basic in (("Nm_B", "1"), ("Nl_B", "32"))]
    return of_cases([compared(*small), compared(*large)]), (
        "switch at {:.0f} and {:,.0f} B".format(*known)), (
        "256 B: {:.0f} cycles beside {:.0f}; 8 KiB: {:,.0f} beside {:,.0f}".format(
            *(value.mean for value in (*small, *large))))


def sums_alike(rows, names, older=""):
    """names: of sums, as the study has them"""
    known = [rows.known("V", "latency_cycles", sum=name) for name in names]
    means = [rows.warp_sum(SUMS.get(name, name), older).mean for name in names]
    return HOLDS if alike(*means) else BROKEN, *(
        ", ".join(f"{value:g}" for value in of) + " cycles" for of in (known, means))


def barriers_alike(rows):
    return sums_alike(rows, ("volatile & tile", "tile", "coalesced"))


def sums_by_launches(rows, least=0):
    """Of arrays of so many bytes or more."""
    known = [rows.known("VI", "GB_per_s", sum=name) for name in ("implicit", "grid sync")]
    implicit, explicit = (rows.sums("Reduction", "one GPU", method, 1)
                          for method in ("implicit", "grid_sync"))
    sizes = [size for size in implicit.keys() & explicit.keys() if size >= least]
    if not sizes:
        raise NotMeasured("no sums by both")
    cases = [compared(explicit[size], implicit[size]) for size in sizes]
    rates = [implicit[size].mean / explicit[size].mean for size in sizes]
    times = f"{min(rates):.3f} to {max(rates):.3f} times the rate; " * (not least)
    return of_cases(cases), "{:g} beside {:g} GB/s".format(*known), (
        f"{times}faster at {cases.count(True)} of {len(sizes)} sizes, "
        f"slower at {cases.count(False)}")


def grid_beside_launch(rows):
    launch = rows.launch("traditional_launch", 1)
    section = rows.run.section("BenchmarkInterSM", "grid latency")
    found = section.find_all(method="grid_sync", GPUcount="1")
    smallest = rows.grid_sync(1, 32)
    cases = [compared(launch, value_of(row, "avginstru")) for row in found]
    known = rows.known("I", "overhead_ns", launch="traditional")
    verdict = OVER if is_less(smallest, launch) else of_cases(cases)
    return verdict, f"launch {known / 1e3:.2f} µs", (
        f"launch {us(launch)} µs, {shape(1, 32)} {us(smallest)} µs, barrier faster at "
        f"{cases.count(False)} of {len(cases)} shapes")


def judging(rows):
    """(file, method, GPUs) of the barriers that judge, for each number of GPUs."""
    return [(file, method, gpus) for file, method, most in rows.gpus() for gpus in range(2, most + 1)]


def gpus_beside_cpu(rows):
    cases, texts = [], []
    for which in judging(rows):
        cpu, own = rows.launch(CPU, which[2]), rows.barrier(*which)
        cases.append(None if own.mean > TIMES_SLOWER * cpu.mean else compared(cpu, own))
        texts.append(f"{which[2]}: {own.mean / cpu.mean:.2f}")
    return of_cases(cases), f"up to {TIMES_SLOWER} times as long", (
        f"barrier / CPU threads at {shape(1, 1024)}, by GPUs: {', '.join(texts)}")


def cpu_beside_launch(rows):
    if rows.run.gpus < 3:
        raise NotMeasured("it needs three GPUs")
    pairs = {gpus: (rows.launch(CPU, gpus), rows.launch(MULTI, gpus))
             for gpus in range(2, rows.run.gpus + 1)}
    return of_cases([compared(*pair) for gpus, pair in pairs.items() if gpus > 2]), (
        "faster from 3 GPUs on"), "CPU threads / launch in µs, by GPUs: " + ", ".join(
            f"{gpus}: {us(cpu)} / {us(launch)}" for gpus, (cpu, launch) in pairs.items())


def cpu_steady(rows):
    if rows.run.gpus < 2:
        raise NotMeasured("it needs two GPUs")
    values = [rows.launch(CPU, gpus) for gpus in range(1, rows.run.gpus + 1)]
    null = rows.value("ImplicitBarrier", "null kernel", "ttl", method="traditional_launch",
                      GPUCount="1", rep="1", thrd="1024")
    means = [value.mean for value in values]
    known = rows.known("I", "null_kernel_ns", launch="traditional")
    near = max(*means, null.mean) <= STEADY * min(*means, null.mean)
    return HOLDS if near else BROKEN, f"null kernel {known / 1e3:.2f} µs", (
        f"1 to {rows.run.gpus} GPUs {', '.join(map(us, values))} µs, null kernel {us(null)} µs")


def gpus_beside_launch(rows):
    cases, texts = [], []
    for which in judging(rows):
        launch = rows.launch(MULTI, which[2])
        values = [rows.barrier(*which, *of) for of in FIGURE_9]
        cases += [compared(value, launch) for value in values]
        texts.append(f"{which[2]}: " + ", ".join(
            f"{launch.mean / value.mean:.2f}" for value in values))
    shown = ", ".join(f"{blocks} x {threads}" for blocks, threads in FIGURE_9)
    return of_cases(cases), "more than 1 time as fast", (
        f"launch / barrier at {shown}, by GPUs: {'; '.join(texts)}")


def hides_from(rows, method, gpus):
    """ns of work from which on a launch adds no more than behind the longest works."""
    section = rows.run.section("ImplicitBarrier", "workload test")
    found = [row for row in section.find_all(method=method, GPUCount=str(gpus))
             if row["rep"] != "1"]
    if len(found) <= LONGEST:
        raise NotMeasured(f"no workload test of {method} on {gpus} GPUs")
    left = sorted((float(row["idea(wkld)"]), float(row["m(addl)"]) - float(row["idea(wkld)"]))
                  for row in found)
    most = HIDDEN * statistics.median(gap for _, gap in left[-LONGEST:])
    hidden = None
    for work, gap in reversed(left):
        if gap > most:
            break
        hidden = work
    if hidden is None:
        raise NotMeasured("the workload test ends too early")
    return hidden


def launch_hides(rows):
    found = [(1, 5, hides_from(rows, "traditional_launch", 1))]  # µs: section IX-B
    if rows.run.gpus > 1:
        found.append((rows.run.gpus, 250, hides_from(rows, MULTI, rows.run.gpus)))
    return of_cases([ns <= 1e3 * known or None for _, known, ns in found]), (
        "from 5 µs on with 1 GPU, 250 µs with 8"), ", ".join(
            f"from {ns / 1e3:g} µs on with {gpus}" for gpus, _, ns in found)


# Section, what it says, judge
CLAIMS = (
    ("IV", "A cooperative launch costs as much as a traditional one, a multi-device launch more",
     launches_alike),
    ("V-A", "A shuffle of a coalesced group costs the same for every size", coalesced_shuffle),
    ("V-B", "Block barriers reach about 16 thread op/cycle", block_throughput),
    ("V-C", "A grid barrier is slower than a launch, however small the grid", grid_beside_launch),
    ("VI-D", "The multi-grid barrier is up to 3 times slower than CPU threads", gpus_beside_cpu),
    ("VI-D", "CPU threads beat the multi-device launch above two GPUs", cpu_beside_launch),
    ("VI-D", "CPU threads cost about a null kernel's latency, whatever the GPU count", cpu_steady),
    ("VI-D", "The multi-grid barrier beats the multi-device launch", gpus_beside_launch),
    ("VII-B", "A warp sums 32 doubles faster than a thread, and 1024 faster than 1024 threads",
     fewer_threads),
    ("VII-C", "Sums with volatile, tile and coalesced barriers cost the same", barriers_alike),
    ("VII-D", "Sums by launches are faster than sums by the grid barrier", sums_by_launches),
    ("IX-B", "A launch is hidden behind a kernel of 5 µs, on 8 GPUs of 250 µs", launch_hides))
