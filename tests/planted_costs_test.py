"""End-to-end test: what is planted in the stand-in for GPUs comes back in the rows.

usage: planted_costs_test.py FOLDER [NAME...]

FOLDER holds the simulated programs, NAMEs are tests. Expectations are made of what is planted
and of a row's labels by the study's equations, Eq. 6: O = (L_ij - L_ji) / (i - j); Eq. 7:
T = (L1 - L2) / (r1 - r2); Eq. 8: s = sqrt(s1^2 + s2^2) / (r1 - r2).
"""
import math
import os
import re
import statistics
import subprocess
import sys
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import tsv  # noqa: E402

FOLDER = None
# As Scenario has them, but for what is planted here.
PLANTED = dict(
    gpus=1, sms=4, threads_per_sm=2048, blocks_per_sm=32, ghz=1.755, clock_read=31, call=310,
    call_synchronize=620, call_traditional=2100, call_cooperative=2345, call_multi_device=4100,
    gap_traditional=1010, gap_cooperative=1230, gap_multi_device=1520, flight=930, notice=710,
    null=640, tick=32, sleep_grid=1, fixed_cycles=43, warp_cycles=1.25, block_cycles=103.5,
    gpu_cycles=1007, skew_cycles=9, slow_gpu=-1, slow_by=1, noise=0)
# Means of the greatest of n numbers, normally distributed (Harter 1961).
GREATEST = {1: 0, 2: 0.5642, 3: 0.8463, 4: 1.0294, 5: 1.1630, 6: 1.2672, 7: 1.3522, 8: 1.4236}
STUDENT = {1: 12.7062, 2: 4.30265, 3: 3.18245, 4: 2.77645, 9: 2.26216}  # 97.5%
SHOWN = 0.0006  # half of the last digit of three decimals
SOME = ["--stats", "--samples", "2"]
FIGURES = dict(rows=0, runs=0)


class Done:
    """A run of a program with what was planted in it."""

    def __init__(self, program, arguments=(), env=(), cpus=None, **planted):
        self.program, self.planted = program, {**PLANTED, **costs_of_methods(), **planted}
        environment = dict(
            os.environ, OMP_WAIT_POLICY="passive", LD_LIBRARY_PATH=str(FOLDER), **dict(env),
            STAND_IN=" ".join(f"{key}={value}" for key, value in self.planted.items()))
        done = subprocess.run(
            [FOLDER / program, *map(str, arguments)], env=environment, timeout=200,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
            preexec_fn=cpus and (lambda: os.sched_setaffinity(0, cpus)))
        self.code, self.errors = done.returncode, done.stderr
        assert "stand-in:" not in done.stderr, (program, arguments, planted, done.stderr)
        assert not done.stdout or done.stdout.startswith("# simulated"), done.stdout[:200]
        self.text = done.stdout
        self.sections = tsv.parse(done.stdout.encode()) if "\nmethod\t" in done.stdout else []
        FIGURES["runs"] += 1

    def rows(self):
        for section in self.sections:
            for row in section.rows:
                yield section.title, row

    def says(self, pattern):
        """The comments in which this is found."""
        return [line for line in self.text.splitlines()
                if line.startswith("#") and re.search(pattern, line)]

    def warnings(self):
        return self.says("^# (warning|caution|skipped): ")


_METHODS = {}


def methods():
    """Of all in-kernel methods the scope and the longest line, as the programs say."""
    if not _METHODS:
        text = subprocess.run([FOLDER / "TestRepeat", "--machine-code", "90"], check=True,
                              stdout=subprocess.PIPE, encoding="utf-8").stdout
        for row in tsv.read_table(text.encode(), "machine code"):
            _METHODS.setdefault(row["method"], (row["scope"], int(row["in_line"])))
    return _METHODS


def costs_of_methods():
    """No two alike: a mix-up shows."""
    costs = {}
    for i, (method, (scope, _)) in enumerate(methods().items()):
        across = scope in ("grid", "gpus")
        costs[f"cycles.{method}"] = round(1500.7 + 211.3 * i if across else 17.2 + 3.37 * i, 2)
        costs[f"rate.{method}"] = round(0.2 + 0.013 * i, 3)
    return costs


def number(row, *columns):
    return next(int(row[column]) for column in columns if column in row)


# What is planted, of the in-kernel methods.

