"""End-to-end test: what is planted of sums comes back in the rows of Reduction.

usage: planted_sums_test.py FOLDER [NAME...]

FOLDER holds the simulated programs, NAMEs are tests. Expectations are made of what is planted
and of a row's labels by the study's equations, Eq. 1: concurrency C = T Thr; Eq. 2: the time for
N bytes is T + T_sync, and (N - C) / Thr more where N > C; Eq. 3: T_sync is what more threads take
longer for a value each; Eq. 4 and 5: where that of few and of many threads are equal.
"""
import itertools
import math
import sys

import planted
from reporting import switch_model  # from scripts/, which planted has put on the path
from planted import GREATEST, RUNS, RowChecks, of, operation, queue_end

BYTES = {"double": 8, "float": 4, "int": 4}
THREADS = 512  # of a block that sums an array
MOST_BLOCKS = 40  # on an SM, of partial sums
LABELS = {"method", "type", "rep", "thrd", "bytes", "basic", "more", "cost", "GPUcount", "n",
          "clock", "set"}


def slow(p, gpu):
    return p["slow_by"] if p["slow_gpu"] == gpu else 1


# A warp, and values in shared memory. By SM clocks, which count whole cycles.

def expect_warp(p, row):
    cycles = max(p[f"cycles.{row['method']}"], 1 / p[f"rate.{row['method']}"])
    return {"ave_cycle": (cycles * slow(p, 0), 1 / int(row["rep"])),
            "right": (1, 0)}


class Shared:
    """Sums in shared memory by so many threads."""

    def __init__(self, p, row, threads):
        self.value, self.threads = BYTES[row["type"]], threads
        self.latency = p["shared_latency"] * slow(p, 0)
        self.rate = min(threads * self.value / self.latency, p["shared_rate"] / slow(p, 0))
        self.sync = 0
        if threads > 1:
            self.sync += five(p, "tile_shufl", 32)
        if threads > 32:
            self.sync += five(p, "blocksync", threads)

    def sums(self, size):
        """Cycles until all threads have summed theirs (Eq. 2), without T_sync."""
        return self.latency + max(0, size - self.latency * self.rate) / self.rate

    def cycles(self, size):
        return self.sums(size) + self.sync


def five(p, method, threads):
    return 5 * operation(p, {"method": method, "blk": 1, "thrd": threads})


def expect_loop(p, row):
    threads, size = int(row["thrd"]), int(row["bytes"])
    sums, passes = Shared(p, row, threads), {1: 1, 32: 8, 1024: 64}[threads]
    cycles, concurrency = size / sums.rate, sums.latency * sums.rate
    off = 1 / passes / cycles
    return {"cycle": (cycles, 1 / passes), "bandwidth": (sums.rate, off * sums.rate),
            "latency": (sums.latency, off * sums.latency),
            "concurrency": (concurrency, 0.05 + 2 * off * concurrency)}


def expect_shared(p, row):
    return {"cycle": (Shared(p, row, int(row["thrd"])).cycles(int(row["bytes"])), 0.5)}


def crossing(few, many, least, most):
    """Where many(x) begins to be less than few(x), which it stays."""
    for _ in range(100):
        middle = (least + most) / 2
        least, most = (least, middle) if many(middle) < few(middle) else (middle, most)
    return least


def expect_switch(p, row):
    few, many = (Shared(p, row, int(row[column])) for column in ("basic", "more"))
    if row["cost"] == "barriers":
        method = "tile_shufl" if row["more"] == "32" else "blocksync"
        sync, off = five(p, method, int(row["more"])), 5 / 4
    else:
        sync = many.cycles(many.threads * many.value) - few.cycles(few.threads * few.value)
        off = 1
    sizes = [n * few.value for n in range(1, 65)] if few.threads == 1 else range(1024, 40961, 1024)
    faster = [size for size in sizes if many.cycles(size) < few.cycles(size)]
    return {"sync": (sync, off), "measured": (faster[0], 0) if faster else (None, None)}


def expect_prediction(p, row):
    """(case, its bytes, by how much they may be off)"""
    few, many = (Shared(p, row, int(row[column])) for column in ("basic", "more"))
    sync, off = expect_switch(p, row)["sync"]
    if many.rate <= few.rate:
        return "never", math.nan, 0
    # Where both sides of Eq. 2 meet: before many threads' concurrency or behind it.
    size = crossing(few.sums, lambda n: sync + many.sums(n), 0, 1e9)
    return ("Nm" if size <= many.latency * many.rate else "Nl"), size, 0.05 + 1.01 * off * size / sync


# Arrays. Times are of kernels one after the other: their gaps, an empty kernel, and reading.

