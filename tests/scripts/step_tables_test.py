"""Tests of the tables of sums of steps in docs/grid_barriers.md, with made-up rows."""

import shutil
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from made_up_rows import section

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from pages import grid_barrier_tables, step_tables  # noqa: E402
from reporting.barrier_steps import BarrierSum, Steps  # noqa: E402

GPU = '# gpu[index=0 name="NVIDIA H200" sms=132]\n'
LATENCY = "method GPUcount blk thrd med(avginstru)"
SUMS = [BarrierSum(*of, Steps(*steps)) for *of, steps in (
    ("grid_sync", 1, 132, 32, 0, 981, (10, 250, 90, 300, 250)),
    ("grid_sync", 1, 132, 32, 20000, 700, (10, 200, 0, 90, 200)),
    ("peer_grid_sync", 1, 132, 32, 0, 950, (10, 250, 90, 400, 250)),
    ("peer_grid_sync", 1, 4224, 32, 0, 2100, (10, 500, 90, 900, 500)),
    ("peer_grid_sync", 2, 132, 32, 0, 2400, (10, 900, 90, 100, 900)))]


class StepTablesTest(unittest.TestCase):
    def setUp(self):
        folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        (folder / "grid_barriers").mkdir()
        self.sums = {}
        for module, name, made in (
                (grid_barrier_tables, "FOLDER", folder / "recorded"),
                (step_tables, "sums", lambda machine: self.sums.get(machine, []))):
            patch = mock.patch.object(module, name, made)
            patch.start()
            self.addCleanup(patch.stop)
        self.addCleanup(grid_barrier_tables.medians.cache_clear)
        grid_barrier_tables.medians.cache_clear()
        steps = [f"{row} 1 {blocks} 32 {value}.0" for blocks in (132, 4224) for row, value in (
            ("ping_pong", 500), ("ping_pong_ordered", 1000), ("one_counter", blocks),
            ("one_counter_read", 2 * blocks), ("one_word", 160), ("all_block_sync", 7))]
        peers = [f"{row} 2 132 32 {value}.0" for row, value in (
            ("ping_pong_peer", 1500), ("ping_pong_peer_ordered", 2700))]
        rows = section("grid latency", LATENCY, *steps) + section("multi-GPU latency", LATENCY, *peers)
        for machine in step_tables.OF_TWO_GPUS:
            (folder / "grid_barriers" / f"{machine}.tsv").write_text(GPU + rows)

    def test_without_sums(self):
        for made in (step_tables.constants, step_tables.floors, step_tables.within,
                     step_tables.breakdown):
            self.assertEqual(list(made([])), step_tables.NONE)

    def test_a_machine_without_sums_is_left_out(self):
        self.sums = {"h100x2": SUMS}
        table = list(step_tables.constants([]))
        self.assertIn("| a word to another GPU | `ping_pong_peer` / 2 | 750 | – |", table)
        self.assertIn("| an addition of each block to one word | `one_counter` | 132 | 4224 |",
                      table)
        self.assertEqual(list(step_tables.within([]))[2:], [
            "* One GPU, all at once: 3 of 3.", "* One GPU, one late: 0 of 1.",
            "* Two GPUs, all at once: 0 of 1.", "* Two GPUs, one late: 0 of 0."])

    def test_two_machines_stand_side_by_side(self):
        self.sums = {"h200x2": SUMS, "h100x2": SUMS}
        table = list(step_tables.breakdown([]))
        self.assertEqual(table[2], "| 1 | 1 | 10 / 10 | 250 / 250 | 90 / 90 | 400 / 400 | "
                                   "250 / 250 | 1000 / 1000 | 950 / 950 | -5% / -5% |")
        self.assertTrue(table[3].endswith("| 2000 / 2000 | 2100 / 2100 | +5% / +5% |"), table)
        self.assertTrue(table[4].startswith("| 2 | 1 | 10 / 10 |"), table)
        found = [line for line in step_tables.floors([]) if line.startswith("| `grid_sync`")]
        self.assertEqual([line.split(" | ")[1:3] for line in found], [
            ["one GPU, all at once", "1.09 / 1.09"], ["one GPU, one late", "1.40 / 1.40"]])


if __name__ == "__main__":
    unittest.main()
