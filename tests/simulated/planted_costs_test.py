"""End-to-end test: the costs of barriers that are planted come back in the rows.

usage: planted_costs_test.py FOLDER [NAME...]

FOLDER holds the simulated programs, NAMEs are tests. Expectations are made of what is planted
and of a row's labels by the study's equations, Eq. 6: O = (L_ij - L_ji) / (i - j); Eq. 7:
T = (L1 - L2) / (r1 - r2); Eq. 8: s = sqrt(s1^2 + s2^2) / (r1 - r2).
"""
import math
import statistics
import sys

import planted
from planted import (GREATEST, PLANTED, RUNS, SHARED, SHOWN, STUDENT, RowChecks, methods, number,
                     of, operation, planned, queue_end, resident)


# What is planted, of the in-kernel methods.

def kernel_ns(p, row, operations):
    """From before the first launch to after the end of the last: mean of those in a queue."""
    across = methods()[row["method"]] in ("grid", "gpus")
    kind = "cooperative" if across else "traditional"
    call, gap, count = p[f"call_{kind}"], p[f"gap_{kind}"], int(row.get("launches", 1))
    length = p["null"] + (operations * operation(p, row) + p["fixed_cycles"]) / p["ghz"]
    end = queue_end(p, count * [(call, gap, length)]) + p["notice"]
    return (max(count * call + p["call_synchronize"], end) + p["clock_read"]) / count


def expect_latency(p, row):
    # A clock counts whole cycles: each length is off by half of one.
    return {"ave_cycle": (operation(p, row), 1 / int(row["rep"])),
            "loop(ave_cycle)": (operation(p, row), 1 / 64)}


def expect_throughput(p, row):
    warps = math.ceil(int(row["thrd"]) / 32)
    at_once, per_sm = resident(p, row)
    waves = math.ceil(per_sm / at_once)  # blocks that do not fit wait for others
    difference = waves * int(row["rep"]) * operation(p, row)
    whole = difference + waves * p["fixed_cycles"]  # each wave of blocks begins once more
    if row["method"] == "blocksync":
        whole += 2 * p["skew_cycles"] * (warps - 1)

    def rate(cycles):
        value = per_sm * warps * int(row["rep"]) / cycles
        return value, 2 * value / cycles + 1e-5

    return {"ttl_latency": (whole, 2), "thrput": rate(whole),
            "diff_latency": (difference, 2), "diff_thrput": rate(difference)}


def expect_inter(p, row):
    launches, basic, more = (number(row, c) for c in ("launches", "basicrep", "moredrep"))
    return {"basic_ttl": (kernel_ns(p, row, basic), 1 / launches),
            "more_ttl": (kernel_ns(p, row, more), 1 / launches),
            "avginstru": (operation(p, row) / p["ghz"], 2 / launches / (more - basic)),
            "avginstr": (None, 2 / launches / (more - basic))}


