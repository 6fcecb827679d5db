"""End-to-end test: the reader of the scripts takes what programs print where noise is larger than
what they measure, so that differences are negative.

usage: readable_rows_test.py FOLDER
"""

import re
import sys
import unittest

import planted
from planted import Done

FEW = ("--stats", "--samples", "2")
# Exit code 1: a program does not go on with a time that cannot be.
RUNS = {"ImplicitBarrier": (("2", "--processes", "2", *FEW), (0, 1)),
        "BenchmarkIntraSM": (FEW, (0,)), "TestRepeat": (FEW, (0,)),
        "BenchmarkInterSM": (("2", "--blocks-per-sm", "1,8", *FEW), (0,)),
        "Reduction": (("2", "--max-bytes", "4M", *FEW), (0, 1)),
        "Stencil": (("2", "--max-bytes", "512K", *FEW), (0,)), "Libraries": (("2", *FEW), (0,))}


class ReadableRows(unittest.TestCase):
    def test_negative_differences(self):
        found = {}
        for program, (arguments, codes) in RUNS.items():
            with self.subTest(program):  # Done reads all rows
                done = Done(program, arguments, gpus=2, noise=0.6, host_noise=3000)
                self.assertIn(done.code, codes, done.errors)
                found[program] = bool(re.search(r"\t-\d", done.text))
        self.assertGreaterEqual(sum(found.values()), 5, found)


if __name__ == "__main__":
    sys.exit(planted.main(__doc__))