def resident(p, row):
    """Blocks of this size that an SM holds, and how many it gets."""
    per_sm = math.ceil(int(row["blk"]) / p["sms"])
    fit = min(p["blocks_per_sm"], p["threads_per_sm"] // int(row["thrd"]))
    return min(fit, per_sm), per_sm


def operation(p, row):
    """Cycles of an operation of a warp: its latency, or an SM's throughput where that is less."""
    method, warps = row["method"], math.ceil(int(row["thrd"]) / 32)
    scope = methods()[method][0]
    cycles, (at_once, per_sm) = p[f"cycles.{method}"], resident(p, row)
    gpus = number(row, "GPUcount") if "GPUcount" in row else 1
    if scope in ("block", "cluster", "grid", "gpus"):
        cycles += p["warp_cycles"] * (warps - 1)
    if scope in ("grid", "gpus"):
        cycles += p["block_cycles"] * (per_sm - 1) + p["gpu_cycles"] * (gpus - 1)
    else:
        cycles = max(cycles, at_once * warps / p[f"rate.{method}"])
    slow = p["slow_by"] if p["slow_gpu"] in range(gpus) else 1
    return cycles * slow * (1 + p["noise"] * GREATEST[gpus])


def queue_end(p, launches, call, gap, length):
    """When the last of so many kernels ends, all launched at once."""
    end = -math.inf
    for i in range(1, launches + 1):
        end = max(i * call + p["flight"], end + gap) + length
    return end


def kernel_ns(p, row, operations):
    """From before the first launch to after the end of the last: mean of those in a queue."""
    across = methods()[row["method"]][0] in ("grid", "gpus")
    kind = "cooperative" if across else "traditional"
    call, gap, count = p[f"call_{kind}"], p[f"gap_{kind}"], int(row.get("launches", 1))
    length = p["null"] + (operations * operation(p, row) + p["fixed_cycles"]) / p["ghz"]
    end = queue_end(p, count, call, gap, length) + p["notice"]
    return (max(count * call + p["call_synchronize"], end) + p["clock_read"]) / count


def expect_latency(p, row):
    # A clock counts whole cycles: each length is off by half of one.
    return {"ave_cycle": (operation(p, row), 1 / int(row["rep"]))}


def expect_throughput(p, row):
    warps = math.ceil(int(row["thrd"]) / 32)
    at_once, per_sm = resident(p, row)
    waves = math.ceil(per_sm / at_once)  # blocks that do not fit wait for others
    total = waves * int(row["rep"]) * operation(p, row)
    rate = per_sm * warps * int(row["rep"]) / total
    return {"ttl_latency": (total, 2), "thrput": (rate, 2 * rate / total + 1e-5)}


def expect_inter(p, row):
    launches, basic, more = (number(row, c) for c in ("launches", "basicrep", "moredrep"))
    return {"basic_ttl": (kernel_ns(p, row, basic), 1 / launches),
            "more_ttl": (kernel_ns(p, row, more), 1 / launches),
            "avginstru": (operation(p, row) / p["ghz"], 2 / launches / (more - basic)),
            "avginstr": (None, 2 / launches / (more - basic))}


def expect_repeats(p, row):
    total = p["fixed_cycles"] + int(row["rep"]) * operation(p, row)
    return {"cycle": (total, 0.5), "ave_cycle": (total / int(row["rep"]), 0.5 / int(row["rep"])),
            "ns": (kernel_ns(p, row, 3 * int(row["rep"])), 1)}


def expect_validation(p, row):
    # A read of the clock's rate is off by a cycle of 200 us.
    total = int(row["rep"]) * operation(p, row)
    bound = 2 * p["ghz"] + 3e-6 * total
    return {"cycle": (total, bound), "ns": (total / p["ghz"], bound),
            "ave_cycle": (total / int(row["rep"]), bound / int(row["rep"]))}


# What is planted, of launches.

class Launches:
    """The launches of a row: the host's pace, the gap, a kernel's length."""

    def __init__(self, p, row):
        self.p, self.gpus, self.method = p, number(row, "GPUCount"), row["method"]
        kind = {"cooperative_launch": "cooperative",
                "multi_cooperative_launch": "multi_device"}.get(self.method, "traditional")
        together = self.gpus if kind == "multi_device" else 1
        self.call, self.gap = p[f"call_{kind}"] * together, p[f"gap_{kind}"] * together
        # One call, or the threads at the end of a repeat, wait for the slowest.
        slowed = [p["slow_by"] if p["slow_gpu"] == gpu else 1 for gpu in range(self.gpus)]
        self.slowest = max(slowed) * (1 + p["noise"] * GREATEST[self.gpus])
        self.usual = sum(slowed) / self.gpus  # mean of the GPUs
        self.null = p["null"] * self.slowest
        # Thread 0 reads the clock where the threads start, the others go on.
        self.ahead = p["clock_read"] * (p["slow_gpu"] in range(1, self.gpus))
        self.waits = self.method == "single_omp_traditional_launch"
        # Of a launch beyond its kernel's work.
        self.overhead = self.null + (self.call + p["flight"] + p["notice"] if self.waits
                                     else self.gap)

    def wait(self, now, end):
        """When the wait ends that begins now, for kernels that end at `end`."""
        p, seen = self.p, end + self.p["notice"]
        if self.method != "multi_cooperative_launch":
            return max(now + p["call_synchronize"], seen)
        for _ in range(self.gpus):
            now = max(now + p["call"] + p["call_synchronize"], seen)
        return now + p["call"]

    def series(self, count, work):
        """Until the last call has returned, and until all is over."""
        p, length = self.p, self.null + work * self.slowest
        launched = count * self.call + p["clock_read"]
        if not self.waits:
            end = queue_end(p, count, self.call, self.gap, length)
            return launched, self.wait(launched, end) + p["clock_read"]
        each = self.wait(self.call, self.call + p["flight"] + length)
        last = self.wait(launched - (count - 1) * self.call,
                         self.call + p["flight"] + length)
        before = (count - 1) * each - self.ahead * (count > 1)
        return (before + self.call + p["clock_read"],
                before + last + p["clock_read"] - self.ahead * (count == 1))


def expect_launches(p, row):
    launches, rep = Launches(p, row), int(row["rep"])
    work = int(row.get("idea(wkld)", 0))
    off = 1 + 3e-6 * rep * work + rep / p["ghz"] * (work > 0)  # spins are of whole cycles
    launched, total = launches.series(rep, work)
    one = launches.series(1, work)[1]
    idle = launches.wait(0, -math.inf) + p["clock_read"]
    expected = {"clk": (p["clock_read"], 1), "sync": (idle, 1),
                "laun": (launched, off), "ttl": (total, off), "avelaun": (launched / rep, off / rep),
                "addl": (None, None)}
    if rep > 1:  # Eq. 6 of rep launches and one
        expected["addl"] = ((total - one) / (rep - 1), 2 * off / (rep - 1))
    return expected


def expect_fusion(p, row, sleeps=False):
    launches, rep, work = Launches(p, row), int(row["rep"]), int(row["idea(wkld)"])
    unit = work / 1000 * slept(p, 1000) if sleeps else work
    unit *= launches.slowest
    return {"wkld": (unit, 2 / (rep - 1) + 3e-6 * unit + 1 / p["ghz"]),
            "ovh": (launches.overhead, 4 / (rep - 1))}


def expect_held(p, row):
    launches, rep, work = Launches(p, row), int(row["rep"]), int(row["idea(wkld)"])
    apart = launches.slowest - launches.usual  # who is done waits for the others
    clocks = 4 / (rep - 1) + 1e-3
    expected = {"cpu": (launches.overhead, clocks),
                "timer": (launches.overhead, p["tick"] / rep + clocks), "gap": (None, None)}
    if work:
        expected["timer"] = (launches.overhead + apart * work,
                             3 * p["tick"] / (rep - 1) + clocks + 1e-5 * work * (apart > 0))
        expected["gap"] = (launches.gap + apart * (work + p["null"]), p["tick"] + 1 + 3e-6 * work)
    return expected


def slept(p, asked):
    return 2 ** math.ceil(math.log2(asked)) if p["sleep_grid"] else asked


def expect_grid(p, row):
    taken = slept(p, int(row["idea(wkld)"]))
    return {"wkld": (taken, 0.2 + 3e-6 * taken)}


EXPECT = {
    "ImplicitBarrier": {
        "null kernel": expect_launches, "sleep kernel": expect_fusion,
        "workload test": expect_launches, "held queue": expect_held, "sleep grid": expect_grid,
        "sleep instruction": lambda p, row: expect_fusion(p, row, True)},
    "BenchmarkIntraSM": {
        "block latency": expect_latency, "warp latency": expect_latency,
        "group latency": expect_latency, "throughput": expect_throughput},
    "BenchmarkInterSM": {"grid latency": expect_inter, "multi-GPU latency": expect_inter},
    "TestRepeat": {"repeats": expect_repeats, "method validation": expect_validation}}


# Runs, each once, several at a time.

RUNS = {
    "implicit1": ("ImplicitBarrier", ["1", "--processes", "2", *SOME]),
    "implicit2": ("ImplicitBarrier", ["2", "--processes", "2", *SOME], dict(gpus=2)),
    "implicit8": ("ImplicitBarrier", ["8", "--processes", "1", "--stats", "--samples", "1"],
                  dict(gpus=8, sms=2)),
    "free_sleeps": ("ImplicitBarrier", ["1", "--processes", "1", *SOME],
                    dict(sleep_grid=0, tick=1)),
    "intra": ("BenchmarkIntraSM", SOME, dict(sms=16)),
    "inter1": ("BenchmarkInterSM", ["1", *SOME]),
    "inter2": ("BenchmarkInterSM", ["2", *SOME], dict(gpus=2)),
    "inter8": ("BenchmarkInterSM", ["8", "--blocks-per-sm", "1,2", "--stats", "--samples", "5"],
               dict(gpus=8, sms=2)),
    "repeat": ("TestRepeat", SOME, dict(sms=16)),
    "slow_implicit": ("ImplicitBarrier", ["2", "--processes", "1", *SOME],
                      dict(gpus=2, slow_gpu=1, slow_by=1.5)),
    "slow_inter": ("BenchmarkInterSM", ["2", *SOME], dict(gpus=2, slow_gpu=1, slow_by=1.5)),
    "halved_intra": ("BenchmarkIntraSM", SOME, dict(sms=16, halve_at=2)),
    "halved_inter": ("BenchmarkInterSM", ["1", *SOME], dict(halve_at=0.8)),
    "streams": ("ImplicitBarrier", ["1", "--processes", "10", "--stats", "--method",
                                    "traditional_launch"], dict(stream_level=0.05)),
    "processes": ("ImplicitBarrier", ["1", "--processes", "5", *SOME, "--method",
                                      "traditional_launch"], dict(process_level=0.05)),
    "noisy_intra": ("BenchmarkIntraSM", ["--stats", "--samples", "12"],
                    dict(sms=16, noise=0.004, fixed_cycles=0, skew_cycles=0)),
    "noisy_inter": ("BenchmarkInterSM", ["2", "--stats", "--samples", "10"],
                    dict(gpus=2, noise=0.01)),
    "drift": ("BenchmarkInterSM", ["1", "--stats", "--samples", "20"], dict(drift=0.005)),
    # Causes of warnings.
    "clamped_implicit": ("ImplicitBarrier", ["--processes", "1", *SOME]),
    "clamped_inter": ("BenchmarkInterSM", SOME),
    "very_noisy": ("BenchmarkIntraSM", SOME, dict(sms=16, noise=0.05)),
    "noisy_row": ("BenchmarkIntraSM", ["--stats", "--samples", "8", "--method",
                                       "blocksync,tile_shufl"],
                  dict(noise=0.007, noise_threads=512)),
    "even_noise": ("BenchmarkIntraSM", ["--stats", "--samples", "100", "--method", "blocksync"],
                   dict(noise=0.006)),
    "wide": ("ImplicitBarrier", ["1", "--processes", "3", *SOME], dict(noise=0.05)),
    "others": ("BenchmarkInterSM", ["2", *SOME, "--method", "grid_sync"], dict(gpus=2, others=3)),
    "one_cpu": ("BenchmarkInterSM", ["2", *SOME, "--method", "grid_sync"], dict(gpus=2), (),
                {min(os.sched_getaffinity(0))}),
    "blocking_implicit": ("ImplicitBarrier", ["1", "--processes", "1", *SOME], {},
                          {"CUDA_LAUNCH_BLOCKING": "1"}),
    "blocking_inter": ("BenchmarkInterSM", ["2", *SOME], dict(gpus=2),
                       {"CUDA_LAUNCH_BLOCKING": "1"}),
    "not_blocking": ("BenchmarkInterSM", ["2", *SOME, "--method", "peer_grid_sync"],
                     dict(gpus=2), {"CUDA_LAUNCH_BLOCKING": "0"}),
    "slow_host": ("ImplicitBarrier", ["1", "--processes", "1", *SOME],
                  dict(call_traditional=12000)),
    "watched": ("ImplicitBarrier", ["1", "--processes", "1", *SOME], dict(call_traditional=2e5)),
    "held_longer": ("ImplicitBarrier", ["1", "--processes", "1", *SOME], dict(held_gap=1.2)),
    "hold_expires": ("ImplicitBarrier", ["1", "--processes", "1", *SOME],
                     dict(call_multi_device=1e7)),
    "no_multi_device": ("ImplicitBarrier", ["1", "--processes", "1", *SOME],
                        dict(multi_device=0)),
    "not_cooperative_implicit": ("ImplicitBarrier", ["1", "--processes", "1", *SOME],
                                 dict(cooperative=0)),
    "not_cooperative_inter": ("BenchmarkInterSM", ["1", *SOME], dict(cooperative=0)),
    "not_cooperative_repeat": ("TestRepeat", SOME, dict(sms=16, cooperative=0)),
    "no_peers": ("BenchmarkInterSM", ["2", *SOME], dict(gpus=2, peer="none")),
    "free": ("BenchmarkIntraSM", SOME, {"sms": 16, "cycles.tile_sync": 2, "rate.tile_sync": 99,
                                        "cycles.blocksync": 3.4, "rate.blocksync": 99,
                                        "cycles.tile_shufl": 3.6, "warp_cycles": 0}),
    "free_repeat": ("TestRepeat", SOME, {"sms": 16, "cycles.tile_sync": 2, "rate.tile_sync": 99}),
    "cold_lines": ("BenchmarkIntraSM", [*SOME, "--method", "syncthreads_or,tile_shufl"],
                   dict(cached_line=128, uncached_cycles=5)),
    "few_sms": ("BenchmarkIntraSM", SOME, dict(sms=7)),
    "few_sms_repeat": ("TestRepeat", SOME, dict(sms=7)),
    "small_sms_repeat": ("TestRepeat", SOME, dict(sms=16, threads_per_sm=1024)),
    "old": ("BenchmarkIntraSM", SOME, dict(sms=16, capability=70, code=70)),
    "old_repeat": ("TestRepeat", SOME, dict(sms=16, capability=80, code=80)),
    "very_old": ("BenchmarkInterSM", ["1", *SOME], dict(capability=61, code=61)),
    "wrong": ("TestRepeat", [*SOME, "--method", "in_use_none"], dict(bad="results")),
    "named_inter": ("BenchmarkInterSM", ["1", *SOME, "--method", "grid_sync"])}
# Of processes that draw levels, of noisy hosts, of noisy kernels.
SEEDS, HOSTS, NOISES = range(1, 13), range(1, 9), range(1, 5)
for seed in NOISES:
    RUNS[f"outliers{seed}"] = ("BenchmarkInterSM", [
        "1", "--stats", "--samples", "9", "--blocks-per-sm", "1,2,4,8,16",
        "--method", "grid_sync,peer_grid_sync"], dict(outliers=0.001, seed=seed))
    RUNS[f"noisy_implicit{seed}"] = ("ImplicitBarrier", ["1", "--processes", "4", *SOME],
                                     dict(noise=0.002, seed=seed))
for seed in HOSTS:
    RUNS[f"host{seed}"] = ("ImplicitBarrier", ["1", "--processes", "3", *SOME, "--method",
                                               "traditional_launch,cooperative_launch"],
                           dict(host_noise=0.05, seed=seed))
for seed in SEEDS:
    RUNS[f"drawn{seed}"] = ("ImplicitBarrier", ["1", "--processes", "4", *SOME],
                            dict(process_spread=0.1, noise=0.0005, seed=seed, sms=3,
                                 call_traditional=300, call_cooperative=300,
                                 call_multi_device=300))
FUTURES, POOL = {}, ThreadPoolExecutor(max(2, os.cpu_count() or 2))


def of(name):
    if name not in FUTURES:
        start(name)
    return FUTURES[name].result()


def start(name):
    more = RUNS[name][2:]
    planted, env, cpus = (*more, *({}, (), None)[len(more):])
    FUTURES[name] = POOL.submit(Done, *RUNS[name][:2], env, cpus, **planted)


def within(tails, count, part):
    """Bounds of how many of `count` have what each has with this chance, but for 2 * tails."""
    def chance(k):
        return math.exp(math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1) +
                        k * math.log(part) + (count - k) * math.log(1 - part))
    low, total = 0, chance(0)
    while total < tails:
        low += 1
        total += chance(low)
    high, total = count, chance(count)
    while total < tails:
        high -= 1
        total += chance(high)
    return low, high


