"""End-to-end test: the reader of the scripts takes what programs print where noise is larger than
what they measure, so that differences are negative.

usage: readable_rows_test.py FOLDER
"""

import re
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


if __name__ == "__main__":
    sys.exit(planted.main(__doc__))
