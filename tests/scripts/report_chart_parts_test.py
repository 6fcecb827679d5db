"""Tests of the parts of report.py's charts: order, clocks, what is left out, the study's
charts."""

import re
import unittest

from made_up_rows import ENVIRONMENT, GRID, ended, section
from scripts_support import ROOT, ScriptsTest

from parts import tsv  # from scripts/, which scripts_support has put on the path
from reporting import chart_barriers, chart_study, charts
from reporting.study import Study

FOUR_GPUS = ENVIRONMENT.replace("gpu_count\t2", "gpu_count\t4")


class ChartPartsTest(ScriptsTest):
    def test_an_order_by_level_and_cost(self):
        run = tsv.Run(ROOT / "results" / "h200x2")
        panel, = chart_barriers.all_barriers(run, None).panels
        value = {point.x: point.estimate.value for one in panel.series for point in one.points}
        self.assertEqual([one.name for one in panel.series], ["CUDA 13.0", "CUDA 11.8"])
        self.assertEqual({source[0].count("before13") for one in panel.series[1].points
                          for source in one.estimate.sources}, {1})
        self.assertEqual([level for level, _ in panel.groups],
                         ["warp", "block", "cluster", "one GPU", "all GPUs"])
        for _, texts in panel.groups:
            costs = [value[text] for text in texts]
            self.assertEqual(costs, sorted(costs))

    def test_captions_of_two_lines_name_the_toolkits_of_the_rows(self):
        both = {"barriers": "13.0 and 11.8", "machines": "13.0 and 11.8", "figure_7": "11.8",
                **dict.fromkeys(("figure_8", "figure_9", "figure_16"), "13.0 and 11.8 (multi-grid)")}
        runs = {name: tsv.Run(ROOT / "results" / name) for name in ("h200x4", "h100x1")}
        several = chart_barriers.machines(runs)
        for chart in (*charts.charts_of(runs["h200x4"], Study()), several):
            lines = list(charts.latex(chart, f"figures/{chart.name}"))
            caption, = (line for line in lines if line.startswith(r"\caption"))
            shown = caption.replace(r"$\times$", "x").replace("\\", "")
            self.assertLessEqual(len(shown), len("caption{}") + 240)
            self.assertRegex(shown, rf"\bCUDA {re.escape(both.get(chart.name, '13.0'))}[,.]")
            said = " ".join([shown, *(line for line in lines if line.startswith("% "))])
            for sentence in chart.caption():  # all is there
                self.assertIn(charts.tex(sentence).replace(r"$\times$", "x").replace("\\", ""),
                              said.replace(r"$\times$", "x").replace("\\", ""))

    def test_what_figure_4_is_seen_against(self):
        chart = chart_study.figure_4(tsv.Run(ROOT / "results" / "h200x1"), Study())
        for panel, levels in zip(chart.panels, ({}, {"V100": 0.475, "P100": 0.091})):
            self.assertEqual({level.name: level.value for level in panel.levels},
                             {**levels, "an SM holds 64 warps": 64})
            self.assertEqual([level.vertical for level in panel.levels],
                             [True] + [False] * len(levels))

    def test_empty_cells(self):
        """Where the blocks do not fit, as the file says, nothing is missing."""
        path = ROOT / "results/h200x4/BenchmarkInterSM.tsv"
        whole = path.read_text()
        for make, method, gpus, blocks, threads in (
                (chart_study.figure_5, "grid_sync", 1, 4, 512),
                (chart_study.figure_5, "grid_sync", 1, 4, 1024),  # what the file says of it
                (chart_study.figure_8, "peer_grid_sync", 2, 1, 32)):
            row = rf"{method}\t{gpus}\t\d+\t\d+\t{132 * blocks}\t{threads}\t"
            skipped = (rf"# skipped\[does-not-fit holds=\d+\] {method} GPUcount={gpus} "
                       f"blk={132 * blocks} thrd={threads}:")
            text, deleted = re.subn(f"(?m)^({row}|{skipped}).*\n", "", whole)
            self.assertEqual(deleted, 1)
            shape = f"{method} on {chart_study.many(gpus)} at {blocks} per SM x {threads}"
            for rows, missing, said in (
                    (whole, [], "do not fit."),
                    (text, [shape],
                     "do not fit, or it is named as not in this run.")):
                chart = make(tsv.Run(self.write_run(self.folder / "run", {
                    "BenchmarkInterSM": ended(rows), "environment": FOUR_GPUS}, only=True)), Study())
                self.assertEqual([one for one in chart.missing if " at " in one], missing)
                self.assertIn(f"An empty cell: the blocks {said}", " ".join(chart.caption()))

    def test_figure_7_has_no_empty_place(self):
        for name, rows in (("h200x1", [3]), ("h200x2", [2, 2])):
            chart = chart_study.figure_7(tsv.Run(ROOT / "results" / name), Study())
            self.assertEqual([len(row) for row in chart.rows_of_panels()], rows)

    def test_the_lane_that_comes_last(self):
        run = tsv.Run(ROOT / "results/h200x1")
        held, free = chart_study.figure_18(run, Study()).panels
        self.assertEqual([(one.name, one.value) for one in held.levels],
                         [("lane 30 comes last, leaves first", 30)])
        self.assertEqual(free.levels, [])  # there the first lane leaves first

    def test_counts_of_gpus_that_figure_8_leaves_out(self):
        for name, said in (("h200x2", False), ("h200x4", True)):
            chart = chart_study.figure_8(tsv.Run(ROOT / "results" / name), Study())
            self.assertEqual("Measured, but not drawn here: 3 GPUs (" in " ".join(chart.caption()),
                             said)
            self.assertEqual(chart.missing, [])
        rows = section("multi-GPU latency", GRID, *(
            f"peer_grid_sync {gpus} 1 9 132 32 1000.0 9.0 1 1.0" for gpus in (1, 4)))
        chart = chart_study.figure_8(tsv.Run(self.write_run(
            self.folder / "run", {"BenchmarkInterSM": rows, "environment": FOUR_GPUS},
            only=True)), Study())
        self.assertIn("peer_grid_sync on 2 GPUs", chart.missing)
        self.assertNotIn("3 GPUs", " ".join(chart.caption()))

    def test_the_clock_of_cycles(self):
        latency = section("block latency", "method GPUcount rep blk thrd m(ave_cycle) s(ave_cycle)"
                          " clock", "blocksync 1 64 1 32 20.0 2.0 500.0")
        plain = latency.replace("\tclock", "").replace("\t500.0", "")
        clock = ENVIRONMENT + "sm_clock_application\t1000 MHz\n"
        for text, environment, value in ((latency, clock, 40), (plain, clock, 20),
                                         (latency.replace("500.0", "nan"), clock, 20),
                                         (plain, ENVIRONMENT, None)):
            found = chart_barriers.Found(tsv.Run(self.write_run(self.folder / "run", {
                "BenchmarkIntraSM": text, "environment": environment}, only=True)))
            estimate = found.estimates.get(("block", "blocksync, 32 threads"))
            self.assertEqual(estimate and (estimate.value, estimate.spread),
                             value and (value, value / 10))
            self.assertEqual("block: blocksync, 32 threads" in found.missing, value is None)

    def test_all_barriers_are_looked_for(self):
        """Those that a run has rows of, but for methods that are no barrier."""
        others = re.compile(r"(coales_)?shufl|vote_|match_|redux_|warp_|(shared|global)_\w"
                            r"|copy_async|threadfence|bulk_copy|distributed_load"
                            r"|in_use_(\w+_)?none|cluster_exchange_unmet"
                            r"|block_(broadcast|sum|max|min|prefix_sum)")
        run = tsv.Run(ROOT / "results/h200x4")
        measured = {row["method"] for name, sections in run.files.items()
                    if name.startswith("Benchmark") for one in sections
                    if one.title != "throughput" for row in one.rows}
        looked_for = {barrier.method for barrier in chart_barriers.BARRIERS}
        self.assertEqual({method for method in measured if not others.match(method)} - looked_for,
                         set())

    def test_what_compiles_to_nothing_is_no_barrier(self):
        found = chart_barriers.Found(tsv.Run(ROOT / "results" / "h200x1"))
        self.assertEqual(found.nothing, ["tile_sync, 32 lanes", "syncwarp, 32 lanes"])
        self.assertIn(("warp", "tile_sync, 16 lanes"), found.older)  # CUDA 11.8 leaves one
        self.assertEqual(found.missing, [])


class StudyFiguresTest(unittest.TestCase):
    def test_numbers_agree_with_one_another(self):
        """More blocks take longer, and so do more GPUs."""
        study = Study()
        self.assertEqual([len(study.figures[name]) for name in ("7", "8")], [2 * 26, 5 * 26])
        for rows in study.figures.values():
            value = {(int(row["gpus"]), int(row["blocks_per_SM"]), int(row["threads"])):
                     float(row["latency_us"]) for row in rows}
            for (gpus, blocks, threads), latency in value.items():
                self.assertLessEqual(blocks * threads, 2048)
                self.assertGreater(latency, value.get((gpus, blocks // 2, threads), 0))
                for fewer in (count for count in {key[0] for key in value} if count < gpus):
                    self.assertGreater(latency, value[fewer, blocks, threads])


if __name__ == "__main__":
    unittest.main()
