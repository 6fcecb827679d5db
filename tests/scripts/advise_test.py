"""Tests of advise.py on made-up rows, and its error on the recorded ones."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from parts import tsv
from reporting.steps_model import NEEDS, TITLE, Steps

HEADER = "method GPUCount rep blk thrd idea(wkld) reads m(step) s(step) m(seam) s(seam) n med(step)"
MOST_OFF = 0.15  # at the 95th percentile


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

    def write(self, rows, title=TITLE):
        lines = [f"# {title}", HEADER.replace(" ", "\t"), *("\t".join(map(str, row)) for row in rows)]
        self.file.write_text("\n".join([*lines, f"# end[rows={len(lines) - 2}]", ""]))

    def advise(self, *arguments):
        return subprocess.run([ROOT / "scripts/advise.py", *map(str, arguments)],
                              capture_output=True, text=True)

    def rows(self, *arguments):
        done = self.advise(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        comments, table = ([line for line in done.stdout.splitlines() if (line[0] == "#") == said]
                           for said in (True, False))
        names, *rows = (line.split("\t") for line in table)
        return comments, [dict(zip(names, row)) for row in rows]

    def test_what_is_planted_comes_back(self):
        self.write(planted(3000, {1: 1000, 16: 2000, 256: 3000}))
        comments, rows = self.rows("--work", 2, "--blocks", 64, "--steps", 500, self.file)
        self.assertIn("# error[percent=0.0 cases=16]", comments)
        self.assertIn("# fastest within this error: steps_grid_sync", comments)
        # 64 blocks are half of the way from 16 to 256.
        first, second = rows
        self.assertEqual((first["way"], first["us(step)"], first["ms(all)"], first["share(%)"]),
                         ("steps_grid_sync", "4.50", "2.250", "56"))
        self.assertEqual(first["us(under 5%)"], "48")  # 19 times 2.5
        self.assertEqual((second["way"], second["us(step)"]), ("traditional_launch", "7.00"))
        # Steps without work come as fast as the host launches.
        _, rows = self.rows("--work", 0, self.file, "--blocks", 1)
        self.assertEqual([row["us(step)"] for row in rows], ["3.00", "6.00"])

    def test_a_folder_is_read_too(self):
        self.write(planted(3000, {1: 1000, 16: 2000, 256: 3000}))
        self.assertEqual(self.advise("--work", 2, self.file.parent).stdout,
                         self.advise("--work", 2, self.file).stdout)

    def test_error_on_recorded_rows(self):
        paths = sorted((ROOT / "results/launches").glob("*.tsv"))
        self.assertTrue(paths)
        for path in paths:
            steps, = (Steps(section) for section in tsv.read(path) if section.title == TITLE)
            error, cases = steps.error()
            self.assertGreater(cases, 100)
            self.assertLess(error, MOST_OFF, path)
            self.assertEqual({method for method, _ in steps.measured}, set(NEEDS))

    def test_bad_usage(self):
        self.write(planted(3000, {1: 1000, 256: 3000}))
        for arguments, message in (
                ((), "--work"), (("--work", "fast"), "must be a number from 0"),
                (("--work", "nan"), "must be a number from 0"),
                (("--work", 1, "--blocks", 257, self.file), "has rows of at most 256"),
                (("--work", 1, self.file.parent / "none"), "none"),
                (("--work", 1, ROOT / "results/grid_barriers/h200x1.tsv"), f"no section {TITLE}")):
            done = self.advise(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