def expect_late(p, row):
    cycles, bound = operation(p, row), 1 / 16  # of a sum of 16
    if p["slow_gpu"] in range(1, int(row["GPUcount"])):  # all is counted on the first one
        cycles /= p["slow_by"]
    if "m(exit_cycle)" in row:
        return {"exit_cycle": (cycles, bound)}
    # The clock that the row is converted with is off by a cycle of 200 us.
    return {"exit": (cycles / p["ghz"], bound + 3e-6 * cycles)}


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
        kind = {"cooperative_launch": "cooperative", "graph_cooperative": "cooperative",
                "multi_cooperative_launch": "multi_device"}.get(
                    self.method, "programmatic" if "programmatic" in self.method
                    else "traditional")
        together = self.gpus if kind == "multi_device" else 1
        self.call = p[f"call_{kind}" if kind != "programmatic" else "call_traditional"] * together
        self.gap = p[f"gap_{kind}"] * together
        # One call, or the threads at the end of a repeat, wait for the slowest.
        slowed = [p["slow_by"] if p["slow_gpu"] == gpu else 1 for gpu in range(self.gpus)]
        self.slowest = max(slowed) * (1 + p["noise"] * GREATEST[self.gpus])
        self.usual = sum(slowed) / self.gpus  # mean of the GPUs
        self.null = p["null"] * self.slowest
        # Thread 0 reads the clock where the threads start, the others go on.
        self.ahead = p["clock_read"] * (p["slow_gpu"] in range(1, self.gpus))
        self.waits = self.method == "single_omp_traditional_launch"
        self.in_graph = self.method in ("graph_launch", "graph_cooperative", "graph_programmatic",
                                        "device_graph_launch")
        self.events = self.method == "event_wait"
        if self.method.startswith("graph"):
            self.call = p["call_graph"]
            self.gap = self.gap * p["node_gap"] if self.in_graph else p["gap_seam"]
        if self.method == "device_graph_launch":
            self.call, self.gap = p["call_graph"], p["relaunch"]
        if self.events:
            self.gap += p["event"] + p["event_wait"]
        # Of a launch beyond its kernel's work.
        self.overhead = self.null + (self.call + p["flight"] + p["notice"] if self.waits
                                     else self.gap)

    def wait(self, now, end):
        """When the wait ends that begins now, for kernels that end at `end`."""
        p, seen = self.p, end + self.p["notice"]
        if self.method != "multi_cooperative_launch" or self.gpus == 1:
            return max(now + p["call_synchronize"], seen)
        for _ in range(self.gpus):
            now = max(now + p["call"] + p["call_synchronize"], seen)
        return now

    def series(self, count, work):
        """Until the last call has returned, and until all is over."""
        p, length = self.p, self.null + work * self.slowest
        launched = count * self.call + p["clock_read"]
        if self.in_graph:
            launched = self.call + p["clock_read"]
            end = self.call + p["flight"] + count * length + (count - 1) * self.gap
            return launched, self.wait(launched, end) + p["clock_read"]
        if self.events:  # a record behind each kernel, and a wait before all but the first
            later = (self.call + 2 * p["call"], self.gap, length)
            end = queue_end(p, [(self.call, self.gap, length), *(count - 1) * [later]])
            launched += (2 * count - 1) * p["call"]
            return launched, self.wait(launched, end + p["event"]) + p["clock_read"]
        if not self.waits:
            end = queue_end(p, count * [(self.call, self.gap, length)])
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
                "laun": (launched, off), "ttl": (total, off),
                "avelaun": (launched / rep, off / rep),
                "addl": (None, None)}
    if rep > 1:  # Eq. 6 of rep launches and one
        expected["addl"] = ((total - one) / (rep - 1), 2 * off / (rep - 1))
    return expected


def expect_fusion(p, row, sleeps=False):
    launches, rep, work = Launches(p, row), int(row["rep"]), int(row["idea(wkld)"])
    unit = 1.024 * work if sleeps and p["sleep_grid"] else work
    unit *= launches.slowest
    return {"wkld": (unit, 2 / (rep - 1) + 3e-6 * unit + 1 / p["ghz"]),
            "ovh": (launches.overhead, 4 / (rep - 1))}


def expect_one_stream(p, row):
    gaps = {key: value * p["first_stream"] for key, value in p.items()
            if key.startswith("gap_") and key != "gap_seam"}
    return expect_fusion({**p, **gaps}, row)


def expect_graphs(p, row):
    launches, nodes, clock = Launches(p, row), int(row["rep"]), p["clock_read"]
    return {"node": (launches.overhead, 4 / (nodes - 1)),
            "seam": (launches.null + p["gap_seam"], 4) if nodes < 1000 else (None, None),
            "inst": (p["call"] + nodes * p["instantiate_node"] + clock, 1),
            "upload": (p["call"] + nodes * p["upload_node"] + p["call_synchronize"] + clock, 1),
            "first": (p["call_graph"] + nodes * p["upload_node"] + clock, 1),
            "call": (p["call_graph"] + clock, 1),
            "update": (p["call"] + nodes * p["update_node"] + clock, 1)}


def expect_rounds(p, row):
    launches, rep, others = Launches(p, row), int(row["rep"]), int(row["GPUCount"]) - 1
    waits = others * p["event_wait"]
    late = {"events_to_all": launches.gap + p["event"] + waits,
            "events_of_star": launches.gap + p["event"] + waits,
            "kernel_flags_host": 2 * launches.gap + p["null"],
            "graph_of_gpus": p["gap_traditional"] * p["node_gap"] + waits}.get(
                row["method"], launches.gap + others * p["event"] + waits)
    late = launches.overhead if row["method"] in ("multi_cooperative_launch",
                                                  "single_omp_traditional_launch") \
        else launches.null + late
    slow = 1e6 if p["slow_gpu"] in range(launches.gpus) else 0
    coarse = (late, 0.6 * late + slow)  # who waits for whom is not modelled here
    return {"late": (late, 1 + 4 / (rep - 1) + slow), "turns": coarse,
            "held": (None, None) if launches.waits else coarse}


def expect_steps(p, row):
    launches, rep, work = Launches(p, row), int(row["rep"]), int(row["idea(wkld)"])
    unit = work * launches.slowest
    if row["method"] == "launch_and_wait":
        step = launches.call + p["flight"] + launches.null + unit + p["notice"]
    elif row["method"].startswith("steps_"):
        step = p["step"] * launches.slowest + unit
    else:
        step = (launches.series(rep, work)[1] - launches.series(1, work)[1]) / (rep - 1)
    bound = 4 / (rep - 1) + 3e-6 * unit + 1 / p["ghz"]
    return {"step": (step, bound), "seam": (step - unit, 2 * bound)}


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