class RowChecks(unittest.TestCase):
    def check(self, name, seen=lambda title, row: True, columns=None):
        run = of(name)
        self.assertEqual(run.code, 0, run.errors)
        p = run.planted
        self.assertEqual([section.title for section in run.sections],
                         [title for title in EXPECT[run.program]
                          if title != "multi-GPU latency" or run.sections[-1].title == title])
        for title, row in run.rows():
            if seen(title, row):
                self.check_row(p, row, EXPECT[run.program][title](p, row), title)
                FIGURES["rows"] += 1
        return run

    def check_row(self, p, row, expected, title):
        for column, cell in row.items():
            quantity = re.fullmatch(r"(m|s|med|ci95)\((.*)\)", column)
            if column == "clock":
                self.assertAlmostEqual(float(cell), 1e3 * p["ghz"], delta=0.06, msg=row)
            if not quantity or column == "idea(wkld)":
                continue
            value, bound = expected[quantity[2]]
            if bound is None:
                self.assertEqual(cell, "nan", (title, row))
            elif quantity[1] in ("m", "med"):
                self.assertAlmostEqual(float(cell), value, delta=bound + SHOWN,
                                       msg=(title, column, row))
            elif row.get("n", "1") == "1":
                self.assertEqual(cell, "nan" if quantity[1] == "s" or
                                 row["processes"] == "1" else "0.000", (title, column, row))
            elif column != "ci95(gap)":
                # Samples within `bound` of the mean; t of one degree of freedom.
                most = {"s": 1.5, "ci95": 13}[quantity[1]] * bound
                self.assertLessEqual(float(cell), most + SHOWN, (title, column, row))


