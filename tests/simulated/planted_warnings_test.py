"""End-to-end test: every warning, every reason why there is no row and every error comes when its
cause is planted, and not otherwise. tests/golden/warnings.txt has all, by tag.

usage: planted_warnings_test.py FOLDER [--renew] [NAME...]

FOLDER holds the simulated programs, NAMEs are tests. --renew writes the file; read its diff.
"""
import collections
import os
import re
import sys
import tempfile
import unittest

import planted
from planted import RUNS, SHARED, of, planned

FILES = tempfile.TemporaryDirectory()
GOLDEN = planted.ROOT / "tests" / "golden" / "warnings.txt"
RUNS.update({**SHARED, **planned(f"""
clamped_implicit: ImplicitBarrier --processes 1
clamped_inter: BenchmarkInterSM
very_noisy: BenchmarkIntraSM --method blocksync,tile_shufl sms=16 noise=0.05
noisy_row: BenchmarkIntraSM --samples 8 --method blocksync,tile_shufl noise=0.007 noise_threads=512
even_noise: BenchmarkIntraSM --samples 100 --method blocksync noise=0.006
wide: ImplicitBarrier 1 --processes 3 noise=0.05
others: BenchmarkInterSM 2 --method grid_sync gpus=2 others=3
late_others: BenchmarkInterSM 1 --method grid_sync others=3 others_from=0.5 null=2e7
one_cpu: BenchmarkInterSM 2 --method grid_sync gpus=2
blocking_implicit: ImplicitBarrier 1 --processes 1 CUDA_LAUNCH_BLOCKING=1
blocking_inter: BenchmarkInterSM 2 gpus=2 CUDA_LAUNCH_BLOCKING=1
not_blocking: BenchmarkInterSM 2 --method peer_grid_sync gpus=2 CUDA_LAUNCH_BLOCKING=0
slow_host: ImplicitBarrier 1 --processes 1 call_traditional=12000
watched: ImplicitBarrier 1 --processes 1 call_traditional=2e5
held_longer: ImplicitBarrier 1 --processes 1 held_gap=1.2
disordered_launches: ImplicitBarrier 1 bad=links
disordered_steps: ImplicitBarrier 1 --method steps_counter bad=steps
lazy_graph: ImplicitBarrier 1 --method device_graph_launch bad=relaunch
passing_block: BenchmarkIntraSM --method blocksync bad=meeting
passing_gpus: BenchmarkInterSM 2 --method peer_grid_sync gpus=2 bad=meeting
waiting_block: BenchmarkIntraSM --method blocksync fail_call=cudaStreamSynchronize fail_at=1 \
    fail_mode=hang
wrong_results: BenchmarkIntraSM --method blocksync bad=results
hold_expires: ImplicitBarrier 1 --processes 1 call_multi_device=2e7
no_multi_device: ImplicitBarrier 1 --processes 1 multi_device=0
not_cooperative_implicit: ImplicitBarrier 1 --processes 1 cooperative=0
old_implicit: ImplicitBarrier 1 --processes 1 --method programmatic_launch,steps_cluster_sync \
    sms=9 capability=80 code=80
no_stream_memory: ImplicitBarrier 2 --processes 1 --method stream_flags_host gpus=2 stream_memory=0
no_peer_flags: ImplicitBarrier 2 --processes 1 --method stream_flags_peer gpus=2 peer=none
not_cooperative_inter: BenchmarkInterSM 1 cooperative=0
not_cooperative_repeat: TestRepeat sms=16 cooperative=0
half_peers: BenchmarkInterSM 4 --blocks-per-sm 1 --method peer_grid_sync gpus=4 peer=halves
no_peers: BenchmarkInterSM 2 gpus=2 peer=none
free: BenchmarkIntraSM --method tile_sync,blocksync,tile_shufl sms=16 cycles.tile_sync=2 \
    rate.tile_sync=99 cycles.blocksync=3.4 rate.blocksync=99 cycles.tile_shufl=3.6 warp_cycles=0
free_repeat: TestRepeat sms=16 cycles.tile_sync=2 rate.tile_sync=99
fast_shuffles: BenchmarkIntraSM --method tile_shufl sms=16 cycles.tile_shufl=24 rate.tile_shufl=1.01
slow_shuffles: BenchmarkIntraSM --method tile_shufl sms=16 cycles.tile_shufl=24 rate.tile_shufl=0.99
cold_lines: BenchmarkIntraSM --method syncthreads_or,tile_shufl cached_line=128 uncached_cycles=5
few_sms: BenchmarkIntraSM sms=7
small_sms_repeat: TestRepeat sms=16 threads_per_sm=1024
old: BenchmarkIntraSM --method cluster_sync sms=16 capability=70 code=70
very_old: BenchmarkInterSM 1 capability=61 code=61
wrong_second: BenchmarkInterSM 2 --method peer_grid_sync gpus=2 bad=results:1
wrong: BenchmarkIntraSM --method in_use_none bad=results
named_inter: BenchmarkInterSM 1 --method grid_sync
# Of sums. Those of one method take little.
sums: Reduction 2 --max-bytes 1M gpus=2
halved_sums: Reduction 1 --method shared_sum halve_at=0.15
slow_sums: Reduction 1 --max-bytes 4M --method implicit halve_at=0.056 reasons=68
slow_sums_unknown: Reduction 1 --max-bytes 4M --method implicit halve_at=0.056 reasons=-1
sums_slow_for_a_while: Reduction 1 --max-bytes 4M --method implicit halve_at=0.0567 \
    full_at=0.0573 reasons=4
sums_of_slow_gpu: Reduction 2 --max-bytes 4M --method peer_grid gpus=2 halve_at=0.056 halve_gpu=1
noisy_sums: Reduction 1 --max-bytes 4M --method tile,implicit noise=0.1
cold_sums: Reduction 1 --method tile_shuffle cached_line=8 uncached_cycles=50
other_sums: Reduction 1 --method tile others=3
narrow_sums: Reduction 1 --method switch_point shared_rate=2
theory: Reduction 1 --method theory
no_memory_clock: Reduction 1 --method theory,tile memory_khz=0
early_kernels: Reduction 1 --max-bytes 1M --method read_limit gap_traditional=-1500
earlier_kernels: Reduction 1 --max-bytes 1M --method read_limit gap_traditional=-6000
short_arrays: Reduction 1 --min-bytes 16 --max-bytes 16 --method read_limit,implicit
old_sums: Reduction 1 --max-bytes 1M --method programmatic,implicit capability=80 code=80
not_cooperative_sums: Reduction 1 --max-bytes 1M cooperative=0
no_peers_sums: Reduction 2 --max-bytes 1M gpus=2 peer=none
blocking_sums: Reduction 1 --max-bytes 1M CUDA_LAUNCH_BLOCKING=1
multi_grid_sums: Reduction 1 --method multi_grid --max-bytes 1M
wrong_sums: Reduction 1 --max-bytes 1M --method implicit bad=results
wrong_shared_sums: Reduction 1 --method shared_sum bad=results
backward_sums: Reduction 1 --method shared_sum bad=recordsneg
odd_bytes: Reduction 1 --min-bytes 1001
more_than_most: Reduction 1 --min-bytes 2M --max-bytes 1M
too_large: Reduction 1 --max-bytes 1G
# Of pitfalls.
pitfalls: Pitfalls 1 --method no_sync,vote_ballot,part_no_sync,lost_updates,message_passing
multi_grid_pitfalls: Pitfalls 1 --method part_multi_grid_blocks
few_pitfalls: Pitfalls 1 --method part_peer_grid_gpus
not_cooperative_pitfalls: Pitfalls 1 --method part_grid_sync cooperative=0
wrong_pitfalls: Pitfalls 1 --method lost_updates right_is_wrong=LostUpdates
silent_pitfalls: Pitfalls 1 --method message_passing bad=results
sick_pitfalls: Pitfalls 1 --method no_sync sick_file=/dev/null
sickening_pitfalls: Pitfalls 1 --method no_sync sick=::NoSync> sick_file={FILES.name}/sick
""")})
RUNS["one_cpu"] += ({min(os.sched_getaffinity(0))},)
# As the processes that Pitfalls starts.
for name, task in (("few_gpus_left", "no_sync:right:1:8"),
                   ("left_alone", "part_grid_sync:stays and skips:1:1"),
                   ("no_case", "nothing:right:1:1"), ("no_task", "nothing")):
    RUNS[name] = ("Pitfalls", ["1"], {}, {"SYNCBENCH_PITFALL": f"{task}:{os.getpid()}"})
