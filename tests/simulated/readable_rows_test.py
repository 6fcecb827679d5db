"""End-to-end test: the reader of the scripts takes what programs print where noise is larger than
what they measure, so that differences are negative; a person can read it on a terminal.

usage: readable_rows_test.py FOLDER
"""

import os
import re
import subprocess
import sys
import unittest

import planted
from planted import RUNS, of

FEW = ("--stats", "--samples", "2")
# Exit code 1: a program does not go on with a time that cannot be.
CODES = {"ImplicitBarrier": (0, 1), "Reduction": (0, 1)}
for name, arguments in {
        "ImplicitBarrier": ("2", "--processes", "2"), "BenchmarkIntraSM": (), "TestRepeat": (),
        "BenchmarkInterSM": ("2", "--blocks-per-sm", "1,8"),
        "Reduction": ("2", "--max-bytes", "4M"), "Stencil": ("2", "--max-bytes", "512K"),
        "Libraries": ("2",)}.items():
    RUNS[name] = (name, (*arguments, *FEW), dict(gpus=2, noise=0.6, host_noise=3000))


class ReadableRows(unittest.TestCase):
    def test_negative_differences(self):
        found = {}
        for name in RUNS:
            with self.subTest(name):  # Done reads all rows
                done = of(name)
                self.assertIn(done.code, CODES.get(name, (0,)), done.errors)
                found[name] = bool(re.search(r"\t-\d", done.text))
        self.assertGreaterEqual(sum(found.values()), 5, found)

    def test_columns_on_a_terminal(self):
        """All cells but the first end below the end of their header."""
        terminal, program = os.openpty()
        with subprocess.Popen(
                [planted.FOLDER / "BenchmarkIntraSM", *FEW[1:], "--method", "blocksync"],
                env=dict(os.environ, STAND_IN="gpus=1"), stdout=program, stderr=subprocess.DEVNULL):
            os.close(program)
            text = b""
            try:
                while found := os.read(terminal, 4096):
                    text += found
            except OSError:  # the program has ended
                os.close(terminal)
        ends = [[cell.end() for cell in re.finditer(r"\S+", line)][1:]
                for line in text.decode().split("# throughput")[0].splitlines()
                if line.split()[0] in ("method", "blocksync")]
        self.assertGreater(len(ends), 10)
        self.assertEqual(len(set(map(tuple, ends))), 1, text)


if __name__ == "__main__":
    sys.exit(planted.main(__doc__))