class Exact(RowChecks):
    """Without noise each number of each row is the planted one."""

    def test_launches_on_1_2_and_8_gpus(self):
        for name in ("implicit1", "implicit2", "implicit8", "free_sleeps", "slow_implicit"):
            self.check(name)

    def test_inside_an_sm(self):
        self.check("intra")
        self.check("repeat")

    def test_across_sms_and_1_2_and_8_gpus(self):
        for name in ("inter1", "inter2", "inter8", "slow_inter"):
            run = self.check(name)
            counts = {int(row["GPUcount"]) for _, row in run.rows()}
            self.assertEqual(counts, set(range(1, run.planted["gpus"] + 1)))

    def test_every_method_has_rows_and_no_two_cost_the_same(self):
        measured = {row["method"] for name in ("intra", "inter2", "repeat")
                    for _, row in of(name).rows()}
        self.assertEqual(measured, set(methods()))
        costs = list(costs_of_methods().values())
        self.assertEqual(len(set(costs)), len(costs))

    def test_samples_and_processes_are_counted(self):
        for name, n, processes in (("implicit2", 4, 2), ("intra", 2, None), ("inter1", 2, 1),
                                   ("streams", 30, 10), ("repeat", 2, None)):
            for title, row in of(name).rows():
                if title == "multi-GPU latency":  # from several places
                    continue
                self.assertEqual(int(row["n"]), 5 if title == "throughput" and n > 5 else n, row)
                if processes:
                    self.assertEqual(int(row["processes"]), processes, row)


