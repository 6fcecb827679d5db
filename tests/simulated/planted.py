"""Simulated programs with costs planted in them, for the tests that look for these in the rows.

FOLDER holds the programs.
"""
import contextlib
import functools
import math
import os
import re
import statistics
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from parts import tsv  # noqa: E402
from at_once import AT_ONCE  # noqa: E402

FOLDER = None
# As Scenario has them, but for what is planted here.
PLANTED = dict(
    gpus=1, sms=4, threads_per_sm=2048, blocks_per_sm=32, ghz=1.755, clock_read=31, call=310,
    call_synchronize=620, call_traditional=2100, call_cooperative=2345, call_multi_device=4100,
    gap_traditional=1010, gap_cooperative=1230, gap_multi_device=1520, gap_programmatic=415,
    call_graph=2480, node_gap=0.43, gap_seam=890, relaunch=3710, event=1310, event_wait=505,
    step=720, load_module=712000, load_kernel=31000, instantiate_node=390, upload_node=105,
    update_node=210, first_stream=1, flight=930, notice=710,
    null=640, tick=32, sleep_grid=1, fixed_cycles=43, warp_cycles=1.25, block_cycles=103.5,
    gpu_cycles=1007, skew_cycles=9, slow_gpu=-1, slow_by=1, noise=0)
# Means of the greatest of n numbers, normally distributed (Harter 1961).
GREATEST = {1: 0, 2: 0.5642, 3: 0.8463, 4: 1.0294, 5: 1.1630, 6: 1.2672, 7: 1.3522, 8: 1.4236}
STUDENT = {1: 12.7062, 2: 4.30265, 3: 3.18245, 4: 2.77645, 9: 2.26216}  # 97.5%
LAUNCHING = ("ImplicitBarrier", "ChainedLaunches")  # no in-kernel method has a cost of its own
SHOWN = 0.0006  # half of the last digit of three decimals
SOME = ["--stats", "--samples", "2"]


class Done:
    """A run of a program, of all sets, with what was planted in it."""

    def __init__(self, program, arguments=(), env=(), cpus=None, sets=("--all",), **planted):
        self.program, self.arguments = program, arguments
        costs = {} if program in LAUNCHING else costs_of_methods()
        self.planted = {**PLANTED, **costs, **planted}
        environment = dict(
            os.environ, LD_LIBRARY_PATH=str(FOLDER), **dict(env),
            STAND_IN=" ".join(f"{key}={value}" for key, value in self.planted.items()))
        done = subprocess.run(
            [FOLDER / program, *sets, *map(str, arguments)], env=environment, timeout=600,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
            preexec_fn=cpus and (lambda: os.sched_setaffinity(0, cpus)))
        self.code, self.errors = done.returncode, done.stderr
        assert "stand-in:" not in done.stderr, (program, arguments, planted, done.stderr)
        # "ready" says a process that Pitfalls starts, or seems to.
        assert re.match("# simulated|ready\n|$", done.stdout), done.stdout[:200]
        self.text = done.stdout
        self.sections = tsv.parse(done.stdout.encode()) if "\nmethod\t" in done.stdout else []

    def rows(self):
        """(title of its section, row)"""
        for section in self.sections:
            for row in section.rows:
                yield section.title, row


@functools.lru_cache(maxsize=None)
def output(program, *arguments):
    return subprocess.run([FOLDER / program, *arguments], check=True, stdout=subprocess.PIPE,
                          encoding="utf-8").stdout


def listed(program):
    """{method: what --list says of it: what it does, notes, group}"""
    return {name: about for name, *about in (
        line.split("\t") for line in output(program, "--list").splitlines())}


@functools.lru_cache(maxsize=None)
def methods(program="Reduction"):
    """{in-kernel method: its scope}. Reduction has all, its own too."""
    found = {}
    text = output(program, "--machine-code", "90")
    for row in tsv.read_table(text.encode(), "machine code"):
        found.setdefault(row["method"], row["scope"])
    return found


# Operations of a warp that no SM exceeds in a cycle, where that is less than 4.
LIMITS = {"tile_shufl": 1, "coales_shufl": 1, "warp_sum": 0.5, "shared_add": 1 / 32}


def costs_of_methods():
    """No two alike: a mix-up shows."""
    costs = {}
    for i, (method, scope) in enumerate(methods().items()):
        across = scope in ("grid", "gpus")
        costs[f"cycles.{method}"] = round(1500.7 + 211.3 * i if across else 17.2 + 3.37 * i, 2)
        costs[f"rate.{method}"] = round((0.2 + 0.013 * i) * LIMITS.get(method, 4) / 4, 5)
    assert len({*costs.values()}) == len(costs), "some are alike"
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
    scope = methods()[method]
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


def queue_end(p, launches):
    """When the last of these kernels ends. launches: (call, gap before it, its length)."""
    called, end = 0, -math.inf
    for call, gap, length in launches:
        called += call
        end = max(called + p["flight"], end + gap) + length
    return end


# Runs, each once, several at a time.

def value_of(text):
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


def planned(table):
    """{name: a run} of lines NAME: PROGRAM ARGUMENT... NAME=VALUE... The last are what is planted,
    in capitals the environment. The arguments are with SOME where they have no samples."""
    runs = {}
    for line in table.splitlines():
        if line and line[0] != "#":
            name, program, *words = line.split()
            arguments = [word for word in words if "=" not in word]
            if program != "Pitfalls":
                arguments += ["--stats"] if "--samples" in words else SOME
            pairs = [word.split("=", 1) for word in words if "=" in word]
            runs[name[:-1]] = (program, arguments,
                               {key: value_of(text) for key, text in pairs if not key.isupper()},
                               {key: text for key, text in pairs if key.isupper()})
    return runs


