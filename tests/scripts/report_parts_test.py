"""Tests of the parts of report.py: names of GPUs, which runs are compared, which of their rows."""

import unittest

from made_up_rows import ENVIRONMENT, ROWS
from scripts_support import ScriptsTest

from parts import tsv  # from scripts/, which scripts_support has put on the path
from reporting import normal
from reporting.estimates import short_name


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