def expect_streams(p, row):
    expected = expect_fusion(p, row)
    value, bound = expected["ovh"]
    default = row["stream"] != "created"
    return {**expected, "min(ovh)": (value, bound), "max(ovh)": (value, bound),
            "s_stream(ovh)": (0, None if default else bound),
            "s_process(ovh)": (0, None if row["processes"] == "1" else bound)}


EXPECT = {
    "ImplicitBarrier": {
        "null kernel": expect_launches, "sleep kernel": expect_fusion,
        "workload test": expect_launches,
        "sleep instruction": lambda p, row: expect_fusion(p, row, True),
        "one stream": expect_one_stream, "graphs": expect_graphs,
        "dependent steps": expect_steps, "streams": expect_streams, "held queue": expect_held,
        "between GPUs": expect_rounds},
    "BenchmarkIntraSM": {
        "block latency": expect_latency, "warp latency": expect_latency,
        "throughput": expect_throughput, "group latency": expect_latency,
        "one late": expect_late},
    "BenchmarkInterSM": {"grid latency": expect_inter, "multi-GPU latency": expect_inter,
                         "exchange": expect_inter,
                         "one late": expect_late},
    "TestRepeat": {"repeats": expect_repeats, "method validation": expect_validation}}


STUDY = ("--method traditional_launch,cooperative_launch,multi_cooperative_launch,"
         "single_omp_traditional_launch")
NOISES = range(1, 3)  # seeds
RUNS.update({**SHARED, **planned(f"""
implicit8: ImplicitBarrier 8 --processes 1 --samples 1 gpus=8 sms=2
slow_calls: ImplicitBarrier 8 --processes 1 --method multi_cooperative_launch gpus=8 sms=2 \
    call_multi_device=25000
slow_implicit: ImplicitBarrier 2 --processes 1 gpus=2 slow_gpu=1 slow_by=1.5
slow_inter: BenchmarkInterSM 2 gpus=2 slow_gpu=1 slow_by=1.5
streams: ImplicitBarrier 1 --processes 10 --samples 3 --method traditional_launch \
    stream_level=0.05 first_stream=0.8
processes: ImplicitBarrier 1 --processes 5 --method traditional_launch process_level=0.05
noisy_intra: BenchmarkIntraSM --samples 12 sms=16 noise=0.004 fixed_cycles=0 skew_cycles=0
noisy_inter: BenchmarkInterSM 2 --blocks-per-sm 1,8 --samples 10 gpus=2 noise=0.01
drift: BenchmarkInterSM 1 --blocks-per-sm 1,8 --samples 20 drift=0.005
noisy_implicit1: ImplicitBarrier 1 --processes 4 {STUDY} noise=0.002 seed=1
noisy_implicit2: ImplicitBarrier 1 --processes 4 {STUDY} noise=0.002 seed=2
""")})


class RowsOfBarriers(RowChecks):
    expect = {title: of_row for titles in EXPECT.values() for title, of_row in titles.items()}

    def check(self, name):
        run = self.check_rows(name)
        self.assertEqual([section.title for section in run.sections],
                         [title for title in EXPECT[run.program]
                          if title not in ("multi-GPU latency", "between GPUs", "exchange")
                          or title in (section.title for section in run.sections)])
        return run


class Exact(RowsOfBarriers):
    """Without noise each number of each row is the planted one."""

    def test_launches_on_1_2_and_8_gpus(self):
        for name in ("implicit1", "implicit2", "implicit8", "free_sleeps", "slow_implicit"):
            self.check(name)

    def test_a_launch_of_200_us_hides_behind_the_unit(self):
        run = of("slow_calls")
        self.assertEqual({float(row["m(ovh)"]) for _, row in run.rows()
                          if row.get("idea(wkld)") == "256000" and "m(ovh)" in row},
                         {8 * run.planted["gap_multi_device"] + run.planted["null"]})

    def test_inside_an_sm(self):
        self.check("intra")
        self.check("repeat")

    def test_across_sms_and_1_2_and_8_gpus(self):
        for name in ("inter1", "inter2", "inter8", "slow_inter"):
            run = self.check(name)
            counts = {int(row["GPUcount"]) for _, row in run.rows()}
            self.assertEqual(counts, set(range(1, run.planted["gpus"] + 1)))

    def test_samples_and_processes_are_counted(self):
        for name, n, processes in (("implicit2", 4, 2), ("intra", 2, None), ("inter1", 2, 1),
                                   ("streams", 30, 10), ("repeat", 2, None)):
            for title, row in of(name).rows():
                if title in ("multi-GPU latency", "exchange"):  # from several places
                    continue
                found = int(row["n"]) / (10 if row.get("stream") == "created" else 1)
                self.assertEqual(found, 5 if title == "throughput" and n > 5 else n, row)
                if processes and title != "one late":
                    self.assertEqual(int(row["processes"]), processes, row)