STILL = ("implicit1", "implicit2", "free_sleeps", "intra", "inter1", "inter2", "repeat", "sums",
         "pitfalls")

KINDS = ("warning", "skipped", "note")
# What depends on the machine and the libraries of the build. Of `one_cpu` CPUs are planted.
MASKED = {"few-cpus", "library"}
OF_MACHINE = re.compile(r"\w+: warning: fewer CPUs ")
# Of these, the first is shown whole, with its row; stderr has warnings, and what is not measured.
SHOWN = {"above-limit", "differs", "ends-on-grid", "interval", "measured-again",
         "nothing-waits", "repeats", "spread"}


def told(name):
    """The lines of a run in the golden file: how many rows, and remarks of each tag; stderr."""
    run, first, counts = of(name), {}, collections.Counter()
    for part in (run.sections, *run.sections):
        for note in getattr(part, "annotations", ()):
            if note.kind in KINDS and (note.tag not in MASKED or name == "one_cpu"):
                tag = f"{note.kind}[{note.tag}]"
                first.setdefault(tag, note)
                counts[tag] += 1
    tags = (f"{tag} x {counts[tag]}" for tag in sorted(first))
    yield f"{name}: {' '.join([f'{len(list(run.rows()))} rows', *tags])}; exit code {run.code}"
    for tag, note in sorted(first.items()):
        if note.tag in SHOWN:
            row = " ".join(filter(None, (note.method, *map("=".join, note.cells.items()))))
            yield f"  {tag} {row}: {note.text}"
    for line in run.errors.splitlines():
        if name == "one_cpu" or not OF_MACHINE.match(line):
            yield "  " + re.sub(r" at /\S+/(\w+/\w+\.\w+):\d+", r" at \1", line)