class Disturbed(RowChecks):
    """The rows say what is there under disturbance, and how sure that is."""

    def test_a_clock_that_halves(self):
        # Cycles are cycles whatever the clock.
        run = of("halved_intra")
        clocks = []
        for title, row in run.rows():
            clocks.append(float(row.pop("clock")))
            self.check_row(run.planted, row, EXPECT[run.program][title](run.planted, row), title)
        self.assertEqual(set(clocks), {1755, 877.5})
        self.assertEqual(clocks, sorted(clocks, reverse=True))
        # Nanoseconds double, but for the row in which it happens.
        run, mixed, clocks = of("halved_inter"), 0, set()
        for title, row in run.rows():
            clocks.add(float(row["clock"]))
            p = dict(run.planted, ghz=float(row["clock"]) / 1e3)
            value, bound = EXPECT[run.program][title](p, row)["avginstru"]
            mixed += abs(float(row["m(avginstru)"]) - value) > bound + SHOWN
        self.assertEqual(clocks, {1755, 877.5})
        self.assertLessEqual(mixed, 1)

    def levels(self, name):
        """(row, levels of its processes' samples) of kernel fusion."""
        run = of(name)
        self.assertEqual(run.code, 0, run.errors)
        section, = (s for s in run.sections if s.title == "sleep kernel")
        p, count, samples = run.planted, int(section.rows[0]["processes"]), 0
        samples = int(section.rows[0]["n"]) // count
        levels = [[(1 + p.get("process_level", 0) * process) *
                   (1 + p.get("stream_level", 0) * ((process * samples + i) % 10))
                   for i in range(samples)] for process in range(count)]
        return section.rows, [[p["null"] + p["gap_traditional"] * level for level in each]
                              for each in levels]

    def test_levels_of_streams_and_processes(self):
        for name in ("streams", "processes"):
            rows, processes = self.levels(name)
            every = [value for each in processes for value in each]
            means = [statistics.mean(each) for each in processes]
            sure = STUDENT[len(means) - 1] * statistics.stdev(means) / math.sqrt(len(means))
            for row in rows:
                for column, value in (("m(ovh)", statistics.mean(every)),
                                      ("s(ovh)", statistics.stdev(every)),
                                      ("med(ovh)", statistics.median(every)),
                                      ("ci95(ovh)", sure)):
                    self.assertAlmostEqual(float(row[column]), value, delta=0.05, msg=(name, row))
                FIGURES["rows"] += 1

    def covered(self, rows, part=0.95):
        """rows: (planted, mean, half width). As many intervals contain it as should."""
        rows = list(rows)
        inside = sum(abs(mean - planted) <= width for planted, mean, width in rows)
        low, high = within(1e-4, len(rows), part)
        FIGURES[self.id().split(".")[-1]] = f"{inside} of {len(rows)} intervals ({low} to {high})"
        self.assertTrue(low <= inside <= high, (inside, len(rows), low, high))

    def quantities(self, name, quantity, wanted=lambda title, row: True):
        """(planted, m, ci95, s, row) of all rows that are wanted and have it."""
        run = of(name)
        self.assertEqual(run.code, 0, run.errors)
        for title, row in run.rows():
            if f"m({quantity})" not in row or not wanted(title, row):
                continue
            value, bound = EXPECT[run.program][title](run.planted, row)[quantity]
            if value is not None and row[f"ci95({quantity})"] != "nan":
                FIGURES["rows"] += 1
                s = row.get(f"s({quantity})", row.get(f"s({quantity[:-1]})", "nan"))
                yield (value, float(row[f"m({quantity})"]), float(row[f"ci95({quantity})"]),
                       float(s), row)

    def spread(self, pairs, freedom):
        """pairs: (s as it is in the row, planted). Eq. 8 with n - 1: the mean of the squares of
        their ratios is 1, within five times its own error; each has so many degrees of freedom."""
        ratios = [(found / planted) ** 2 for found, planted in pairs]
        error = math.sqrt(2 / freedom / len(ratios))
        FIGURES[self.id().split(".")[-1] + ", s"] = f"{statistics.mean(ratios):.3f} +- {error:.3f}"
        self.assertAlmostEqual(statistics.mean(ratios), 1, delta=5 * error)

    def test_noise_inside_an_sm(self):
        rows = [*self.quantities("noisy_intra", "ave_cycle")]
        self.covered(row[:3] for row in rows)
        # Lengths r and 2 r: sqrt(1 + 4). Welch: 25 / (1 + 16) times n - 1 are free.
        self.spread([(s, 0.004 * math.sqrt(5) * value) for value, _, _, s, _ in rows],
                    25 / 17 * 11)

    def test_noise_in_throughput(self):
        self.covered(row[:3] for row in self.quantities("noisy_intra", "ttl_latency"))

    def test_noise_across_sms(self):
        rows = [*self.quantities("noisy_inter", "avginstru")]
        self.covered(row[:3] for row in rows)
        alone = [row for row in rows if row[4]["method"].endswith("semaphore")]
        self.spread([(s, 0.01 * value * math.hypot(32, 288) / 256)
                     for value, _, _, s, row in alone], 9)

    def test_noise_of_launches(self):
        rows, pairs = [], []
        for name in (f"noisy_implicit{seed}" for seed in NOISES):
            fusion = [*self.quantities(name, "ovh")]
            rows += fusion
            rows += self.quantities(name, "cpu", lambda _, row: row["idea(wkld)"] != "0")
            rows += self.quantities(name, "addl", lambda _, row:
                                    int(row.get("idea(wkld)", 0)) >= 16000)
            # All of the unit in one kernel, against as many kernels of a unit.
            for _, _, _, s, row in fusion:
                rep, unit = int(row["rep"]), float(row["m(wkld)"])
                pairs.append((s, 0.002 * math.hypot(
                    PLANTED["null"] + rep * unit,
                    math.sqrt(rep) * (PLANTED["null"] + unit)) / (rep - 1)))
        self.covered(row[:3] for row in rows)
        self.spread(pairs, 7)

    def test_processes_that_draw_levels(self):
        # Samples of one process are alike: an interval of all of them is too narrow.
        rows, narrow = [], 0
        for seed in SEEDS:
            for value, mean, width, s, row in [
                    *self.quantities(f"drawn{seed}", "ovh"),
                    *self.quantities(f"drawn{seed}", "addl", lambda t, _: t == "null kernel")]:
                if "omp" in row["method"]:
                    continue  # it has no gaps
                rows.append((value, mean, width))
                narrow += abs(mean - value) > STUDENT[9] * s / math.sqrt(int(row["n"]))
        self.covered(rows)
        self.assertGreater(narrow, 0.07 * len(rows))

    def test_noise_of_the_host(self):
        # Null kernels end sooner than the host launches them.
        rows = [found for seed in HOSTS for found in self.quantities(
            f"host{seed}", "addl", lambda _, row: row.get("idea(wkld)", "0") == "0")]
        self.covered(row[:3] for row in rows)
        # Calls are evenly spread: their standard deviation is the greatest by sqrt(3).
        self.spread([(s, 0.05 / math.sqrt(3) * Launches(PLANTED, row).call * math.sqrt(129) / 127)
                     for _, _, _, s, row in rows], 5)

    def test_drift_meets_both_lengths(self):
        # How late a length was sampled, in the mean: its total says so.
        run = of("drift")
        before = 0
        for title, row in run.rows():
            p, drift = run.planted, run.planted["drift"]
            expected = EXPECT[run.program][title](p, row)
            times = []
            for reps, quantity in (("basicrep", "basic_ttl"), ("moredrep", "more_ttl")):
                grows = int(row[reps]) * operation(p, row) / p["ghz"]
                times.append((float(row[f"m({quantity})"]) - expected[quantity][0]) / grows / drift)
            pair = int(row["launches"]) * (float(row["m(basic_ttl)"]) +
                                           float(row["m(more_ttl)"])) / 1e9
            self.assertLess(abs(times[1] - times[0]), pair, row)
            self.assertGreater(times[1], before, row)
            planted = expected["avginstru"][0] * (1 + drift * times[1])
            self.assertAlmostEqual(float(row["m(avginstru)"]) / planted, 1, delta=drift * pair)
            before = times[1]
            FIGURES["rows"] += 1

    def test_outliers(self):
        # None is dropped: totals grow by what outliers take in the mean. Medians do not.
        rows, more, launches = [], 0, 0
        for seed in NOISES:
            for value, mean, width, _, row in self.quantities(f"outliers{seed}", "avginstru"):
                rows.append((value, mean, width, float(row["med(avginstru)"])))
                for quantity in ("basic_ttl", "more_ttl"):
                    planted = expect_inter({**PLANTED, **costs_of_methods()}, row)[quantity][0]
                    count = int(row["launches"]) * int(row["n"])
                    more += count * (float(row[f"m({quantity})"]) - planted)
                    launches += count
        FIGURES["test_outliers"] = f"{more / launches:.0f} of {0.001 * 1e5:.0f} ns a launch"
        self.assertAlmostEqual(more / launches, 0.001 * 1e5,
                               delta=3e5 * math.sqrt(0.001 / launches))
        off = statistics.mean(abs(median - value) for value, _, _, median in rows)
        apart = statistics.mean(abs(mean - value) for value, mean, *_ in rows)
        self.assertLess(off, 0.25 * apart)
        # They are rare and far away, unlike what Student's t is for.
        inside = sum(abs(mean - value) <= width + 0.01 for value, mean, width, _ in rows)
        FIGURES["test_outliers, intervals"] = f"{inside} of {len(rows)}"
        self.assertGreaterEqual(inside, 0.9 * len(rows))


