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

GPU = '# gpu[index=0 name="NVIDIA H200" sms=132]\n'
SUM = "method GPUcount blk thrd late measured sum multiple block fences arrivals polls words"
LATENCY = "method GPUcount blk thrd med(avginstru)"


class StepTablesTest(unittest.TestCase):
    def setUp(self):
        folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        (folder / "grid_barriers").mkdir()
        for module in (grid_barrier_tables, step_tables):
            patch = mock.patch.object(module, "FOLDER", folder / "recorded")
            patch.start()
            self.addCleanup(patch.stop)
        self.addCleanup(self.forget)
        self.forget()
        steps = [f"{row} 1 {blocks} 32 {value}.0" for blocks in (132, 4224) for row, value in (
            ("ping_pong", 500), ("ping_pong_ordered", 1000), ("one_counter", blocks),
            ("one_counter_read", 2 * blocks), ("one_word", 160), ("all_block_sync", 7))]
        peers = [f"{row} 2 132 32 {value}.0" for row, value in (
            ("ping_pong_peer", 1500), ("ping_pong_peer_ordered", 2700))]
        self.rows = section("grid latency", LATENCY, *steps) + section(
            "multi-GPU latency", LATENCY, *peers)
        self.sums = section(
            "sum of steps", SUM,
            "grid_sync 1 132 32 0 981.0 900.0 1.090 10.0 250.0 90.0 300.0 250.0",
            "grid_sync 1 132 32 20000 700.0 500.0 1.400 10.0 200.0 0.0 90.0 200.0",
            "peer_grid_sync 1 132 32 0 950.0 1000.0 0.950 10.0 250.0 90.0 400.0 250.0",
            "peer_grid_sync 1 4224 32 0 2100.0 2000.0 1.050 10.0 500.0 90.0 900.0 500.0",
            "peer_grid_sync 2 132 32 0 2400.0 2000.0 1.200 10.0 900.0 90.0 100.0 900.0")
        self.folder = folder

    @staticmethod
    def forget():
        grid_barrier_tables.medians.cache_clear()
        step_tables.sums.cache_clear()

    def write(self, **texts):
        for machine in step_tables.OF_TWO_GPUS:
            path = self.folder / "grid_barriers" / f"{machine}.tsv"
            path.write_text(GPU + texts.get(machine, self.rows))

    def test_without_sums(self):
        self.write()
        for made in (step_tables.constants, step_tables.floors, step_tables.within,
                     step_tables.breakdown):
            self.assertEqual(list(made([])), step_tables.NONE)

    def test_a_machine_without_sums_is_left_out(self):
        self.write(h100x2=self.rows + self.sums)
        table = list(step_tables.constants([]))
        self.assertIn("| a word to another GPU | `ping_pong_peer` / 2 | 750 | – |", table)
        self.assertIn("| an addition of each block to one word | `one_counter` | 132 | 4224 |",
                      table)
        self.assertEqual(list(step_tables.within([]))[2:], [
            "* One GPU, all at once: 3 of 3.", "* One GPU, one late: 0 of 1.",
            "* Two GPUs, all at once: 0 of 1.", "* Two GPUs, one late: 0 of 0."])

    def test_two_machines_stand_side_by_side(self):
        self.write(h200x2=self.rows + self.sums, h100x2=self.rows + self.sums)
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
