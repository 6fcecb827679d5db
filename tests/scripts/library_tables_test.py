"""Tests of the table of barriers of libraries in docs/clusters.md, with made-up rows."""

import shutil
import sys
import tempfile
import unittest
from pathlib import Path

from made_up_rows import section

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from pages import library_tables  # noqa: E402

GPU = '# gpu[index=0 name="NVIDIA H200" sms=132]\n'
LIBRARY = "method nodes processes GPUcount bytes blk thrd med(op)"
GRID = "method GPUcount blk thrd med(avginstru)"


class LibraryTablesTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ("libraries", "grid_barriers", "made4"):
            (self.folder / name).mkdir()
        self.write("libraries/made2.tsv", "barriers of libraries", LIBRARY,
                   "nccl_graph_unregistered 1 1 2 4 nan nan 5600.4",
                   "nccl_graph_unregistered 1 1 2 8 nan nan 5700.4",
                   "nccl_graph_registered 1 1 2 8 nan nan 2300.4",
                   "nccl_lsa_grid 1 1 2 nan 132 32 3200.6", "nccl_lsa_grid 1 1 2 nan 4224 64 19000.0")
        self.write("grid_barriers/made2.tsv", "multi-GPU latency", GRID,
                   "peer_grid_sync 1 132 32 900.0", "peer_grid_sync 2 132 32 2100.0")

    def write(self, name, title, header, *rows):
        (self.folder / name).write_text(GPU + section(title, header, *rows))

    def table(self):
        """([cells of the head], {(what, method): cells}, lines below)"""
        lines = list(library_tables.by_start(None, self.folder))
        rows = [[cell.strip() for cell in line.strip("|").split("|")]
                for line in lines if line.startswith("|")]
        return rows[0][2:], {tuple(row[:2]): row[2:] for row in rows[2:]}, [
            line for line in lines if line and not line.startswith("|")]

    def test_threads_alone(self):
        head, rows, below = self.table()
        self.assertEqual(head, ["2 H200, threads"])
        self.assertEqual(rows, {
            (library_tables.ADDED, "`nccl_graph_unregistered`"): ["5700"],
            (library_tables.ADDED, "`nccl_graph_registered`"): ["2300"],
            (library_tables.ONE, "`nccl_lsa_grid`"): ["3201"],
            (library_tables.ONE, "`peer_grid_sync`"): ["2100"],
            (library_tables.MANY, "`nccl_lsa_grid`"): ["19000"]})
        self.assertEqual(below, [library_tables.NO_PROCESSES])

    def test_processes_and_nodes(self):
        """The suite's own barrier among processes is that of Libraries."""
        self.write("libraries/made2.processes.tsv", "barriers of libraries", LIBRARY,
                   "nccl_graph_unregistered 1 2 2 8 nan nan 6000.0",
                   "mpi_barrier 1 2 2 nan nan nan 700.0",
                   "peer_grid_sync 1 2 2 nan 132 32 2500.0")
        self.write("libraries/made4.tsv", "barriers of libraries", LIBRARY,
                   "nccl_graph_unregistered 1 1 2 8 nan nan 1.0",
                   "nccl_graph_unregistered 1 1 4 8 nan nan 7700.0")
        self.write("made4/BenchmarkInterSM.tsv", "multi-GPU latency", GRID,
                   "peer_grid_sync 4 132 32 2300.0")
        self.write("libraries/made4.nodes.tsv", "barriers of libraries", LIBRARY,
                   "mpi_barrier 2 8 8 nan nan nan 9000.0")
        head, rows, below = self.table()
        self.assertEqual(head, ["2 H200, threads", "2 H200, processes", "4 H200, threads",
                                "2x4 H200, processes"])
        self.assertEqual(rows, {
            (library_tables.ADDED, "`nccl_graph_unregistered`"): ["5700", "6000", "7700", "–"],
            (library_tables.ADDED, "`nccl_graph_registered`"): ["2300", "–", "–", "–"],
            (library_tables.ONE, "`nccl_lsa_grid`"): ["3201", "–", "–", "–"],
            (library_tables.ONE, "`peer_grid_sync`"): ["2100", "2500", "2300", "–"],
            (library_tables.MANY, "`nccl_lsa_grid`"): ["19000", "–", "–", "–"],
            ("processes, on the host", "`mpi_barrier`"): ["–", "700", "–", "9000"]})
        self.assertEqual(below, [])

    def test_the_recorded_rows(self):
        """Each method that is recorded has a line."""
        self.folder = Path(__file__).resolve().parents[2] / "results"
        recorded = {row["method"] for start in library_tables.starts(self.folder)
                    for row in start.rows if "nodes" in row}
        shown = {method.strip("`") for _, method in self.table()[1]}
        self.assertGreater(len(recorded), 3)
        self.assertEqual(recorded - shown, set())


if __name__ == "__main__":
    unittest.main()
