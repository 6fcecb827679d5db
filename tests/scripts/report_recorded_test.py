"""Tests of "is it normal?" beyond means: outcomes of Pitfalls, and rows that a run lacks."""

import unittest

from made_up_rows import ENVIRONMENT, GRID, ROWS, section
from report_support import RECORDED, ReportCase, table_below
from scripts_support import ROOT

HERE = ENVIRONMENT + "driver\tmine\n"
COUNTS = ["File", "Section", "same", "faster", "slower", "unclear", "stale", "not recorded",
          "not in this run"]


class OutcomesTest(ReportCase):
    def test_what_no_recorded_run_saw_is_told(self):
        """A barrier that held does no more, one hangs that did not, a race shows, one is new, and
        another is not there."""
        self.write_run(self.folder / "h200x2")
        changed = ROWS["Pitfalls"]
        for old, new in (("syncwarp\t1\t100\t100\t0", "syncwarp\t0\t100\t3\t97"),
                         ("early\tcompleted", "early\tno progress within 1 s"),
                         ("lost_updates\tright\t1000\t0", "lost_updates\tright\t1000\t1"),
                         ("wrong\t1000\t999", "wrong\t1000\t998"),
                         ("crowded_grid_sync", "crowded_new")):
            self.assertEqual(changed.count(old), 1, old)
            changed = changed.replace(old, new)
        run = self.write_run(self.folder / "mine", {"Pitfalls": changed, "environment": HERE})
        normal = self.report(run, recorded=self.folder)["mine"]["normal"]
        told = [one for one in normal["outcomes"] if one["verdict"] == "other"]
        self.assertEqual([(one["method"], one["form"], one["outcome"], one["recorded"])
                          for one in told], [
            ("syncwarp", "", "does not hold", ["holds"]),
            ("part_syncwarp", "exits early", "no progress within 1 s", ["completed"]),
            ("lost_updates", "right", "wrong results", ["no wrong result"])])
        lines = changed.splitlines()
        for one in (one for one in normal["outcomes"] if one["verdict"] != "not in this run"):
            self.assertTrue(lines[one["line"] - 1].startswith(one["method"]), one)
            self.assertEqual(normal["verdicts"]["Pitfalls.tsv"][str(one["line"])], one["verdict"])
        rows = [["File", "Section", "same", "other", "not recorded"],
                ["Pitfalls", "warp barrier verdict", "1", "1", "0"],
                ["Pitfalls", "partial groups", "1", "1", "1"],
                ["Pitfalls", "races", "1", "1", "0"]]
        self.assertEqual(table_below(self.page, "**Outcomes of Pitfalls"), rows)
        said = (f"Pitfalls, line {told[1]['line']}: part_syncwarp, exits early: no progress "
                "within 1 s; recorded: completed.")
        self.assertIn(f"* {said}\n", self.page)
        self.assertIn(said, (self.out / "report.html").read_text())
        self.assertIn("* Pitfalls, partial groups: not in this run: crowded_grid_sync, too many "
                      "blocks.\n", self.page)

    def test_recorded_runs_agree(self):
        """Those of one kind of GPU say the same of the other recorded ones."""
        runs = self.report(*(ROOT / "results" / name for name in RECORDED))
        for name, run in runs.items():
            outcomes = run["normal"]["outcomes"]
            self.assertGreater(len(outcomes), 60, name)
            alone = name == "h100x1"  # the only one of its kind
            self.assertEqual({one["verdict"] for one in outcomes},
                             {"not recorded" if alone else "same"}, name)


class LackingTest(ReportCase):
    def test_a_row_that_is_not_there_is_counted(self):
        """Only where the recorded run is of as many GPUs."""
        def run(name, *blocks, gpus=2):
            rows = (f"grid_sync 1 1 9 {132 * count} 32 1000.000 1.000 9 0.100" for count in blocks)
            return self.write_run(self.folder / name, {
                "environment": HERE.replace("mine", name).replace("_count\t2", f"_count\t{gpus}"),
                "BenchmarkInterSM": section("grid latency", GRID, *rows)}, only=True)

        run("h200x2", 1, 2, 4)
        run("h200x4", 1, 2, 4, 8, gpus=4)
        counts = ["BenchmarkInterSM", "grid latency", "2", "0", "0", "0", "0", "0", "1"]
        found = self.report(run("mine", 1, 4), recorded=self.folder)["mine"]["normal"]["counts"]
        self.assertEqual(found, [{key.lower(): int(cell) if cell.isdigit() else cell
                                  for key, cell in zip(COUNTS, counts)}])
        lacking, = self.summary["runs"][0]["normal"]["not_in_this_run"]
        self.assertEqual((lacking["method"], lacking["blk"], lacking["thrd"]),
                         ("grid_sync", "2xSM", "32"))
        *_, line = (self.out / "tables/mine/normal.tsv").read_text().splitlines()
        self.assertEqual(line.split("\t")[:7], ["BenchmarkInterSM", "grid latency", "grid_sync",
                                                "1", "nan", "2xSM", "32"])
        self.assertEqual(line.split("\t")[-3:], ["not in this run", "nan", "nan"])
        self.assertEqual(table_below(self.page, "same: within"), [
            ["Group of rows", *COUNTS[2:]], ["grid", *counts[2:]]])
        self.assertIn('<th scope="col">not in this run</th>', (self.out / "report.html").read_text())
        run("h200x2", 1, 4)
        found = self.report(run("mine", 1, 4), recorded=self.folder)["mine"]["normal"]["counts"]
        self.assertEqual([row["not in this run"] for row in found], [0])
        # There is no recorded run of three GPUs.
        found = self.report(run("mine", 1, gpus=3), recorded=self.folder)["mine"]["normal"]
        self.assertEqual([row["not in this run"] for row in found["counts"]], [None])
        self.assertIsNone(found["not_in_this_run"])
        self.assertEqual(table_below(self.page, "same: within")[1][-1], "–")


if __name__ == "__main__":
    unittest.main()
