"""Tests of advise.py on made-up rows, and its error on the recorded ones."""

import itertools
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from parts import tsv
from advise import TIMES
from reporting.steps_model import LADDER, Rows, Steps

HEADER = "method GPUCount rep blk thrd idea(wkld) reads m(step) s(step) m(seam) s(seam) n med(step)"
GPU = '# gpu[index=0 name="Made up" sms=256]'


def planted(pace, seams):
    """Rows of ways that follow the model exactly; seams: {blocks: ns}"""
    for method, factor in (("traditional_launch", 2), ("steps_grid_sync", 1)):
        for blocks, seam in seams.items():
            for work in (0, 1000, 5000, 20000):
                step = max(pace * factor, seam * factor + work)
                yield (method, 1, 50, blocks, 256, work, 1, step, 1, step - work, 1, 10, step)


class AdviseTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.file = Path(temporary.name) / "ImplicitBarrier.tsv"

    def write(self, rows):
        rows = list(rows)
        self.file.write_text("\n".join([
            GPU, f"# {LADDER}", *("\t".join(map(str, row)) for row in (HEADER.split(), *rows)),
            f"# end[rows={len(rows)}]", ""]))

    def advise(self, *arguments):
        return subprocess.run([ROOT / "scripts/advise.py", *map(str, arguments)],
                              capture_output=True, text=True)

    def test_a_terminal_has_columns_one_below_the_other(self):
        ours, theirs = os.openpty()
        subprocess.run([ROOT / "scripts/advise.py", "--work", "5"], stdout=theirs, check=True)
        os.close(theirs)
        lines = os.read(ours, 65536).decode().splitlines()
        os.close(ours)
        head, *table = ([cell.start() for cell in re.finditer(r"\S+( \S+)*", line)]
                        for line in lines if line[0] != "#")
        self.assertGreater(len(table), 5)
        self.assertEqual(table, [head] * len(table))

    def rows(self, *arguments):
        done = self.advise(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        comments, table = ([line for line in done.stdout.splitlines() if (line[0] == "#") == said]
                           for said in (True, False))
        names, *rows = (line.split("\t") for line in table)
        return comments, [dict(zip(names, row)) for row in rows]

    def test_what_is_planted_comes_back(self):
        self.write(planted(3000, {1: 1000, 16: 2000, 256: 3000}))
        comments, rows = self.rows("--work", 2, "--blocks", 64, self.file)
        self.assertIn("# take[way=steps_grid_sync fastest=steps_grid_sync]", comments[0])
        # 64 blocks are half of the way from 16 to 256.
        first, second = rows
        self.assertEqual((first["way"], first["us(step)"], first["share(%)"]),
                         ("steps_grid_sync", "4.50", "56"))
        self.assertEqual(first["us(under 5%)"], "48")  # 19 times 2.5
        self.assertEqual((second["way"], second["us(step)"]), ("traditional_launch", "7.00"))
        # Steps without work come as fast as the host launches.
        _, rows = self.rows("--work", 0, self.file, "--blocks", 1)
        self.assertEqual([row["us(step)"] for row in rows], ["3.00", "6.00"])

    def test_interval_is_of_what_is_not_work(self):
        self.write(planted(3000, {1: 1000, 256: 3000}))
        for work, low, high in ((1, "3.00", "5.50"), (20, "22.00", "24.50")):
            _, (row, _) = self.rows("--work", work, self.file)
            self.assertEqual((row["us(low)"], row["us(high)"]), (low, high))

    def test_other_machines_are_within_the_interval(self):
        """Steps of each recorded machine, by the rows of each other one of its kind."""
        machines = [Steps(Rows([path])) for path in sorted(ROOT.glob("results/h*x*/ImplicitBarrier.tsv"))]
        count = inside = 0
        for one, other in itertools.permutations((one for one in machines if one.measured), 2):
            for method, shapes in other.measured.items() if one.rows.gpu == other.rows.gpu else ():
                for (blocks, steps), way in ((of, one.way(method, of[0])) for of in shapes.items()):
                    for work, step in steps.items() if way else ():
                        count += 1
                        inside += way.times(1 / TIMES).step(work) <= step <= way.times(TIMES).step(work)
        self.assertGreater(count, 200)
        self.assertGreater(inside, 0.95 * count)

    def test_the_simplest_way_that_costs_little_more(self):
        self.write(planted(3000, {1: 1000, 256: 3000}))
        for work, way in ((5, "steps_grid_sync"), (100, "traditional_launch")):  # 3 of 103
            comments, _ = self.rows("--work", work, self.file)
            self.assertTrue(comments[0].startswith(f"# take[way={way} fastest=steps_grid_sync]: "))

    def test_a_program_of_others_agrees(self):
        """What the GPU test compares, with figures of an H200 that no rule was made with."""
        figures = ROOT / "tests/golden/dependent_steps.h200x1.tsv"
        done = subprocess.run([sys.executable, ROOT / "tests/gpu/dependent_steps_test.py", "cat",
                               figures], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        inside, count = map(int, re.search(r"^(\d+) of (\d+) inside$", done.stdout, re.M).groups())
        self.assertGreater(count, 140)
        self.assertGreater(inside, 0.9 * count)

    def test_bad_usage(self):
        self.write(planted(3000, {1: 1000, 256: 3000}))
        simulated, headless = (self.file.parent / name for name in ("simulated.tsv", "headless.tsv"))
        simulated.write_text(f"{tsv.SIMULATED}\n{self.file.read_text()}")
        headless.write_text(self.file.read_text().replace(f"{GPU}\n", ""))
        other = self.file.parent / "other.tsv"
        other.write_text(self.file.read_text().replace("Made up", "Another"))
        empty = self.file.parent / "empty"
        empty.mkdir()
        for arguments, message in (
                (("--work", 1, self.file, other), f"{self.file} has rows of Made up, {other} of Another"),
                (("--work", 1, empty), "none of ImplicitBarrier.tsv"),
                (("--work", 1, "--gpus", 8), "results/before/h200x4: no rows of 8 GPUs, only of up to 4"),
                (("--work", 1, ROOT / "results/before/h200x4"), "lack the section 'dependent steps' of ImplicitB"),
                (("--work", 1, simulated), "simulated rows"), (("--work", 1, headless), "how many SMs"),
                (("--work", 1, "--gpu", "A100"), "must be one of H100, H200"),
                (("--work", 1, "--gpu", "H100", "--gpus", 4), "no rows of 4 GPUs, only of up to 2"),
                (("--work", 1, "--gpu", "H100", self.file), "not with RUN"),
                ((), "--work"), (("--work", "nan"), "must be a number from 0"),
                (("--work", 1, "--threads", 1025, self.file), "at most 1024"),
                (("--work", 1, "--gpus", 3, self.file), "the section 'between GPUs' of ImplicitBarrier"),
                (("--work", 1, self.file.parent / "none"), "none"),
                (("--work", 1, ROOT / "results/h200x1/TestRepeat.tsv"), "the section 'dependent steps'")):
            done = self.advise(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
