"""Tests of the parts of report.py's charts: order, clocks, what is left out, the study's
charts."""

import re
import unittest

from made_up_rows import ENVIRONMENT, GRID, LATENCY, LIBRARY, ROWS, ended, section
from scripts_support import ROOT, ScriptsTest

from parts import tsv  # from scripts/, which scripts_support has put on the path
from reporting import chart_barriers, chart_libraries, chart_study, chart_sums, charts
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

    def test_wrong_sums_and_numbers_without_value_are_left_out(self):
        wrong = ROWS["Reduction"].replace("318.750\t9.000\t2.000\t0.500\t1",
                                          "318.750\t9.000\t2.000\t0.500\t0")
        chart = chart_sums.figure_15(tsv.Run(self.write_run(
            self.folder / "run", {"Reduction": wrong})), Study())
        self.assertEqual([(series.name, point.x) for _, series, point in chart.rows()],
                         [("cub", 2 ** 20), ("cub", 2 ** 33)])
        rows = section("multi-GPU latency", GRID, "peer_grid_sync 1 1 9 132 32 nan nan 1 nan",
                       "peer_grid_sync 2 1 9 132 32 2000.0 1.0 1 1.0")
        chart = chart_study.figure_9(tsv.Run(self.write_run(
            self.folder / "run", {"BenchmarkInterSM": rows})), Study())
        self.assertEqual(chart.missing, ["rows of several GPUs"])  # of one count only

    def test_what_figure_4_is_seen_against(self):
        chart = chart_study.figure_4(tsv.Run(ROOT / "results" / "h200x1"), Study())
        for panel, levels in zip(chart.panels, ({}, {"V100": 0.475, "P100": 0.091})):
            self.assertEqual({level.name: level.value for level in panel.levels},
                             {**levels, "an SM holds 64 warps": 64})
            self.assertEqual([level.vertical for level in panel.levels],
                             [True] + [False] * len(levels))

    def test_the_original_beside_the_difference_in_figure_4(self):
        names = ("ttl_latency", "thrput", "diff_latency", "diff_thrput")
        text = section(
            "throughput", " ".join(("method rep blk thrd", *(f"m({name})" for name in names))),
            "blocksync 8 132 32 80.0 0.9 40.0 1.8") + (
                "# note[above-limit limit=1.00000] blocksync blk=132: x\n"
                "# note[repeats] blocksync blk=132: x\n"
                "# warning[spread percent=3] blocksync blk=132: x\n")
        run = tsv.Run(self.write_run(self.folder / "run", {"BenchmarkIntraSM": text}))
        chart = chart_study.figure_4(run, Study())
        self.assertEqual([[panel.name for panel in row] for row in chart.rows_of_panels()], [
            ["m(ttl_latency) / rep", "m(diff_latency) / rep"], ["m(thrput)", "m(diff_thrput)"]])
        self.assertEqual([point.estimate.value for *_, point in chart.rows()], [10, 5, 0.9, 1.8])
        self.assertEqual([len(point.estimate.remarks) for *_, point in chart.rows()], [0, 3] * 2)

    def test_noise_below_zero_is_left_out(self):
        rows = section("grid latency", GRID, "grid_sync 1 1 9 132 32 -3.0 9.0 1 1.0",
                       "grid_sync 1 1 9 132 64 0.0 9.0 1 1.0",
                       "grid_sync 1 1 9 264 32 1000.0 9.0 1 1.0")
        chart = chart_study.figure_5(tsv.Run(self.write_run(
            self.folder / "run", {"BenchmarkInterSM": rows})), Study())
        self.assertEqual([(series.name, point.x, point.estimate.value)
                          for _, series, point in chart.rows()], [("2", 32, 1.0)])
        self.assertEqual(chart.missing[:2], [f"1 at {threads}, which is not above 0"
                                             for threads in (32, 64)])

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
        held, free = chart_sums.figure_18(run, Study()).panels
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

    def test_barriers_by_library(self):
        """Threads, processes and nodes are apart; a barrier of Libraries goes before that of
        BenchmarkInterSM."""
        def rows(*lines):
            return section("barriers of libraries", LIBRARY, *(f"{line} 9 60 5" for line in lines))

        run = tsv.Run(self.write_run(self.folder / "run", {
            "environment": FOUR_GPUS, "BenchmarkInterSM": section("multi-GPU latency", GRID, *(
                f"peer_grid_sync {gpus} 1 9 132 1024 {gpus}500 1 1 1" for gpus in (1, 2, 4))),
            "Libraries": rows("nccl_graph_unregistered 1 1 2 4 nan nan 5100",
                              "nccl_graph_unregistered 1 1 2 8 nan nan 5000",
                              "nccl_graph_registered 1 1 2 8 nan nan 2300",
                              "nccl_lsa_grid 1 1 4 nan 132 1024 3000",
                              "nccl_lsa_grid 1 1 4 nan 4224 64 19000",
                              "nccl_lsa_grid 1 1 4 nan 132 32 2900",
                              "peer_grid_sync 1 1 4 nan 132 1024 4444"),
            "Libraries.processes": rows("nccl_lsa_grid 1 4 4 nan 132 1024 3100",
                                        "peer_grid_sync 1 4 4 nan 132 1024 4700"),
            "Libraries.nodes": rows("nccl_graph_unregistered 2 8 8 8 nan nan 9000",
                                    "mpi_launch 2 8 8 nan 132 1024 12000")}, only=True))
        chart = chart_libraries.by_library(run, None)
        self.assertEqual([(panel.title, series.name, point.x, round(point.estimate.value, 6))
                          for panel, series, point in chart.rows()], [
            ("all blocks, 1 per SM x 1024", "NCCL", "4", 3.0),
            ("all blocks, 1 per SM x 1024", "NCCL, processes", "4", 3.1),
            ("all blocks, 1 per SM x 1024", "this suite", "1", 1.5),
            ("all blocks, 1 per SM x 1024", "this suite", "2", 2.5),
            ("all blocks, 1 per SM x 1024", "this suite", "4", 4.444),
            ("all blocks, 1 per SM x 1024", "this suite, processes", "4", 4.7),
            ("all blocks, 32 per SM x 64", "NCCL", "4", 19.0),
            ("all GPUs, a launch for each", "NCCL", "2", 2.3),
            ("all GPUs, a launch for each", "NCCL unregistered", "2", 5.0),
            ("all GPUs, a launch for each", "NCCL unregistered, processes", "2x4", 9.0),
            ("all GPUs, a launch for each", "MPI, processes", "2x4", 12.0)])
        self.assertEqual({tuple(panel.ticks) for panel in chart.panels},
                         {("1", "2", "4", "2x4")})
        self.assertIn("libraries", [one.name for one in charts.charts_of(run, Study())])
        older = tsv.Run(ROOT / "results/h200x2")
        self.assertNotIn("libraries", [one.name for one in charts.charts_of(older, Study())])

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

    def test_no_longer_than_without_the_barrier(self):
        rows = section("warp latency", LATENCY, "in_use_branches 1 64 1 32 9.0 0.0 32 100 0.0",
                       "in_use_branches_none 1 64 1 32 9.0 0.0 32 100 0.0")
        older = rows.replace("\t9.0\t", "\t12.0\t", 1)  # no number of the newer one's
        chart = chart_barriers.all_barriers(tsv.Run(self.write_run(self.folder / "run", {
            "BenchmarkIntraSM": rows, "BenchmarkIntraSM.before13": older, "environment":
            ENVIRONMENT + "sm_clock_application\t1000 MHz\n"}, only=True)), None)
        self.assertEqual(chart.estimates(), [])
        name = "added_branches, 32 lanes"
        self.assertIn(f"No longer with the barrier than without: {name}.", chart.notes)
        self.assertNotIn(f"warp: {name}", chart.missing)

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
