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
PEERS = 2000, 2500, 2600, 4100, 8000, 9000
NO_PEERS = 2000, 2100, 5200, 4500, 8000, 9000


def barriers(*methods):
    """A section of barriers (method, GPUs, ns) at SHAPES; 132 SMs."""
    return section("grid latency" if methods[0][1] == 1 else "multi-GPU latency", GRID, *(
        GRID_ROW.format(method, gpus, blocks * 132, threads, time) for method, gpus, ns in methods
        for (blocks, threads), time in zip(SHAPES, ns)))


def launches(*rows):
    """A section of launches (method, GPUs, ns, half of the interval)."""
    return section("sleep kernel", LAUNCHES, *(
        f"{method} {gpus} 8 132 1024 5000 {ns} 3.5 100 {half}" for method, gpus, ns, half in rows))


class ObservationsTest(ScriptsTest):
    def verdicts(self, **changes):
        """{id: verdict} of a run with these files."""
        run = tsv.Run(self.write_run(self.folder / "run", changes))
        ids = [*(known["id"] for known in Study().tables["VIII"]),
               *(judge.__name__ for *_, judge in observations.CLAIMS)]
        lines = sum((make(run, Study()).lines
                     for make in (observations.table_8, observations.table_8b)), [])
        return {name: line.labels[2] for name, line in zip(ids, lines)}

    def check(self, files, **expected):
        found = self.verdicts(**files)
        self.assertEqual({name: found[name] for name in expected}, expected, files)

    def test_of_one_gpu(self):
        for cycles, verdict in (("21.9", "does not hold"), ("22.1", "holds")):
            self.check({"BenchmarkIntraSM": section(
                "block latency", BLOCK_LATENCY, "blocksync 1 64 1 32 20.0 0.5 9 0.1",
                f"blocksync 1 64 1 1024 {cycles} 0.5 9 0.1")}, block_warps=verdict)
        self.check({"BenchmarkIntraSM": None}, block_warps="not measured")
        launch = "traditional_launch", 1, 1081.25, 1
        for verdict, *ns in (("holds", 1000, 1100, 1200, 3000, 9000, 9500),  # 1.9 us more
                             ("does not hold", 1000, 5000, 1200, 6000, 4000, 9500)):
            self.check({"BenchmarkInterSM": barriers(("grid_sync", 1, ns)),
                        "ImplicitBarrier": launches(launch)},
                       grid_blocks=verdict, grid_two_blocks=verdict, implicit_one_gpu="holds")
        self.check({"BenchmarkInterSM": barriers(("grid_sync", 1, [1000] * 6)),
                    "ImplicitBarrier": launches(("traditional_launch", 1, 5000.25, 1))},
                   implicit_one_gpu="does not hold")
        grids = barriers(("grid_sync", 1, [*[1500] * 5, 3000]))
        for ns, verdict in ((1400, "holds"), (1600, "turned over"), (1500, "broken")):
            self.check({"BenchmarkInterSM": grids,
                        "ImplicitBarrier": launches(("traditional_launch", 1, ns, 1))},
                       grid_beside_launch=verdict, cpu_beside_launch="open")

    def test_of_warps_and_parts(self):
        wrong = ROWS["Pitfalls"].replace("syncwarp\t1\t100\t100", "syncwarp\t0\t100\t99")
        for text, verdict in ((ROWS["Pitfalls"], "works here"), (wrong, "does not work here"),
                              (None, "not measured")):
            self.check({"Pitfalls": text}, warp_holds=verdict)

        def rows(method, *outcomes):
            return "".join(f"part_{method}\t{form}\t{outcome}\t1.000\t1\n" for form, outcome in
                           zip(("exits early", "stays and skips"), outcomes))

        head = section("partial groups", "method form outcome T launches")
        hang = "no progress within 1 s"
        small = [rows(name, "completed", "completed") for name in (
            "syncwarp", "tile_sync", "coales_sync", "blocksync")]
        with_warp = [*small[1:], rows("syncwarp", "completed", hang)]
        for outcomes, parts, verdict in (
                ((hang, hang), small, "holds"), ((hang, hang), small[1:], "not measured"),
                ((hang, hang), with_warp, "holds in part"),
                (("completed", hang), small, "holds in part"),
                (("completed", "error cudaErrorUnknown"), with_warp, "does not hold")):
            self.check({"Pitfalls": head + rows("grid_sync", *outcomes) + "".join(parts)},
                       grid_part=verdict)
        for text, verdict in (("", "not measured"), (rows("multi_grid_gpus", hang, hang), "holds")):
            self.check({"Pitfalls": head + "".join(small), "Pitfalls.before13": (
                head + rows("multi_grid_blocks", hang, hang) + text)}, gpus_part=verdict)

    def test_of_several_gpus(self):
        for both, acceptable, *ns in (
                ("holds", "holds", *PEERS), ("holds in part", "does not hold", *NO_PEERS),
                ("does not hold", "holds in part", 2000, 2100, 2100, 1900, 2100, 2200)):
            own = barriers(("peer_grid_sync", 2, ns))
            self.check({"BenchmarkInterSM": own}, gpus_both=both, gpus_acceptable=acceptable)
        # Where it was measured, the study's barrier alone is judged: without peer access, as the
        # study has it, of either toolkit.
        study, no_peer = ("multi_grid_sync", 2, PEERS), ("multi_grid_sync_no_peer", 2, NO_PEERS)
        alone = barriers(("peer_grid_sync", 1, PEERS)).replace("grid latency", "multi-GPU latency")
        part = "".join(own.splitlines(keepends=True)[:-1])
        for files, both, acceptable in (
                ((own, barriers(study)), "holds", "holds"),
                ((own, barriers(study, no_peer)), "holds in part", "does not hold"),
                ((barriers(no_peer), barriers(study)), "holds in part", "does not hold"),
                # What does not judge may have been measured in part, what does may not.
                ((own.replace("2100.000", "nan"), barriers(study)), "holds", "holds"),
                ((part, None), "does not hold", "not measured"),
                ((alone, None), "not measured", "not measured")):
            self.check(dict(zip(("BenchmarkInterSM", "BenchmarkInterSM.before13"), files)),
                       gpus_both=both, gpus_acceptable=acceptable)

    def test_launches_beside_barriers(self):
        header = "method GPUCount rep blk thrd idea(wkld) m(addl) s(addl) ci95(addl) n"
        for adds, verdict in (((6, 2, 2, 2, 2), "holds"), ((6, 4, 2, 2, 2), "broken")):
            self.check({"ImplicitBarrier": section("workload test", header, *(
                f"{method} 8 132 1024 {2000 * 2 ** place} {2000 * 2 ** place + 1000 * add} 9 1 100"
                for method in ("traditional_launch 1", "multi_cooperative_launch 2")
                for place, add in enumerate(adds)))}, launch_hides=verdict)
        null = section("null kernel", "method GPUCount rep blk thrd m(ttl) s(ttl) n ci95(ttl)",
                       "traditional_launch 1 1 132 1024 1100 9 100 1.0")
        for cpu, multi, beside_cpu, beside_launch, steady in (
                (1000, 9500, "holds", "holds", "holds"),
                (3000, 5000, "turned over", "broken", "broken"),
                (500, 1000, "broken", "turned over", "broken")):
            self.check({"BenchmarkInterSM": barriers(("multi_grid_sync", 2, [*[2000] * 5, 9000])),
                        "ImplicitBarrier": null + launches(
                            ("single_omp_traditional_launch", 1, 1000, 1),
                            ("single_omp_traditional_launch", 2, cpu, 1),
                            ("multi_cooperative_launch", 2, multi, 1))},
                       gpus_beside_cpu=beside_cpu, gpus_beside_launch=beside_launch,
                       cpu_steady=steady)

    def test_cpu_threads_on_many_gpus(self):
        """6 are many. The barrier takes 2100 ns with an interval of 0.1."""
        eight = ENVIRONMENT.replace("gpu_count\t2", "gpu_count\t8")
        for gpus, cpu, half, verdict in ((5, 1000, 1, "not measured"), (6, 2098, 1, "holds"),
                                         (6, 2098, 2, "does not hold")):
            self.check({"BenchmarkInterSM": barriers(("peer_grid_sync", gpus, [2100] * 6)),
                        "ImplicitBarrier": launches(
                            ("single_omp_traditional_launch", gpus, cpu, half)),
                        "environment": eight}, implicit_gpus=verdict)

    def test_sums_in_a_warp(self):
        """A sum without a barrier says nothing of the study's with one."""
        for method, cycles, verdict in (("volatile_tile", 110, "holds"),
                                        ("volatile_tile", 122, "broken"), ("volatile", 110, "open")):
            self.check({"Reduction": section("warp level", WARP_SUM, *(
                f"{name} double 64 {mean}.000 0.100 1 9 0.010"
                for name, mean in ((method, cycles), ("tile", 110), ("coa", 110))))},
                barriers_alike=verdict)

    def test_sums_with_one_barrier(self):
        """GB/s of CPU threads, with intervals of 2, beside 100 and 200 with intervals of 1."""
        def rows(method, rates, half, right=1):
            return section("strong scaling", NODE_SUM, *(
                f"{method} float 2 {1048576 << place} {rate} 1.0 1.0 1.0 {right} 9 {half}.0"
                for place, rate in enumerate(rates)))

        sums = rows("multi_grid", ("100.0", "200.0"), 1)
        for rates, of_grid, verdict in (
                (("104.0", "210.0"), sums, "holds"), (("103.0", "210.0"), sums, "holds"),
                (("103.0", "203.0"), sums, "does not hold"),
                (("90.0", "210.0"), sums, "holds in part"),
                (("90.0", "190.0"), sums, "does not hold"),
                # Sums that nobody measured, or that were wrong, or have no rate judge nothing.
                *((("104.0", "210.0"), text, "not measured") for text in (
                    None, rows("multi_grid", ("100.0", "200.0"), 1, right=0),
                    rows("multi_grid", ("nan", "nan"), 1)))):
            # Sums have peer access: those of multi_grid_sync judge.
            barrier = barriers(*((f"multi_grid_sync{more}", 2, [2100] * 6)
                                 for more in ("", "_no_peer")))
            self.check({"BenchmarkInterSM.before13": barrier, "Reduction.before13": of_grid,
                        "Reduction": rows("implicit_multi", rates, 2)}, implicit_few_steps=verdict)


if __name__ == "__main__":
    unittest.main()
