"""End-to-end test: what is planted of time steps comes back in the rows of Stencil.

usage: planted_steps_test.py FOLDER (of the simulated programs)
"""
import sys
import unittest
from pathlib import Path

import at_once
import planted

FOLDER = planted.FOLDER = Path(sys.argv.pop(1)).resolve()
SOME = ("--samples", "2", "--max-bytes", "1M")
GPU_CYCLES, GHZ, STEP, BANDWIDTH = 2970, 1.98, 500, 1000  # planted
UNORDERED = ("none", "none_tile")
OF_ONE = {"grid_sync", "grid_sync_tile", "traditional_launch", "graph_launch",
          "programmatic_launch", "graph_programmatic"}
OF_SEVERAL = {"events_to_neighbors", "graph_of_gpus", "multi_cooperative_launch"}


def run(*arguments, **costs):
    return planted.Done("Stencil", arguments, sets=(), **{
        "sms": 8, "step": STEP, "gpu_cycles": GPU_CYCLES, "ghz": GHZ, "bandwidth": BANDWIDTH,
        **costs})


class Planted(unittest.TestCase):
    def test_costs_come_back(self):
        done = run("4", *SOME, gpus=4)
        self.assertEqual(done.code, 0, done.errors)
        sections = done.sections
        self.assertEqual([section.title for section in sections],
                         ["time steps 2D", "time steps 3D"])
        for section in sections:
            self.assertEqual({row["GPUcount"] for row in section.rows}, {"1", "2", "4"})
            for count in (1, 2, 4):
                methods = {row["method"] for row in section.rows if row["GPUcount"] == str(count)}
                self.assertEqual(methods & (OF_ONE | OF_SEVERAL), OF_ONE if count == 1 else OF_SEVERAL)
            for row in section.rows:
                self.check_row(row)

    def check_row(self, row):
        gpus, cells, step = int(row["GPUcount"]), int(row["cells"]), float(row["m(step)"])
        moved = 8 * cells / BANDWIDTH  # ns that a step reads and writes
        self.assertEqual(int(row["width"]) * int(row["rows"]) * int(row["layers"]), cells)
        self.assertAlmostEqual(float(row["GB/s"]) * step / (8 * cells * gpus), 1, 3)
        if row["method"] in UNORDERED:
            self.assertAlmostEqual(step, moved, delta=0.1)
            self.assertEqual((row["right"], row["sync"]), ("nan", "nan"))
            return
        self.assertEqual(row["right"], "1")
        self.assertAlmostEqual(float(row["sync"]), 100 * (1 - moved / step), delta=0.1)
        if "grid_sync" in row["method"]:
            between = STEP + (gpus - 1) * GPU_CYCLES / GHZ * (row["method"] != "grid_sync")
            self.assertAlmostEqual(step, moved + between, delta=0.1)
        else:
            self.assertGreater(step, moved + 100)

    def test_wrong_results(self):
        done = run("1", *SOME, "--method", "none,graph_launch", bad="steps")
        self.assertEqual(done.code, 1)
        rows = [row for section in done.sections for row in section.rows]
        self.assertEqual({row["method"]: row["right"] for row in rows},
                         {"none": "nan", "graph_launch": "0"})
        wrong = sum(row["right"] == "0" for row in rows)
        self.assertIn(f"wrong results in {wrong} rows, whose `right` is 0", done.errors)
        self.assertIn("warning[wrong] graph_launch GPUcount=1: its results are not those of the host",
                      done.text)

    def test_wrong_results_of_large_fields(self):
        # Layers of the host alone see the first, digests of timed runs alone the second.
        for bad, wrong in (("half", {"grid_sync", "events_to_neighbors"}), ("staying", {"grid_sync"})):
            done = run("2", *SOME, "--method", "grid_sync,events_to_neighbors", gpus=2, bad=bad)
            self.assertEqual(done.code, 1)
            for section in done.sections:
                for row in section.rows:
                    self.assertNotEqual(row["sync"], "nan")  # although nobody asked for none
                    large = int(row["width"]) * int(row["rows"]) > 128
                    self.assertEqual(row["right"], "01"[not (large and row["method"] in wrong)], row)
                said = {said.method for said in section.annotations if said.tag == "wrong"}
                self.assertEqual(said, wrong if bad == "half" else set())

    def test_a_way_without_rows_is_wrong_too(self):
        done = run("1", "--samples", "2", "--method", "grid_sync,graph_launch", bad="steps",
                   memory_mib=0.9)
        self.assertEqual(done.text.count("# note[no-size]: the smallest field needs --max-bytes "
                                         "262144\n"), 2)
        self.assertEqual([section.rows for section in done.sections], [[], []])
        self.assertEqual(done.code, 1)
        self.assertIn("error: wrong results in small fields of graph_launch, grid_sync\n", done.errors)

    def test_what_cannot_be_had_is_skipped(self):
        for lacks, method, tag in (
                (dict(cooperative=0), "grid_sync", "no-cooperative-launch"),
                (dict(capability=80, code=80), "programmatic_launch", "no-programmatic-launch"),
                (dict(gpus=2, peer="none"), "events_to_neighbors", "no-peer-access"),
                (dict(gpus=2, multi_device=0), "multi_cooperative_launch", "no-multi-device")):
            done = run(str(lacks.get("gpus", 1)), *SOME, "--method", method, **lacks)
            self.assertEqual(done.code, 4, done.errors)
            self.assertIn(f"# skipped[{tag}] {method} GPUcount=", done.text)

    def test_what_this_build_lacks_is_skipped(self):
        lacks = {method: tag for method, tag in (
            ("multi_grid_sync", "toolkit"), ("multi_grid_sync_tile", "toolkit"),
            ("nccl_send_recv", "library"), ("mpi_send_recv", "library"))
            if method not in planted.listed("Stencil")}
        for asked, expected in ((), lacks), (("--method", "grid_sync"), {}):
            for section in run("1", *SOME, *asked).sections:
                skipped = {said.method: said.tag for said in section.annotations
                           if said.kind == "skipped" and said.tag in ("toolkit", "library")}
                self.assertEqual(skipped, expected)

    def needs_nccl(self):
        if "nccl_send_recv" not in planted.listed("Stencil"):
            self.skipTest("no NCCL in this build")

    def test_a_failure_while_the_other_gpu_waits_for_it(self):
        self.needs_nccl()
        # The second GPU's call fails in its first steps; NCCL's kernels wait without end.
        for call, at, said in (("cudaLaunchKernel", 290, "cudaLaunchKernel on GPU 1 failed at "),
                               ("ncclGroupEnd", 60, "ncclSend and ncclRecv: ")):
            for mode in ("once", "stays"):
                done = run("2", *SOME, "--method", "nccl_send_recv", gpus=2, fail_call=call,
                           fail_gpu=1, fail_at=at, fail_mode=mode)
                self.assertEqual(done.code, 1)
                self.assertRegex(done.errors, rf"^Stencil: error: nccl_send_recv GPUcount=2: {said}.*\n$")

    def test_without_peer_access_nccl_carries_halos(self):
        self.needs_nccl()
        done = run("2", *SOME, gpus=2, peer="none")
        self.assertEqual(done.code, 0, done.errors)
        for section in done.sections:
            rows = {row["method"]: row["right"] for row in section.rows if row["GPUcount"] == "2"}
            self.assertEqual(rows, {**dict.fromkeys(UNORDERED, "nan"), "nccl_send_recv": "1"})

    def test_tiles_that_do_not_fit(self):
        done = run("1", "--samples", "2", "--max-bytes", "8M", "--method", "grid_sync_tile")
        self.assertEqual(done.code, 4)
        for section in done.sections:
            fit = [int(row["cells"]) for row in section.rows]
            skipped = [int(said.cells["cells"]) for said in section.annotations
                       if said.kind == "skipped" and said.method == "grid_sync_tile"]
            self.assertLessEqual(max(fit), 8 * 232448 // 8)
            self.assertGreater(min(skipped), 8 * 232448 // 8)

    def test_sizes_that_cannot_be(self):
        done = run("1", "--max-bytes", "1G")
        self.assertEqual(done.code, 2)
        self.assertIn("fields of 1073741824 bytes do not fit into the ", done.errors)
        for asked, code in ((262143, 2), (262144, 0)):
            done = run("1", "--samples", "2", "--max-bytes", str(asked), "--method", "grid_sync")
            self.assertEqual(done.code, code, done.errors)
            self.assertEqual("--max-bytes must be at least 262144 on" in done.errors, code == 2)


if __name__ == "__main__":
    if not (FOLDER / "Stencil").exists():
        print("no simulated programs: skipped")
        sys.exit(77)
    at_once.main()