class Array:
    """What each GPU sums."""

    def __init__(self, p, row):
        self.p, self.value = p, BYTES[row["type"]]
        self.gpus, self.size = int(row["GPUcount"]), float(row["bytes"])
        self.share = self.size / self.gpus
        # Two loads of 16 bytes a thread, up to what an SM holds at once.
        loads = self.share / p["sms"] / THREADS / 16
        self.at_once = max(1, min(loads // 2, p["threads_per_sm"] // THREADS))

    def kernel(self, size, cycles=0):
        return self.p["null"] + size / self.p["bandwidth"] + cycles / self.p["ghz"]

    def barrier(self, method):
        p = self.p
        return (p[f"cycles.{method}"] + p["warp_cycles"] * (THREADS / 32 - 1) +
                p["block_cycles"] * (self.at_once - 1) + p["gpu_cycles"] * (self.gpus - 1))

    def partials(self):
        """Nanoseconds to read the greatest number of partial sums that there can be."""
        return MOST_BLOCKS * self.p["sms"] * self.gpus * self.value / self.p["bandwidth"]


def expect_array(p, row):
    if row["method"] == "theory":  # two words a clock
        expected = dict.fromkeys(("inputs", "in_L2", "bytes", "right", "host", "s(GB/s)",
                                  "med(GB/s)", "ci95(GB/s)"), (None, None))
        return {**expected, "GB/s": (2 * p["memory_khz"] * p["bus_bits"] / 8e6, 0)}
    array = Array(p, row)
    kinds = {"programmatic": ("traditional", "programmatic"), "grid_sync": ("cooperative",),
             "read_limit": ("traditional",), "last_block": ("traditional",)}.get(
                 row["method"], ("traditional", "traditional"))
    lengths = [array.kernel(array.size, array.barrier("grid_sync") * (kinds[0] == "cooperative")),
               array.kernel(0)][:len(kinds)]
    lengths = [length * slow(p, 0) for length in lengths]
    calls = [p[f"call_{kind}"] if kind == "cooperative" else p["call_traditional"]
             for kind in kinds]
    gaps = [p[f"gap_{kind}"] for kind in kinds]
    off = array.partials() * slow(p, 0) * (len(kinds) > 1)
    on_gpu = sum(gaps) + sum(lengths) + off / 2
    rate = array.size / on_gpu

    def host(more=(0, 0)):
        """From the first call; CUB makes more calls before each launch."""
        called = [call + p["call"] * count for call, count in zip(calls, more)]
        end = queue_end(p, list(zip(called, gaps, lengths))) + p["notice"]
        return max(sum(called) + p["call_synchronize"], end) + p["clock_read"] + off / 2

    inputs = math.ceil(16 * p["l2_kib"] * 1024 / array.size)
    return {"GB/s": (rate, rate * (off / 2 + 0.01) / on_gpu),
            "host": (host(p["calls_of_cub"] if row["method"] == "cub" else (0, 0)) / 1e3,
                     (off / 2 + 1) / 1e3),
            "inputs": (inputs, 0), "in_L2": (int(inputs * array.size <= p["l2_kib"] * 1024), 0),
            "right": (None, None) if row["method"] == "read_limit" else (1, 0)}


def expect_node(p, row):
    """A thread a GPU; that of GPU 0 reads the clock where all start, the others are ahead."""
    array, gpus = Array(p, row), int(row["GPUcount"])
    factors = [slow(p, gpu) for gpu in range(gpus)]
    ahead = [p["clock_read"] * (gpu > 0) for gpu in range(gpus)]
    method, off, flight, notice = row["method"], 0, p["flight"], p["notice"]
    noise = 1 + p["noise"] * GREATEST[gpus]
    if method in ("peer_grid", "multi_grid"):
        # They start together, and wait for the last.
        together = gpus * p["call_multi_device"] if method == "multi_grid" else 0
        length = array.kernel(array.share, array.barrier(f"{method}_sync"))
        call = together or p["call_cooperative"]
        host = call + flight + max(factors) * noise * length + notice
        if together:  # one thread waits for all in turn
            host += p["call_synchronize"] * (gpus - 1)
    elif method == "implicit_multi":
        # Copies of what others have; then a kernel of GPU 0.
        off = 1.5 * array.partials()
        noise = 1 + p["noise"] * GREATEST[max(1, gpus - 1)]
        length = array.kernel(array.share) * noise
        call, copy = p["call_traditional"], p["call_copy"]
        met = max(call + flight + factor * length - early + copy * (gpu > 0)
                  for gpu, (factor, early) in enumerate(zip(factors, ahead))) + notice
        host = met + call + flight + factors[0] * array.kernel(0) + notice + off / 2
    else:
        # As `implicit` on each GPU, then NCCL's kernels, which start together.
        off = 1.5 * array.partials()
        gap, call = p["gap_traditional"], p["call_traditional"]
        length = array.kernel(array.share) * noise
        ends = [queue_end(p, [(call - early, gap, factor * length),
                              (call, gap, factor * array.kernel(0))])
                for factor, early in zip(factors, ahead)]
        host = max(ends) + gap + factors[0] * p["nccl"] + notice + off / 2
    host += p["clock_read"]
    rate, bound = array.size / host, 1 + off / 2
    return {"host": (host / 1e3, bound / 1e3), "GB/s": (rate, rate * bound / host),
            "in_L2": (int(array.share <= p["l2_kib"] * 1024), 0), "right": (1, 0)}


EXPECT = {
    "warp level": expect_warp, "shared memory": expect_loop, "sums in shared memory": expect_shared,
    "switching points": expect_switch, "one GPU": expect_array, "strong scaling": expect_node,
    "weak scaling": expect_node}
PLANTED = dict(memory_mib=24, l2_kib=256, memory_khz=3101000, bus_bits=5120, bandwidth=1500,
               gap_programmatic=430, event=1350, call_copy=5200, nccl=8700, shared_latency=27.5,
               shared_rate=101, **{"rate.blocksync": 3})


def plant(name, gpus, *arguments, **planted):
    RUNS[name] = ("Reduction", [gpus, "--stats", *arguments], dict(PLANTED, gpus=gpus, **planted))


TWO, LARGE = ("--samples", "2"), ("--max-bytes", "4M")
SMALL = ("--min-bytes", "64K", "--max-bytes", "1M")
plant("large", 4, *TWO, *LARGE)
plant("small", 2, *TWO, *SMALL)
plant("first is slow", 2, *TWO, *SMALL, slow_gpu=0, slow_by=1.5)
plant("last is slow", 4, *TWO, *LARGE, slow_gpu=3, slow_by=1.5)
plant("narrow", 1, *TWO, "--method", "switch_point,shared_loop,shared_sum", shared_rate=2)
SEEDS, NOISE = range(1, 4), 0.005
for seed in SEEDS:
    plant(f"noisy{seed}", 4, "--samples", "10", *LARGE, noise=NOISE, seed=seed, shared_latency=3000,
          **{f"cycles.{method}": 4000 for method in ("tile_shufl", "blocksync")})


class RowsOfSums(RowChecks):
    expect = EXPECT

    def check_row(self, p, row, expected, title):
        quantities = [f"{kind}({name})" for name in expected for kind in ("m", "s", "med", "ci95")]
        self.assertEqual(set(row) - {*expected, *quantities} - LABELS, set())
        super().check_row(p, row, expected, title)

    def check(self, name):
        run = of(name)
        self.assertEqual(run.code, 0, run.errors)
        run.planted["calls_of_cub"] = self.calls_of_cub(run)
        return self.check_rows(name)

    def calls_of_cub(self, run):
        """The same of all rows: how many calls CUB makes before each of its launches."""
        rows = [row for title, row in run.rows() if title == "one GPU" and row["method"] == "cub"]
        for calls in itertools.product(range(20), repeat=2):
            expected = [expect_array({**run.planted, "calls_of_cub": calls}, row)["host"]
                        for row in rows]
            if all(abs(float(row["m(host)"]) - value) < bound + planted.SHOWN
                   for row, (value, bound) in zip(rows, expected)):
                return calls
        raise self.failureException("no numbers of calls explain CUB's rows")


class Exact(RowsOfSums):
    """Without noise each number of each row is the planted one."""

    def test_arrays_in_steps_of_16_and_of_2(self):
        self.check("large")
        self.check("small")

    def test_a_slow_gpu(self):
        self.check("first is slow")
        self.check("last is slow")

    def test_more_threads_that_are_no_faster(self):
        self.check("narrow")

    def test_predictions(self):
        """Of the report, by its own formulas; every case of the model is there."""
        cases = set()
        for name in ("large", "narrow"):
            run = of(name)
            sections = {section.title: section for section in run.sections}
            for row in sections["switching points"].rows:
                case, size, off = expect_prediction(run.planted, row)
                found = switch_model.predicted(sections["shared memory"], row)
                self.assertEqual(found.case, case, row)
                if case != "never":
                    self.assertAlmostEqual(found.bytes, size, delta=off, msg=row)
                cases.add(case)
        self.assertEqual(cases, {"Nl", "Nm", "never"})


class Noisy(RowsOfSums):
    """95% intervals contain what is planted as often as they say."""

    def rows(self, *quantities):
        calls = self.calls_of_cub(of("large"))
        for seed, quantity in itertools.product(SEEDS, quantities):
            name = f"noisy{seed}"
            of(name).planted["calls_of_cub"] = calls
            yield from self.quantities(name, quantity, lambda _, row: row["method"] != "theory")

    def test_inside_an_sm(self):
        self.covered(row[:3] for row in self.rows("ave_cycle", "cycle"))

    def test_spread_of_sums_in_shared_memory(self):
        self.spread([(s, NOISE * value) for value, _, _, s, row in self.rows("cycle")
                     if row["method"] == "shared_sum"], 4)

    def test_costs_of_synchronization(self):
        # Barriers alone are the same for all types.
        self.covered(row[:3] for row in self.rows("sync")
                     if row[4]["cost"] == "steps" or row[4]["type"] == "double")

    def test_rates_of_arrays(self):
        self.covered(row[:3] for row in self.rows("GB/s"))

    def test_times_of_arrays_by_the_host(self):
        self.covered(row[:3] for row in self.rows("host"))


if __name__ == "__main__":
    sys.exit(planted.main(__doc__))
