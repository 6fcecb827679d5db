"""The models of switching points and of barriers' steps, against the study's own tables and sums
made by hand."""

import math
import sys
import unittest
from pathlib import Path

from made_up_rows import ROWS, section

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from parts import tsv  # noqa: E402
from reporting.barrier_steps import sums  # noqa: E402
from reporting.switch_model import predicted, switch  # noqa: E402

# Latency, rates, the cost of five synchronizations; then Nl and Nm, and which applies.
STUDY = (((13.0, 0.62, 19.6, 110), (70, 76, "Nm")), ((13.0, 19.6, 215, 420), (9076, 8501, "Nl")),
         ((18.5, 0.43, 13.8, 155), (70, 75, "Nm")), ((18.5, 13.8, 141, 2135), (32681, 29737, "Nl")))


def cycles(first, rate, latency, size):
    """A side of Eq. 2."""
    return first + max(0, size - latency * rate) / rate


class SwitchModelTest(unittest.TestCase):
    def test_table_iv_of_the_study(self):
        for given, (large, medium, case) in STUDY:
            found = switch(*given)
            self.assertEqual(found.case, case)
            for size, printed in ((found.large, large), (found.medium, medium)):
                self.assertAlmostEqual(size / printed, 1, delta=0.02)  # rates have two or three digits

    def test_both_sides_of_equation_2_meet_there(self):
        for given in (*(given for given, _ in STUDY), (10, 1, 2, 3), (10, 1, 1.01, 100),
                      (10, 1, 1000, 1), (10, 2, 4, 0)):
            latency, few, many, sync = given
            size = switch(*given).bytes
            for times, sign in ((0.99, -1), (1, 0), (1.01, 1)):
                off = (cycles(latency, few, latency, times * size)
                       - cycles(latency + sync, many, latency, times * size))
                self.assertEqual(round(off, 6) and math.copysign(1, off),
                                 sign if times > 1 or sync else 0, given)

    def test_no_more_throughput_never_pays(self):
        for rate in (19.6, 19.5, 1e-9):
            found = switch(13, 19.6, rate, 110)
            self.assertEqual((found.case, math.isnan(found.bytes), math.isnan(found.large)),
                             ("never", True, True))

    def test_rows(self):
        sections = {section.title: section for section in tsv.parse(ROWS["Reduction"].encode())}
        loops, row = sections["shared memory"], sections["switching points"].rows[0]
        found = predicted(loops, row)  # 32768 / 22210 and / 2221 bytes a cycle, 90 cycles
        self.assertEqual(found, (147.5, 140.8, "Nl", 147.5))
        loops.rows.pop()
        self.assertIsNone(predicted(loops, row))


SMS, LATE = 10, 2000
LATENCY = "method GPUcount blk thrd med(avginstru)"
EXIT = "method GPUcount blk thrd late med(exit) clock"
# A word takes 100 ns, order 50, a word to another GPU 300, order there 200.
STEPS = [("ping_pong", 1, 1, 32, 200), ("ping_pong_ordered", 1, 1, 32, 300),
         ("ping_pong_peer", 2, 1, 32, 600), ("ping_pong_peer_ordered", 2, 1, 32, 1000)]
for count in (1, 2, 4, 8, 16, 32):
    STEPS += [("one_counter", 1, count, 32, 40 * count),
              ("one_counter_read", 1, count, 32, 110 * count + 20 * (count == 1)),
              ("one_word", 1, count, 32, 60 if count < 8 else 10 * count),
              *(("all_block_sync", 1, count, 32 * warps, warps) for warps in (1, 32))]