# Of every text of the sources that says what to know of rows or why there are none: the
# cases that plant its cause (a regular expression of the comment; runs that have it; runs that
# do not), or why none can.
STILL = ("implicit1", "implicit2", "free_sleeps", "intra", "inter1", "inter2", "repeat")
_NEEDS_CUDA_12 = "only builds with CUDA 11 or 12 have such a method"
TEXTS = {
    "the default is  GPUs but this node has ; measuring with that":
        ("warning: the default is 2 GPUs but this node has 1; measuring",
         ["clamped_implicit", "clamped_inter"], STILL),
    "the SM clock moved from  to  MHz; cycles and nanoseconds near this line do not compare":
        ("warning: .*the SM clock moved from 1755 to 878 MHz", ["halved_intra", "halved_inter"],
         STILL),
    "the 95% interval of the row above is % of its mean":
        (r"warning: the 95% interval of the row above is \d+% of its mean", ["wide"],
         [*STILL, "noisy_implicit1"]),
    ": the spread of this row is % of the mean, more than 2%, that of its neighbours %":
        (r"warning: .*: the spread of this row is [\d.]+% of the mean", ["very_noisy", "noisy_row"],
         [*STILL, "even_noise"]),
    "GPU  is used by  other process(es); the rows from here on contain its work":
        (r"warning: GPU 1 is used by 3 other process\(es\)", ["others"], STILL),
    "fewer CPUs than GPUs are allowed; threads of several GPUs share one, which slows what is "
    "CPU-side":
        ("warning: fewer CPUs than GPUs", ["one_cpu"], ["inter1", *(
            ["inter2"] if len(os.sched_getaffinity(0)) > 1 else [])]),
    "CUDA_LAUNCH_BLOCKING is set: every launch waits for its kernel, and the rows are those of "
    "that":
        ("warning: CUDA_LAUNCH_BLOCKING is set", ["blocking_implicit", "blocking_inter"],
         [*STILL, "not_blocking"]),
    "caution: the launches of the row above do not hide behind its unit; m(ovh) is the pace of the "
    "host":
        ("caution: the launches of the row above do not hide", ["slow_host"], STILL),
    "caution: sleeps of  ns end every  ns here":
        ("caution: sleeps of 20000 ns end every 32768 ns here", ["implicit1"], ["free_sleeps"]),
    "caution: these kernels end on the grid of the sleep; with units that spin m(ovh) of the row "
    "above is  ns":
        (r"caution: these kernels end on the grid of the sleep; with units that spin m\(ovh\) of "
         "the row above is 1650 ns", ["implicit1"], ["free_sleeps"]),
    "caution: med(cpu) and med(timer) of the row above are  and % away from med(ovh) of the same "
    "kernels not held":
        (r"caution: med\(cpu\) and med\(timer\) of the row above are 12 and 12% away",
         ["held_longer"], STILL),
    "CUDA_LAUNCH_BLOCKING is set":
        ("skipped: .*: CUDA_LAUNCH_BLOCKING is set$", ["blocking_implicit"], STILL),
    "a launch takes  us, as under a tool that watches each":
        ("skipped: .*: a launch takes 20. us, as under a tool", ["watched"],
         [*STILL, "slow_host"]),
    "launches wait for kernels here: a held stream was not let go within 0.5 s":
        ("skipped: multi_cooperative_launch.*: a held stream was not let go", ["hold_expires"],
         [*STILL, "slow_host"]),
    "the driver has no cuLaunchCooperativeKernelMultiDevice":
        ("skipped: multi_cooperative_launch on 1 GPUs, .*: the driver has no", ["no_multi_device"],
         STILL),
    "no cooperative launch on GPU ":
        ("skipped: cooperative_launch on 1 GPUs, .*: no cooperative launch on GPU 0",
         ["not_cooperative_implicit"], STILL),
    "no cooperative launch on this GPU":
        ("skipped: .*: no cooperative launch on this GPU",
         ["not_cooperative_inter", "not_cooperative_repeat"], STILL),
    "no peer access between these GPUs,  is measured without": _NEEDS_CUDA_12,
    "no process has measured it": _NEEDS_CUDA_12,
    "an SM holds  blocks of this size":
        ("skipped: grid_sync on 1, 32 per SM x 1024: an SM holds 2 blocks of this size",
         ["inter1"], ["inter8"]),
    ": nothing waits in rows of less than 3.5 cycles an operation, the compiler has left a NOP or "
    "less; no latency of a barrier":
        ("tile_sync: nothing waits in rows of less", ["free", "free_repeat"], STILL),
    "the row above depends on the repeat count: twice as many operations give , % off":
        ("the row above depends on the repeat count", ["cold_lines", "very_noisy"], STILL),
    ": after one operation,  of  results are right":
        ("in_use_none: after one operation, 0 of 1 results are right", ["wrong"], STILL),
    "an SM does not hold two blocks of this size":
        ("skipped: grid_sync on 32 x 1024/32: an SM does not hold two", ["small_sms_repeat"],
         STILL),
    ": more than  repeats are a loop,  a trip":
        ("block_sum: more than 4 repeats are a loop, 2 a trip", ["repeat"], ["intra"]),
    "cannot access each other's memory (no peer access)":
        (r"skipped: peer_grid_sync on 2 GPUs: .*cannot access each other's memory", ["no_peers"],
         STILL),
    "CUDA_LAUNCH_BLOCKING is set: a launch would wait for its kernel, and the kernel for those of "
    "the other GPUs":
        ("skipped: peer_grid_sync on 2 GPUs: CUDA_LAUNCH_BLOCKING is set", ["blocking_inter"],
         [*STILL, "not_blocking"]),
    " is older than compute capability 7.0, which the barrier needs":
        ("skipped: peer_grid_sync .* is older than compute capability 7.0", ["very_old"], STILL),
    "it needs compute capability .0 or later":
        ("skipped: cluster_sync.*: it needs compute capability 9.0 or later",
         ["old", "old_repeat"], STILL),
    "no cluster of  such blocks fits":
        ("skipped: cluster_sync.*: no cluster of 8 such blocks fits",
         ["few_sms", "few_sms_repeat"], STILL),
    "it needs CUDA  or later to compile": "it is for builds with an older toolkit",
    "are the same": "no program asks for a GPU twice",
    "are of different kinds": "all GPUs of the stand-in are alike",
    "a barrier takes 1 to  GPUs, not ": "the stand-in's programs would start over 32 threads",
    " and  ": "the names before the reasons of BarrierSet",
}
# Not of these: provenance, and what hands a text on.
PLAIN = {
    "cuda: driver , runtime , built with nvcc , gcc ", "gpus:  visible,  used",
    "gpu : ,  SMs, compute capability ., SM clock seen  MHz, code for , driven from CPU any",
    "peer access: onnot between all pairs of GPUs",
    "host waits: spinning (cudaDeviceScheduleSpin)not spinning; kernels loaded: ",
    "processes: , one after the other; the samples are those of each;  streams in turn",
    "multi_cooperative_launch: ", "warning: ", "skipped: : ", ": ", "; ", "%",
    "processesprocesses that the n samples are from"}
