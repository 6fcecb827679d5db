"""Tests of Table VIII of report.py: which of the study's observations hold, by made-up rows."""

import unittest

from made_up_rows import (BLOCK_LATENCY, ENVIRONMENT, GRID, LAUNCHES, NODE_SUM, ROWS,
                          WARP_SUM, section)
from scripts_support import ScriptsTest

from parts import tsv  # from scripts/, which scripts_support has put on the path
from reporting import observations
from reporting.study import Study

GRID_ROW = "{} {} 1 9 {} {} {:.3f} 0.250 100 0.100"
SHAPES = ((1, 32), (1, 1024), (2, 32), (2, 1024), (32, 32), (32, 64))


def barriers(method, gpus, *ns):
    """Rows of a barrier at SHAPES; 132 SMs."""
    return [GRID_ROW.format(method, gpus, blocks * 132, threads, time)
            for (blocks, threads), time in zip(SHAPES, ns)]


class ObservationsTest(ScriptsTest):
    def verdicts(self, **changes):
        """{id: verdict} of a run with these files."""
        run = tsv.Run(self.write_run(self.folder / "run", changes))
        ids = [*(known["id"] for known in Study().tables["VIII"]),
               *(judge.__name__ for *_, judge in observations.CLAIMS)]
        lines = sum((make(run, Study()).lines for make in (observations.table_8, observations.table_8b)), [])
        return {name: line.labels[2] for name, line in zip(ids, lines)}

    def check(self, name, cases, file):
        for text, verdict in cases:
            self.assertEqual(self.verdicts(**{file: text})[name], verdict, text)

    def test_of_one_gpu(self):
        blocks = [(section("block latency", BLOCK_LATENCY, "blocksync 1 64 1 32 20.0 0.5 9 0.1",
                           f"blocksync 1 64 1 1024 {cycles} 0.5 9 0.1"), verdict)
                  for cycles, verdict in (("21.9", "does not hold"), ("22.1", "holds"))]
        self.check("block_warps", [*blocks, (None, "not measured")], "BenchmarkIntraSM")
        grids = [(section("grid latency", GRID, *barriers("grid_sync", 1, *ns)), verdict)
                 for verdict, *ns in (("holds", 1000, 1100, 1200, 3000, 9000, 9500),
                                      ("does not hold", 1000, 5000, 1200, 6000, 4000, 9500))]
        self.check("grid_blocks", grids, "BenchmarkInterSM")
        launches = section("sleep kernel", LAUNCHES,
                           "traditional_launch 1 8 132 1024 5000 1081.250 3.500 100 1.000")
        for (text, _), verdict in zip(grids, ("holds", "does not hold")):
            found = self.verdicts(ImplicitBarrier=launches, BenchmarkInterSM=text)
            self.assertEqual(found["grid_two_blocks"], verdict)  # 1.9 and 4.9 us more
        self.assertEqual(found["implicit_one_gpu"], "holds")
        text = launches.replace("1081.250", "5000.250")
        self.assertEqual(self.verdicts(ImplicitBarrier=text, BenchmarkInterSM=grids[0][0])[
            "implicit_one_gpu"], "does not hold")

    def test_of_warps_and_parts(self):
        pitfalls = ROWS["Pitfalls"]
        self.check("warp_holds", (
            (pitfalls, "works here"),
            (pitfalls.replace("syncwarp\t1\t100\t100", "syncwarp\t0\t100\t99"),
             "does not work here"), (None, "not measured")), "Pitfalls")
        header = "method form outcome T launches"
        for outcomes, verdict in ((("no progress within 1 s",) * 2, "holds"),
                                  (("completed", "no progress within 1 s"), "holds in part"),
                                  (("completed", "error cudaErrorUnknown"), "does not hold")):
            def rows(method, *outcomes):
                return "".join(f"part_{method}\t{form}\t{outcome}\t1.000\t1\n" for form, outcome in
                               zip(("exits early", "stays and skips"), outcomes))

            head = section("partial groups", header)
            small = [rows(name, "completed", "completed") for name in (
                "syncwarp", "tile_sync", "coales_sync", "blocksync")]
            self.check("grid_part", [
                (head + rows("grid_sync", *outcomes) + "".join(small),
                 verdict if verdict == "holds" else "holds in part"),  # no block does harm
                (head + rows("grid_sync", *outcomes) + "".join(small[1:]), "not measured"),
                (head + rows("grid_sync", *outcomes) + "".join(small[1:]) + rows(
                    "syncwarp", "completed", "no progress within 1 s"),
                 verdict if verdict == "does not hold" else "holds in part")], "Pitfalls")
            blocks = head + rows("multi_grid_blocks", *outcomes)
            for text, expected in ((blocks, "not measured"), (
                    blocks + rows("multi_grid_gpus", *outcomes),
                    verdict if verdict == "holds" else "holds in part")):
                found = self.verdicts(**{"Pitfalls": head + "".join(small),
                                         "Pitfalls.before13": text})
                self.assertEqual(found["gpus_part"], expected)

    def test_of_several_gpus(self):
        for both, acceptable, *ns in (
                ("holds", "holds", 2000, 2500, 2600, 4100, 8000, 9000),
                ("holds in part", "does not hold", 2000, 2100, 5200, 4500, 8000, 9000),
                ("does not hold", "holds in part", 2000, 2100, 2100, 1900, 2100, 2200)):
            text = section("multi-GPU latency", GRID, *barriers("peer_grid_sync", 2, *ns))
            found = self.verdicts(BenchmarkInterSM=text)
            self.assertEqual((found["gpus_both"], found["gpus_acceptable"]), (both, acceptable))
        # Where it was measured, the study's barrier alone is judged.
        with_peer = barriers("multi_grid_sync", 2, 2000, 2500, 2600, 4100, 8000, 9000)
        of_study = section("multi-GPU latency", GRID, *with_peer)
        found = self.verdicts(**{"BenchmarkInterSM": text, "BenchmarkInterSM.before13": of_study})
        self.assertEqual((found["gpus_both"], found["gpus_acceptable"]), ("holds", "holds"))
        # So it is without peer access, as the study has it, of either toolkit.
        no_peer = barriers("multi_grid_sync_no_peer", 2, 2000, 2100, 5200, 4500, 8000, 9000)
        for files in ({"BenchmarkInterSM.before13": with_peer + no_peer},
                      {"BenchmarkInterSM": no_peer, "BenchmarkInterSM.before13": with_peer}):
            files = {name: section("multi-GPU latency", GRID, *of) for name, of in files.items()}
            found = self.verdicts(**files)
            self.assertEqual((found["gpus_both"], found["gpus_acceptable"]),
                             ("holds in part", "does not hold"))
        # What does not judge may have been measured in part, what does may not.
        part = "".join(text.splitlines(keepends=True)[:-1])
        for own, study, *verdicts in (
                (part, of_study, "holds", "holds"), (part, None, "does not hold", "not measured"),
                (text.replace("2100.000", "nan"), of_study, "holds", "holds")):
            self.assertNotEqual(own, text)
            found = self.verdicts(**{"BenchmarkInterSM": own, "BenchmarkInterSM.before13": study})
            self.assertEqual([found["gpus_both"], found["gpus_acceptable"]], verdicts)
        one = section("multi-GPU latency", GRID, *barriers("peer_grid_sync", 1, *ns))
        self.assertEqual(self.verdicts(BenchmarkInterSM=one)["gpus_both"], "not measured")

    def test_sections(self):
        """What stands in sections of the study alone."""
        work = "{} 8 132 1024 {} {} 9 1 100"
        header = "method GPUCount rep blk thrd idea(wkld) m(addl) s(addl) ci95(addl) n"
        for adds, verdict in (((6, 2, 2, 2, 2), "holds"), ((6, 4, 2, 2, 2), "broken")):
            text = section("workload test", header, *(
                work.format(method, 2000 * 2 ** place, 2000 * 2 ** place + 1000 * add)
                for method in ("traditional_launch 1", "multi_cooperative_launch 2")
                for place, add in enumerate(adds)))
            self.assertEqual(self.verdicts(ImplicitBarrier=text)["launch_hides"], verdict)
        launch = section("sleep kernel", LAUNCHES,
                         "traditional_launch 1 8 132 1024 5000 {} 3.5 100 1.0")
        grids = section("grid latency", GRID, *barriers("grid_sync", 1, *[1500] * 5, 3000))
        for ns, verdict in ((1400, "holds"), (1600, "turned over"), (1500, "broken")):
            found = self.verdicts(ImplicitBarrier=launch.format(ns), BenchmarkInterSM=grids)
            self.assertEqual(found["grid_beside_launch"], verdict, ns)
        self.assertEqual(found["cpu_beside_launch"], "open")
        own = section("multi-GPU latency", GRID, *barriers("multi_grid_sync", 2, *[2000] * 5, 9000))
        for cpu, multi, beside_cpu, beside_launch, steady in (
                (1000, 9500, "holds", "holds", "holds"),
                (3000, 5000, "turned over", "broken", "broken"),
                (500, 1000, "broken", "turned over", "broken")):
            rows = [f"{method} {gpus} 8 132 1024 5000 {ns} 3.5 100 1.0" for method, gpus, ns in (
                ("single_omp_traditional_launch", 1, 1000),
                ("single_omp_traditional_launch", 2, cpu), ("multi_cooperative_launch", 2, multi))]
            null = section(
                "null kernel", "method GPUCount rep blk thrd m(ttl) s(ttl) n ci95(ttl)",
                "traditional_launch 1 1 132 1024 1100 9 100 1.0")
            found = self.verdicts(BenchmarkInterSM=own, ImplicitBarrier=null + section(
                "sleep kernel", LAUNCHES, *rows))
            self.assertEqual([found[name] for name in (
                "gpus_beside_cpu", "gpus_beside_launch", "cpu_steady")],
                             [beside_cpu, beside_launch, steady])

    def test_sums_in_a_warp(self):
        """A sum without a barrier says nothing of the study's with one."""
        for method, cycles, verdict in (("volatile_tile", 110, "holds"),
                                        ("volatile_tile", 122, "broken"), ("volatile", 110, "open")):
            text = section("warp level", WARP_SUM, *(
                f"{name} double 64 {mean}.000 0.100 1 9 0.010"
                for name, mean in ((method, cycles), ("tile", 110), ("coa", 110))))
            run = tsv.Run(self.write_run(self.folder / "run", {"Reduction": text}))
            found, = (line.labels for line in observations.table_8b(run, Study()).lines
                      if line.labels[1].startswith("Sums with volatile, tile"))
            self.assertEqual(found[2], verdict)

    def test_cpu_threads_on_many_gpus(self):
        """6 are many. The barrier takes 2100 ns with an interval of 0.1."""
        for gpus, cpu, half, verdict in ((2, 1000, 1, "not measured"), (5, 1000, 1, "not measured"),
                                         (6, 2098, 1, "holds"), (6, 2098, 2, "does not hold"),
                                         (8, 3000, 1, "does not hold")):
            text = section("multi-GPU latency", GRID,
                           *barriers("peer_grid_sync", gpus, *[2100] * 6))
            launches = section("sleep kernel", LAUNCHES, "single_omp_traditional_launch "
                               f"{gpus} 8 132 1024 5000 {cpu} 9 100 {half}")
            found = self.verdicts(
                ImplicitBarrier=launches, BenchmarkInterSM=text,
                environment=ENVIRONMENT.replace("gpu_count\t2", "gpu_count\t8"))
            self.assertEqual(found["implicit_gpus"], verdict, (gpus, cpu, half))

    def test_sums_with_one_barrier(self):
        """GB/s of CPU threads, with intervals of 2, beside 100 and 200 with intervals of 1."""
        with_peer, no_peer = (barriers(method, 2, *[2100] * 6) for method in (
            "multi_grid_sync", "multi_grid_sync_no_peer"))
        barrier, both = (section("multi-GPU latency", GRID, *of) for of in (
            with_peer, with_peer + no_peer))

        def rows(method, rates, half):
            return section("strong scaling", NODE_SUM, *(
                f"{method} float 2 {1048576 << place} {rate}.0 1.0 1.0 1.0 1 9 {half}.0"
                for place, rate in enumerate(rates)))

        for rates, verdict in (
                ((104, 210), "holds"), ((103, 210), "holds"), ((103, 203), "does not hold"),
                ((90, 210), "holds in part"), ((90, 190), "does not hold")):
            found = self.verdicts(**{"BenchmarkInterSM.before13": barrier, "Reduction": rows(
                "implicit_multi", rates, 2), "Reduction.before13": rows("multi_grid", (100, 200), 1)})
            self.assertEqual(found["implicit_few_steps"], verdict, rates)
        # Sums have peer access: those of multi_grid_sync judge.
        found = self.verdicts(**{"BenchmarkInterSM.before13": both, "Reduction": rows(
            "implicit_multi", (104, 210), 2), "Reduction.before13": rows(
                "multi_grid", (100, 200), 1)})
        self.assertEqual(found["implicit_few_steps"], "holds")
        # Sums that nobody measured, or that were wrong, or have no rate judge nothing.
        sums = rows("multi_grid", (100, 200), 1)
        for text in (None, sums.replace("\t1\t9\t", "\t0\t9\t"),
                     rows("multi_grid", ("nan", "nan"), 1).replace("nan.0", "nan")):
            found = self.verdicts(**{"BenchmarkInterSM.before13": barrier, "Reduction": rows(
                "implicit_multi", (104, 210), 2), "Reduction.before13": text})
            self.assertEqual(found["implicit_few_steps"], "not measured")


if __name__ == "__main__":
    unittest.main()