RUNS = {}  # name: (program, arguments, what is planted, environment, CPUs, sets)
SHARED = planned("""
implicit1: ImplicitBarrier 1 --processes 2
implicit2: ImplicitBarrier 2 --processes 2 gpus=2
free_sleeps: ImplicitBarrier 1 --processes 1 sleep_grid=0 tick=1
intra: BenchmarkIntraSM sms=16 gpus=2
inter1: BenchmarkInterSM 1
inter2: BenchmarkInterSM 2 gpus=2
inter8: BenchmarkInterSM 8 --blocks-per-sm 1,2 gpus=8 sms=2
repeat: TestRepeat sms=16
halved_intra: BenchmarkIntraSM sms=16 halve_at=2
halved_inter: BenchmarkInterSM 1 halve_at=0.8
noisy_implicit1: ImplicitBarrier 1 --processes 4 noise=0.002
""")  # that several tests look at
FUTURES, POOL = {}, ThreadPoolExecutor(AT_ONCE)


def of(name):
    if name not in FUTURES:
        start(name)
    return FUTURES[name].result()


def start(name):
    more = RUNS[name][2:]
    planted, env, cpus, sets = (*more, *({}, (), None, ("--all",))[len(more):])
    FUTURES[name] = POOL.submit(Done, *RUNS[name][:2], env, cpus, sets, **planted)


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
    """Of a program whose `expect` has {title: function of what is planted and a row}, which
    returns {quantity or column: (value, bound)}; bound None: there is none."""

    expect = {}

    def check_rows(self, name, seen=lambda title, row: True):
        run = of(name)
        self.assertEqual(run.code, 0, run.errors)
        for title, row in run.rows():
            if seen(title, row):
                self.check_row(run.planted, row, self.expect[title](run.planted, row), title)
        return run

    def check_row(self, p, row, expected, title):
        for column, cell in row.items():
            quantity = re.fullmatch(r"(m|s|med|ci95)\((.*)\)", column)
            if column == "clock":
                self.assertAlmostEqual(float(cell), 1e3 * p["ghz"], delta=0.06, msg=row)
            if column in expected:
                value, bound = expected[column]
            elif not quantity or column == "idea(wkld)":
                continue
            else:
                value, bound = expected[quantity[2]]
            if bound is None:
                self.assertEqual(cell, "nan", (title, row))
            elif column in expected or quantity[1] in ("m", "med"):
                self.assertAlmostEqual(float(cell), value, delta=bound + SHOWN,
                                       msg=(title, column, row))
            elif row.get("n", "1") == "1":
                self.assertEqual(cell, "nan" if quantity[1] == "s" or
                                 row["processes"] == "1" else "0.000", (title, column, row))
            elif column != "ci95(gap)":
                # Samples within `bound` of the mean; t of one degree of freedom.
                most = {"s": 1.5, "ci95": 13}[quantity[1]] * bound
                self.assertLessEqual(float(cell), most + SHOWN, (title, column, row))

    def covered(self, rows, part=0.95):
        """rows: (planted, mean, half width). As many intervals contain it as should."""
        rows = list(rows)
        inside = sum(abs(mean - planted) <= width for planted, mean, width in rows)
        low, high = within(1e-4, len(rows), part)
        self.assertTrue(low <= inside <= high, (inside, len(rows), low, high))

    def quantities(self, name, quantity, wanted=lambda title, row: True):
        """(planted, m, ci95, s, row) of all rows that are wanted and have it."""
        run = of(name)
        self.assertEqual(run.code, 0, run.errors)
        for title, row in run.rows():
            if f"m({quantity})" not in row or not wanted(title, row):
                continue
            value, _ = self.expect[title](run.planted, row)[quantity]
            if value is not None and row[f"ci95({quantity})"] != "nan":
                s = row.get(f"s({quantity})", row.get(f"s({quantity[:-1]})", "nan"))
                yield (value, float(row[f"m({quantity})"]), float(row[f"ci95({quantity})"]),
                       float(s), row)

    def spread(self, pairs, freedom):
        """pairs: (s as it is in the row, planted). Eq. 8 with n - 1: the mean of the squares of
        their ratios is 1, within five times its own error; each has so many degrees of freedom."""
        ratios = [(found / planted) ** 2 for found, planted in pairs]
        error = math.sqrt(2 / freedom / len(ratios))
        self.assertAlmostEqual(statistics.mean(ratios), 1, delta=5 * error)


def main(usage):
    """Runs the tests: all, which start their runs at once, or those that are named."""
    global FOLDER
    if len(sys.argv) < 2:
        sys.exit(usage)
    FOLDER = Path(sys.argv[1]).resolve()
    if not all((FOLDER / run[0]).exists() for run in [*RUNS.values(), ["Reduction"]]):
        print("the target `simulated` is not built: skipped")
        return 77
    if len(sys.argv) == 2:
        for name in RUNS:
            start(name)
    done = unittest.main(argv=[sys.argv[0], *sys.argv[2:]], exit=False, verbosity=1)
    return 0 if done.result.wasSuccessful() else 1