# Functions whose texts others print, by file.
MAKERS = {"noise.cpp", "latency.hpp", "rows.cpp", "timed_launch.cpp", "measuring_process.hpp",
          "held_queue.hpp"}


def texts_of_sources():
    """The texts in calls that warn, comment, skip or refuse, and of MAKERS."""
    calls = (r"\b(?:warn|comment|comment_once|skip|CannotMeasure|CannotJoin|refuse|push_back|"
             r"runtime_error)\s*\(")
    for folder in ("common", "implicit_barrier", "explicit_barrier"):
        for path in sorted((ROOT / folder).rglob("*.[ch]*")):
            text = re.sub(r"//.*", "", path.read_text())
            found = [found.end() for found in re.finditer(calls, text) if
                     "runtime_error" not in found[0] or path.name == "held_queue.hpp"]
            parts = [text[begin:end_of_call(text, begin)] for begin in found]
            if path.name in MAKERS:
                parts += [part for part in re.findall(
                    r'(?:\breturn|std::string text =)\s(?:"(?:\\.|[^"\\])*"|[^;{"])*;', text)
                    if "columns" not in part]
            for part in parts:
                yield path.name, "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', part))


def end_of_call(text, at):
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at

class Sums(unittest.TestCase):
    """Rates of Reduction: bytes over gaps, empty kernels, and what the memory and a barrier take."""

    def test_each_way_to_sum(self):
        p = dict(PLANTED, memory_mib=16, l2_kib=256, bandwidth=1500, gap_programmatic=430,
                 event=1350)
        one, more = p["gap_traditional"] + p["null"], p["gap_programmatic"] + p["null"]
        kernels = {"read_limit": one, "last_block": one, "implicit": 2 * one,
                   "two_pass_tree": 2 * one, "cub": 2 * one, "programmatic": one + more}
        done = Done("Reduction", ["1", *SOME, "--type", "double", "--max-bytes", "4M", "--method",
                                  ",".join(kernels)], **p)
        rows = [row for title, row in done.rows() if title == "one GPU"]
        self.assertGreater(len(rows), len(kernels))
        for row in rows:
            size = float(row["bytes"])
            with self.subTest(row["method"], bytes=size):
                planted = size / (kernels[row["method"]] + size / p["bandwidth"])
                self.assertLess(abs(float(row["m(GB/s)"]) / planted - 1), 0.002)
                self.assertEqual(row["right"], "nan" if row["method"] == "read_limit" else "1")
                FIGURES["rows"] += 1