class Warned(unittest.TestCase):
    """Every warning comes when its cause is planted, and not otherwise."""

    maxDiff = None

    def test_nothing_is_warned_of_where_nothing_is_planted(self):
        for name in STILL:
            self.assertNotIn("warning", of(name).errors, name)

    def test_each_comes_when_planted_and_not_otherwise(self):
        lines = [line for name in RUNS if name != "waiting_block" for line in told(name)]
        if RENEW:
            GOLDEN.write_text("\n".join(lines) + "\n")
        self.assertEqual(lines, GOLDEN.read_text().splitlines(), "where it is right: --renew")

    def test_a_check_without_end(self):
        """It takes a minute."""
        self.assertEqual(list(told("waiting_block")), [
            "waiting_block: 0 rows; exit code 1", "  BenchmarkIntraSM: error: blocksync, 1 x 32: the "
            "check before a row has not ended within 60 s"])

    def test_a_kernel_that_nobody_ends(self):
        """It ends by itself, where the parent that would end it does not."""
        self.assertEqual(of("left_alone").text, "ready\nlaunch\nerror\tcudaErrorLaunchFailure\n")

    def test_access_of_some_gpus_is_none(self):
        run = of("half_peers")
        self.assertEqual(run.sections.head("gpus")[0]["peer_access"], "no")
        self.assertEqual({row["GPUcount"] for _, row in run.rows()}, {"1", "2"})

    def test_others_that_come_during_a_section(self):
        """Rows stand above the warning, and more of the same section below."""
        lines = of("late_others").text.splitlines()
        told, = (n for n, line in enumerate(lines) if "# warning[shared-gpu" in line)
        self.assertTrue(lines[told - 1].startswith("grid_sync\t"), lines[told - 1])
        self.assertTrue(lines[told + 1].startswith("grid_sync\t"), lines[told + 1])


if __name__ == "__main__":
    RENEW = "--renew" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--renew"]
    sys.exit(planted.main(__doc__))