class Disturbed(RowsOfBarriers):
    """The rows say what is there under disturbance, and how sure that is."""

    def test_a_clock_that_halves(self):
        # Cycles are cycles whatever the clock.
        run = of("halved_intra")
        clocks = []
        for title, row in run.rows():
            clocks.append(float(row.pop("clock")))
            self.check_row(run.planted, row, self.expect[title](run.planted, row), title)
        self.assertEqual(set(clocks), {1755, 877.5})
        self.assertEqual(clocks, sorted(clocks, reverse=True))
        # Nanoseconds double, but for the row in which it happens.
        run, mixed, clocks = of("halved_inter"), 0, set()
        for title, row in run.rows():
            clocks.add(float(row["clock"]))
            p = dict(run.planted, ghz=float(row["clock"]) / 1e3)
            if title == "one late":
                continue
            value, bound = self.expect[title](p, row)["avginstru"]
            mixed += abs(float(row["m(avginstru)"]) - value) > bound + SHOWN
        self.assertEqual(clocks, {1755, 877.5})
        self.assertLessEqual(mixed, 1)

    def test_levels_of_streams_and_processes(self):
        """Each process of `processes` has its level, each of ten created streams of `streams`."""
        of_process, of_stream = ([1 + 0.05 * i for i in range(count)] for count in (5, 10))
        for name, title, stream, parts in (
                ("streams", "sleep kernel", None,
                 [[of_stream[(3 * process + i) % 10] for i in range(3)] for process in range(10)]),
                ("processes", "sleep kernel", None, [2 * [level] for level in of_process]),
                ("streams", "streams", "default", 10 * [[0.8]]),
                ("streams", "streams", "created", 10 * [of_stream]),
                ("processes", "streams", "default", [[level] for level in of_process]),
                ("processes", "streams", "created", [10 * [level] for level in of_process])):
            run = of(name)
            section, = (section for section in run.sections if section.title == title)
            rows = section.find_all(stream=stream) if stream else section.rows
            each = [[run.planted["null"] + run.planted["gap_traditional"] * level for level in here]
                    for here in parts]
            every, means = sum(each, []), [statistics.mean(here) for here in each]
            sure = STUDENT[len(means) - 1] * statistics.stdev(means) / math.sqrt(len(means))
            expected = {"m": statistics.mean(every)}
            if stream:
                self.assertEqual(len(rows), 2)
                expected.update(min=min(every), max=max(every), s_process=statistics.stdev(means))
                expected["s_stream"] = statistics.stdev(each[0]) if stream == "created" else math.nan
            else:
                expected.update(s=statistics.stdev(every), med=statistics.median(every), ci95=sure)
            for row in rows:
                for kind, value in expected.items():
                    found = float(row[f"{kind}(ovh)"])
                    if value == value:
                        self.assertAlmostEqual(found, value, delta=0.05, msg=(name, row))
                    else:
                        self.assertNotEqual(found, found, row)

    def test_noise_inside_an_sm(self):
        rows = [*self.quantities("noisy_intra", "ave_cycle")]
        self.covered(row[:3] for row in rows)
        # Lengths r and 2 r: sqrt(1 + 4). Welch: 25 / (1 + 16) times n - 1 are free.
        self.spread([(s, 0.004 * math.sqrt(5) * value) for value, _, _, s, _ in rows],
                    25 / 17 * 11)

    def test_noise_in_throughput(self):
        for quantity in ("ttl_latency", "diff_latency"):
            self.covered(row[:3] for row in self.quantities("noisy_intra", quantity))

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
                if "stream" in row:
                    continue  # it has no unit
                rep, unit = int(row["rep"]), float(row["m(wkld)"])
                pairs.append((s, 0.002 * math.hypot(
                    PLANTED["null"] + rep * unit,
                    math.sqrt(rep) * (PLANTED["null"] + unit)) / (rep - 1)))
        self.covered(row[:3] for row in rows)
        self.spread(pairs, 7)

    def test_drift_meets_both_lengths(self):
        # How late a length was sampled, in the mean: its total says so.
        run = of("drift")
        before = 0
        for title, row in run.rows():
            if title == "one late":
                continue
            p, drift = run.planted, run.planted["drift"]
            expected = self.expect[title](p, row)
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

if __name__ == "__main__":
    sys.exit(planted.main(__doc__))
