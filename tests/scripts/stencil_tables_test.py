"""Tests of the tables of docs/stencil.md, with made-up rows."""

import shutil
import sys
import tempfile
import unittest
from pathlib import Path

from made_up_rows import section

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from pages import stencil_tables  # noqa: E402

GPU = '# gpu[index=0 name="NVIDIA H200" sms=132]\n'
FIELD = "method GPUcount cells blk thrd med(step)"
SIZES = (2 ** 20, 2 ** 23, 2 ** 27)  # 8 MiB, 64 MiB, 1 GiB
WORKS = (1000, 8000, 64000)


def rows(method, gpus, steps):
    return [f"{method} {gpus} {cells} 132 1024 {step}" for cells, step in zip(SIZES, steps)]


class StencilTablesTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, more=()):
        for name in ("stencil", "launches", "grid_barriers"):
            (self.folder / name).mkdir(exist_ok=True)
        steps = section(
            "time steps 2D", FIELD, *rows("none", 1, WORKS), *rows("none", 2, WORKS),
            *rows("grid_sync", 1, [work + 1100 for work in WORKS]),
            *rows("graph_launch", 1, [work + 1600 for work in WORKS]),
            *rows("peer_grid_sync", 2, [work + 2000 for work in WORKS]),
            *rows("events_to_neighbors", 2, [9000, 12000, 68000]),
            *rows("graph_of_gpus", 2, [5000, 12000, 70000]),
            *rows("single_omp_traditional_launch", 2, [work + 11000 for work in WORKS]), *more)
        (self.folder / "stencil/made.tsv").write_text(GPU + steps)
        (self.folder / "grid_barriers/made.tsv").write_text(GPU + section(
            "grid latency", "method GPUcount blk thrd med(avginstru)", "grid_sync 1 132 1024 1000.0")
            + section("multi-GPU latency", "method GPUcount blk thrd med(avginstru)",
                      "peer_grid_sync 2 132 1024 2100.0"))
        (self.folder / "launches/made.tsv").write_text(GPU + section(
            "sleep kernel", "method GPUCount blk thrd idea(wkld) med(ovh)",
            "single_omp_traditional_launch 2 132 1024 5000 11000.0") + section(
            "dependent steps", "method GPUCount blk thrd idea(wkld) reads med(step)",
            *(f"graph_launch 1 {blocks} 256 {work} 1 {step}" for blocks in (1, 132)
              for work, step in ((0, 1400), (5000, 6500)))) + section(
            "between GPUs", "method GPUCount blk thrd idea(wkld) med(turns) med(held)",
            "events_to_all 2 132 1024 5000 7000.0 4000.0",
            "graph_of_gpus 2 132 1024 2000 3000.0 9000.0",
            "graph_of_gpus 2 132 1024 32000 5000.0 9000.0") + section(
            "null kernel", "method GPUCount rep blk thrd med(addl)",
            "traditional_launch 1 128 132 1024 3500", "event_wait 1 128 132 1024 4500",
            "traditional_launch 1 1 132 1024 nan"))

    def test_without_rows(self):
        for made in (stencil_tables.time_steps, stencil_tables.answer, stencil_tables.switches,
                     stencil_tables.errors):
            self.assertEqual(list(made(None, self.folder)), [stencil_tables.NONE])

    def test_measured_beside_predicted(self):
        self.write()
        lines = stencil_tables.time_steps(None, self.folder)
        self.assertEqual([line for line in lines if line.startswith("<details>")],
                         [f"<details><summary>made, 2D, {gpus}</summary>"
                          for gpus in ("1 GPU", "2 GPUs")])
        self.assertEqual([line for line in lines if line.startswith("| `")], [
            "| `grid_sync` | 2.10 / 2.00 | 9.10 / 9.00 | 65.1 / 65.0 |",
            "| `graph_launch` | 2.60 / 2.50 | 9.60 / 9.50 | 65.6 / 65.5 |",
            "| `peer_grid_sync` | 3.00 / 3.10 | 10.0 / 10.1 | 66.0 / 66.1 |",
            "| `events_to_neighbors` | 9.00 / 9.00 | 12.0 / 15.0 | 68.0 / 71.0 |",
            "| `graph_of_gpus` | 5.00 / 4.00 | 12.0 / 12.0 | 70.0 / 69.0 |",
            "| `single_omp_traditional_launch` | 12.0 / 12.0 | 19.0 / 19.0 | 75.0 / 75.0 |"])

    def test_answer(self):
        self.write([*rows("grid_sync_tile", 1, [1900, 8900])])
        self.assertEqual(list(stencil_tables.answer(None, self.folder))[2:], [
            "| 1 | 8.0 MiB to 64 MiB, in shared memory | `grid_sync_tile` | 1.08 to 1.37 times that |",
            "| 1 | 1.0 GiB | `grid_sync` | 1.01 times that |",
            "| 2 | 8.0 MiB to 64 MiB | `peer_grid_sync` | 1.20 to 1.67 times that |",
            "| 2 | 1.0 GiB | `peer_grid_sync` | 1.03 times that |"])

    def test_the_way_that_is_predicted_may_cost_more(self):
        self.write(rows("peer_grid_sync", 1, [work + 900 for work in WORKS]))
        path = self.folder / "grid_barriers/made.tsv"
        path.write_text(path.read_text() + "peer_grid_sync\t1\t132\t1024\t1200.0\n")
        self.assertEqual(list(stencil_tables.errors(None, self.folder))[2].split("|")[-2].strip(),
                         "10.5%")

    def test_size_from_which_launches_are_as_good(self):
        self.write()
        measured, predicted, ratio = [
            cell.strip() for cell in list(stencil_tables.switches(None, self.folder))[2].split("|")[2:5]]
        # 500 / 10000 is a twentieth: where a step in the kernel takes 10 us, which 64 MiB are next to.
        self.assertAlmostEqual(float(measured.split()[0]), 70, delta=4)
        self.assertAlmostEqual(float(predicted.split()[0]), 71, delta=4)
        self.assertAlmostEqual(float(ratio), 1, delta=0.05)

    def test_errors(self):
        self.write()
        self.assertEqual(list(stencil_tables.errors(None, self.folder))[2:],
                         ["| made | 18 | 25% | 25% of 9 | 0.0% |"])

    def test_what_has_no_rows_is_not_predicted(self):
        self.write(rows("programmatic_launch", 1, WORKS))
        self.assertIn("| `programmatic_launch` | 1.00 / – | 8.00 / – | 64.0 / – |",
                      list(stencil_tables.time_steps(None, self.folder)))


if __name__ == "__main__":
    unittest.main()
