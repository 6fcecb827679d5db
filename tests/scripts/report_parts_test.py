"""Tests of the parts of report.py: the study's numbers, digits, names, what is normal."""

import math
import unittest

from made_up_rows import ENVIRONMENT, ROWS
from scripts_support import ScriptsTest

from parts import means, tsv  # from scripts/, which scripts_support has put on the path
from reporting import normal
from reporting.estimates import rounded, short_name


class DigitsTest(unittest.TestCase):
    def test_mean_and_spread(self):
        nan = math.nan
        for value, spread, text in (
                (1512.263, 68.589, "1512 ± 69"), (8549.88, 1281.739, "8500 ± 1300"),
                (13857.2, 9272.4, "13900 ± 9300"), (1534.4, 407.1, "1530 ± 410"),
                (10747, 549, "10750 ± 550"), (-40, 3215, "0 ± 3200"),
                (1001.176, 0.378, "1001.2 ± 0.4"), (4.0035, 0.00002, "4.0035"),
                (1001.176, 0.037, "1001.2"), (105.769, 0.8668, "105.77 ± 0.87"),
                (24, 0, "24"), (205.75, 0, "205.75"), (4814.304, nan, "4814.3"),
                (14336, nan, "14336"), (123456.7, nan, "123457"), (0, 0, "0"),
                (-3.25, 1.5, "-3.2 ± 1.5"), (0.07143, nan, "0.07143"), (100, nan, "100")):
            self.assertEqual(rounded(value, spread), text)


class Named:
    simulated = False

    def __init__(self, gpu):
        self.environment = {"gpu": gpu}


class NameTest(unittest.TestCase):
    def test_short_names(self):
        for gpu, name in (("NVIDIA H200", "H200"), ("NVIDIA H100 80GB HBM3", "H100"),
                          ("Tesla V100-SXM2-16GB", "Tesla V100"), ("NVIDIA A100-PCIE-40GB",
                                                                   "A100"),
                          ("NVIDIA GeForce RTX 4090", "RTX 4090"), ("NVIDIA GB200", "GB200"),
                          ("NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada"),
                          ("NVIDIA GeForce RTX 4090 Laptop GPU", "RTX 4090 Laptop"),
                          ("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
                           "RTX PRO 6000 Max-Q"),
                          ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "RTX PRO 6000")):
            self.assertEqual(short_name(Named(gpu)), name)


class NormalTest(ScriptsTest):
    def test_verdicts(self):
        def value(mean, half):
            return means.Value(float(mean), float(half), f"{mean:.3f}")

        recorded = [value(100, 1), value(104, 1)]  # 99 to 105; 2% of their mean are 2.04
        for mean, half, verdict in (
                (96.97, 0, "same"), (107.03, 0, "same"), (96.9, 0, "faster"),
                (107.1, 0, "slower"), (96, 2, "unclear"), (108, 2, "unclear"),
                (108, "nan", "slower"), (math.nan, 0, "unclear")):
            found = normal.judge("ave_cycle", value(mean, half), recorded)
            self.assertEqual((found[0], found[1], found[3]), (99, 105, verdict), (mean, half))
        self.assertEqual(normal.judge("GB/s", value(120, 1), recorded)[3], "faster")
        self.assertEqual(normal.judge("diff_thrput", value(90, 1), recorded)[3], "slower")
        self.assertAlmostEqual(normal.judge("a", value(204, 0), recorded)[2], 100)
        self.assertEqual(normal.judge("a", value(1, 0), [])[3], "not recorded")
        # What is known worse than within 10% is left out.
        wide = [value(-5, 2600), value(150, 15.1)]
        self.assertEqual(normal.judge("a", value(100, 0), [*wide, *recorded])[:2], (99, 105))
        self.assertEqual(normal.judge("a", value(100, 0), wide)[3], "unclear")

    def a_run(self, name, gpu, sms="132", more=""):
        environment = f"key\tvalue\ngpu\t{gpu}\ngpu_count\t2\nsms\t{sms}\nnote\t{name}\n{more}"
        launches = ROWS["ImplicitBarrier"].replace("NVIDIA H200", gpu)
        return tsv.Run(self.write_run(self.folder / name, {
            "environment": environment, "ImplicitBarrier": launches}))

    def test_which_runs_are_compared(self):
        mine, twin = self.a_run("mine", "A"), self.a_run("ax2", "A")
        far, near = self.a_run("bx1", "B", "80"), self.a_run("cx1", "C", "120")
        again = self.a_run("cx2", "C", "120")
        self.a_run("cx3_20260101", "A")  # somebody's own, and none kept for reference
        recorded = normal.recorded_runs(self.folder)
        self.assertEqual([run.path.name for run in recorded], ["ax2", "bx1", "cx1", "cx2"])
        for runs, expected in (([far, near, twin], [twin]), ([mine, twin], [twin]),
                               ([far, near, again], []), ([mine], []), ([], [])):
            self.assertEqual(normal.references(mine, runs), expected)

    def test_rows_are_matched_by_blocks_per_sm(self):
        small = {"BenchmarkInterSM": ROWS["BenchmarkInterSM"].replace("4224", "3840").replace(
            "\t132\t32", "\t120\t32"), "environment": ENVIRONMENT.replace("132", "120")}
        other = tsv.Run(self.write_run(self.folder / "other", small))
        run = tsv.Run(self.write_run(self.folder / "run"))
        grid = [row for row in normal.judged(run, [other])
                if row.key[0] == "BenchmarkInterSM"]
        self.assertEqual([row.verdict for row in grid], ["same"] * 5)
        self.assertEqual([row.key[5] for row in grid], ["1xSM", "32xSM", "1xSM", "1xSM", "32xSM"])
        alone = normal.judged(run, [])
        self.assertEqual({row.verdict for row in alone}, {"not recorded"})


if __name__ == "__main__":
    unittest.main()