class Warned(unittest.TestCase):
    """Every warning comes when its cause is planted, and not otherwise."""

    def test_each_text_of_the_sources_has_a_case(self):
        found = {text for _, text in texts_of_sources() if " " in text} - PLAIN
        self.assertEqual(found - set(TEXTS), set(), "no case in TEXTS")
        self.assertEqual(set(TEXTS) - found, set(), "no such text in the sources")

    def test_each_comes_when_planted_and_not_otherwise(self):
        planted = 0
        for text, case in TEXTS.items():
            if isinstance(case, str):
                continue
            pattern, runs, others = case
            planted += 1
            for name in runs:
                with self.subTest(text=text, run=name):
                    self.assertEqual(of(name).code, 0, of(name).errors)
                    self.assertTrue(of(name).says(pattern), of(name).warnings()[:9])
            for name in others:
                with self.subTest(text=text, run=name):
                    self.assertEqual(of(name).says(pattern), [])
        FIGURES["warnings"] = f"{planted} of {len(TEXTS)}"

    def test_nothing_is_said_where_nothing_is_planted(self):
        fits = re.compile("# skipped: .*: an SM holds|# caution: (sleeps|these kernels)")
        for name in STILL:
            self.assertEqual([line for line in of(name).warnings() if not fits.match(line)], [])
            self.assertNotIn("warning", of(name).errors)

    def test_warnings_are_on_stderr_too(self):
        for name in ("clamped_inter", "halved_intra", "very_noisy", "wide", "others"):
            warnings = [line[len("# warning: "):] for line in of(name).says("^# warning: ")]
            self.assertTrue(warnings)
            for text in warnings:
                self.assertIn(text, of(name).errors)
        self.assertIn("cluster_sync not measured: no cluster of 8 such blocks fits (said once;",
                      of("few_sms_repeat").errors)
        self.assertRegex(of("few_sms").errors, "cluster_sync latency 32/8 not measured")

    def test_the_clock_is_told_once(self):
        for name in ("halved_intra", "halved_inter"):
            self.assertEqual(len(of(name).says("the SM clock moved")), 1)

    def test_wide_intervals_are_where_rows_say_so(self):
        count = 0
        for section in of("wide").sections:
            quantity = {"null kernel": "addl", "workload test": "addl",
                        "held queue": "cpu"}.get(section.title, "ovh")
            if section.title == "sleep grid":
                continue
            told = {id(row) for row, text in section.comments if "95% interval of the" in text}
            for row in section.rows:
                if row[f"ci95({quantity})"] == "nan":
                    continue
                part = float(row[f"ci95({quantity})"]) / abs(float(row[f"m({quantity})"]))
                self.assertEqual(part > 0.1, id(row) in told, (section.title, row))
                count += part > 0.1
        self.assertGreater(count, 3)

    def test_the_row_that_spreads_is_named(self):
        told = of("noisy_row").says("the spread of this row")
        self.assertTrue(all(" latency 512/" in line or " x 512" in line for line in told), told)
        self.assertTrue(any("blocksync latency 512/32" in line for line in told), told)

    def test_where_nothing_waits(self):
        free = of("free")
        said = {line.split()[1] for line in free.says("nothing waits")}
        self.assertEqual(said, {"tile_sync:", "blocksync:"})
        # No rows of several warps of it; its throughput all the same.
        rows = [(title, row["thrd"]) for title, row in free.rows() if row["method"] == "tile_sync"]
        self.assertEqual({thrd for title, thrd in rows if title == "warp latency"}, {"32"})
        self.assertIn(("throughput", "1024"), rows)

    def test_lines_beyond_the_cache(self):
        # Lengths 64, 128 and 256: the last has 128 operations that take 5 cycles more.
        run = of("cold_lines")
        section = run.sections[0]
        told = {id(row): text for row, text in section.comments if "repeat count" in text}
        self.assertEqual(len(told), len(section.rows))
        for row in section.rows:
            twice = operation(run.planted, row) + 5
            found = re.search(r"give ([\d.]+), ([\d.]+)% off", told[id(row)])
            self.assertAlmostEqual(float(found[1]), twice, delta=0.02)
            off = 100 * (twice / operation(run.planted, row) - 1)
            self.assertAlmostEqual(float(found[2]), off, delta=0.1)

    def test_cautions_of_methods(self):
        # What --list says behind the first "; " stands above the rows, once a section.
        for name in ("intra", "inter2", "repeat"):
            run = of(name)
            text = subprocess.run([FOLDER / run.program, "--list"], check=True,
                                  stdout=subprocess.PIPE, encoding="utf-8").stdout
            listed = dict(line.split("\t") for line in text.splitlines())
            for section in run.sections:
                comments = [text for _, text in section.comments]
                for method in {row["method"] for row in section.rows}:
                    said = [line for line in comments if line.startswith(f"{method}: ") and
                            not re.search("results are right|are a loop", line)]
                    self.assertEqual(len(said), 1 if "; " in listed[method] else 0, said)
                    for line in said:
                        self.assertIn("; " + line.split(": ", 1)[1], listed[method])

    def test_loops_of_long_code(self):
        said = {re.match(r"# (\w+): more than (\d+) repeats", line).groups()
                for line in of("repeat").says("repeats are a loop")}
        wanted = {(method, str(line)) for method, (scope, line) in methods().items() if line < 128}
        self.assertEqual(said, wanted)

    def test_results_are_counted(self):
        for line in of("repeat").says("results are right"):
            right, checked = re.search(r"(\d+) of (\d+) results", line).groups()
            self.assertEqual(right, checked)

    def test_what_this_build_lacks(self):
        lacks = r"multi_grid_sync: CUDA 13 removed it"
        if "multi_grid_sync" in methods():
            self.assertEqual(of("inter1").says(lacks), [])
        else:
            self.assertEqual(len(of("inter1").says(lacks)), 1)
        self.assertEqual(of("named_inter").says(lacks), [])


def main():
    global FOLDER
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    FOLDER = Path(sys.argv[1]).resolve()
    if not all((FOLDER / program).exists() for program in EXPECT):
        print("the target `simulated` is not built: skipped")
        return 77
    began = time.monotonic()
    if len(sys.argv) == 2:  # else those that the tests need
        for name in RUNS:
            start(name)
    done = unittest.main(argv=[sys.argv[0], *sys.argv[2:]], exit=False, verbosity=1)
    for name, figure in FIGURES.items():
        print(f"{name}: {figure}")
    print(f"{time.monotonic() - began:.0f} s")
    return 0 if done.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
