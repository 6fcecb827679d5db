"""Rows of a launch method that brings kernels of its own, two in a chain.

usage: chained_launches_test.py FOLDER    FOLDER holds the simulated programs
"""
import sys
import unittest
from pathlib import Path

import planted

planted.FOLDER = Path(sys.argv.pop(1)).resolve()
WITHOUT, WITH = "ImplicitBarrier", "ChainedLaunches"
OWN = ("graphs", "dependent steps")  # sections that choose from the launch methods
LABELS = ("method", "GPUCount", "rep", "blk", "thrd", "idea(wkld)")


def run(program):
    # Calls that are no limit: what the GPU does shows.
    return planted.Done(program, ["1", "--stats", "--samples", "2", "--processes", "2"],
                        call_traditional=100)


class ChainedLaunches(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.done = run(WITH)
        cls.added, = planted.listed(WITH).keys() - planted.listed(WITHOUT).keys()

    def test_other_rows_stay(self):
        def shapes(done):
            return [(title, *(row.get(name) for name in LABELS)) for title, row in done.rows()
                    if row["method"] != self.added]
        self.assertEqual(shapes(self.done), shapes(run(WITHOUT)))

    def test_both_kernels_are_in_the_rows(self):
        planted_costs = self.done.planted
        gap, null = planted_costs["gap_traditional"], planted_costs["null"]
        seen = set()
        for section in self.done.sections:
            rows = [row for row in section.rows if row["method"] == self.added]
            self.assertEqual(bool(rows), section.title not in OWN)
            for row in rows:
                nothing = row.get("idea(wkld)", "0") == "0"
                own = nothing and section.title != "workload test"
                chain = 2 * gap + 2 * null + (3 * null if own else null)
                expected = {"m(cpu)": chain, "m(timer)": chain, "m(ovh)": chain}
                if nothing:
                    expected["m(addl)"] = chain
                else:
                    expected["m(gap)"] = 2 * gap + 2 * null
                for name in expected.keys() & row.keys():
                    if row[name] != "nan":
                        seen.add(name)
                        self.assertAlmostEqual(float(row[name]), expected[name], delta=35, msg=row)
        self.assertEqual(seen, {"m(cpu)", "m(timer)", "m(ovh)", "m(addl)", "m(gap)"})


if __name__ == "__main__":
    unittest.main()
