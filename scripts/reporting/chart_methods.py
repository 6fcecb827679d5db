"""Charts of methods that the study's GPUs did not have, for report.py."""

from reporting.chart import HEAT, LINES, SPREAD, Chart, Panel, Series, points

CLUSTERS = ("2", "4", "8", "16")
BLOCKS = ("blocksync", "syncthreads_and", "mbarrier", "mbarrier_parity", "cuda_barrier")
OPERATIONS = ("add", "max", "exchange", "cas")
THREADS = (32, 64, 128, 256, 512, 1024)


def by_threads(run, section, method, **cells):
    """Points of a method by threads of a block."""
    return points(run, section, section.find_all(method=method, **cells),
                  lambda row: row.whole("thrd"), "m(ave_cycle)")


def block_barriers(run, _):
    chart = Chart("block_barriers", "", "Barriers of a whole block by its threads", LINES, "cycles",
                  SPREAD, wide=False)
    section = run.section("BenchmarkIntraSM", "block latency")
    series = [Series(method, by_threads(run, section, method)) for method in BLOCKS]
    group = run.section("BenchmarkIntraSM", "group latency")
    named = [row for row in group.find_all(method="named_barrier") if row["tile"] == row["thrd"]]
    series.append(Series("named_barrier", points(run, group, named, lambda row: row.whole("thrd"),
                                                 "m(ave_cycle)")))
    chart.add(Panel("", "threads per block", "cycles", series), "block latency")
    chart.notes.append("syncthreads_and returns whether all threads say yes.")
    return chart


def clusters(run, _):
    chart = Chart("clusters", "", "Barriers of a cluster by its blocks and their threads", HEAT,
                  "cycles", columns=3)
    section = run.section("BenchmarkIntraSM", "group latency")
    for method in ("cluster_sync", "cluster_relaxed", "cluster_split"):
        chart.add(Panel(method, "threads per block", "blocks", [
            Series(size, by_threads(run, section, method, tile=size)) for size in CLUSTERS],
                        ticks=THREADS), method)
    chart.notes.append("The darker, the longer. cluster_relaxed orders no memory; cluster_split has 64 float additions "
                       "between arriving and waiting, which are in it.")
    return chart


def atomics(run, _):
    chart = Chart("atomics", "", "Atomic operations: of a warp by operation (left), additions of a "
                  "block to one word in shared memory by its threads (right)", HEAT, "cycles",
                  columns=2)
    section = run.section("BenchmarkIntraSM", "warp latency")
    series = []
    for memory in ("shared", "global"):
        for words in ("1", "32"):
            found = [point for operation in OPERATIONS for point in points(
                run, section, section.find_all(method=f"{memory}_{operation}", tile=words,
                                               thrd="32"),
                lambda _, operation=operation: operation, "m(ave_cycle)")]
            series.append(Series(f"{memory}, {words} word" + "s" * (words != "1"), found))
    chart.add(Panel("32 threads", "operation", "", series, ticks=OPERATIONS),
              "operations of a warp")
    chart.add(Panel("shared_add", "threads per block", "",
                    [Series("shared, 1 word", by_threads(run, section, "shared_add", tile="1"))],
                    ticks=THREADS), "shared_add of blocks")
    chart.notes.append("The darker, the longer.")
    return chart


MAKERS = (block_barriers, clusters, atomics)