# Method, GPUs, blocks per SM: block, fences, arrivals, polls and words, at once and one late.
EXPECTED = {
    # 70 ns of polls behind additions, as many blocks have it.
    ("xiao_feng_lock", 1, 1): ((2, 0, 40, 70, 100), (2, 0, 0, 30, 100)),
    ("xiao_feng_lock_ordered", 1, 1): ((2, 50, 40, 70, 100), (2, 50, 0, 30, 100)),
    # 320 of a poll where 32 blocks per SM poll, so 260 more than alone.
    ("xiao_feng_lock", 1, 32): ((2, 0, 1280, 520 + 2240, 100), (2, 0, 0, 520 + 160, 100)),
    # One poll of few blocks takes 90.
    ("grid_sync", 1, 1): ((2, 50, 40, 90, 100), (2, 50, 0, 30, 100)),
    # Of additions that take 640, polls are among those behind the first 100.
    ("grid_sync", 1, 16): ((2, 50, 640, 200 + 1120 * 54 / 64, 100), (2, 50, 0, 200 + 80, 100)),
    ("peer_grid_sync", 1, 4): ((2, 50, 160, 30, 100), (2, 50, 0, 30, 100)),
    # A leader, and 32 counters.
    ("peer_grid_sync", 1, 16): ((2, 100, 20, 100 + 30, 200), (2, 100, 0, 100, 200)),
    ("peer_grid_sync", 2, 4): ((2, 250, 60, 30, 400), (2, 250, 0, 0, 400)),
    ("peer_grid_sync", 2, 8): ((2, 250, 10, 20 + 30, 400), (2, 250, 0, 20, 400)),
    # Ten flags and 32 threads: each reads one.
    ("xiao_feng_flags", 1, 1): ((3, 0, 0, 45, 200), (3, 0, 90, 0, 100)),
    # 40 flags: a thread reads two, and answers two.
    ("xiao_feng_flags_ordered", 1, 4): ((3, 150, 90, 45, 200), (3, 100, (180 + 90) / 2, 0, 100)),
    ("sense_reversing", 1, 1): ((2, 100, 0, 30, 200), (2, 100, 0, 0, 200)),
    ("sense_reversing", 1, 8): ((2, 150, 40, 40 + 40, 300), (2, 150, 0, 40, 300)),
    ("all_to_all_flags", 2, 1): ((4, 100, 80, 180, 500), (4, 100, 40, 120, 500)),
    ("peer_cas_ordered", 2, 1): ((4, 300, 80, 180, 1400), (4, 300, 40, 120, 800))}


def found(barriers, steps=STEPS, late=LATE, threads=32):
    """{(method, GPUs, blocks per SM, late or not): Steps}; an SM clock of 1 GHz."""
    latency = [f"{name} {gpus} {SMS * blocks} {size} {value}.0" for name, gpus, blocks, size, value in (
        *steps, *((*barrier, threads, 1) for barrier in barriers))]
    exits = [f"{name} {gpus} {SMS * blocks} {threads} {late} 1.0 1000.0"
             for name, gpus, blocks in barriers]
    sections = tsv.parse((section("grid latency", LATENCY, *latency)
                          + section("one late", EXIT, *exits)).encode())
    return {(one.method, one.gpus, one.blocks // SMS, one.late > 0): one.steps
            for one in sums(sections, SMS)}


class BarrierStepsTest(unittest.TestCase):
    def test_sums_by_hand(self):
        of = found(EXPECTED)
        self.assertEqual(len(of), 2 * len(EXPECTED))
        for barrier, expected in EXPECTED.items():
            for late, steps in enumerate(expected):
                for value, by_hand in zip(of[(*barrier, bool(late))], steps):
                    self.assertAlmostEqual(value, by_hand, msg=(barrier, late))

    def test_no_sum_without_every_step(self):
        """What is missing is not taken for nothing."""
        names = ("xiao_feng_lock_ordered", "grid_sync", "peer_grid_sync", "xiao_feng_flags_ordered",
                 "sense_reversing", "all_to_all_flags_ordered", "peer_cas_ordered")
        barriers = [(name, gpus, 16) for name in names for gpus in (1, 2)]
        self.assertTrue(found(barriers))
        for gone in ("ping_pong", "ping_pong_ordered", "all_block_sync"):
            self.assertEqual(found(barriers, [step for step in STEPS if step[0] != gone]), {})

    def test_no_sum_of_what_is_no_barrier_here(self):
        self.assertEqual(found([("in_use_grid_sync", 1, 1), ("cluster_first", 1, 1),
                                ("host_flags", 2, 1), ("grid_sync", 1, 3)]), {})


if __name__ == "__main__":
    unittest.main()
