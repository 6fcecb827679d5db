"""GPU test: rows of Stencil with a process for each GPU, and that all processes end when one is
killed or stops.

usage: stencil_processes_test.py EXECUTABLE
"""
import shutil
import signal
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from gpu_processes import end_one, finish, gpus_of, start  # noqa: E402
from parts import environment, tsv  # noqa: E402

EXECUTABLE = Path(sys.argv.pop(1)).resolve()
HERE = ("peer_grid_sync", "peer_grid_sync_tile", "nccl_send_recv", "mpi_send_recv")


def command(*arguments):
    return ["mpirun", "--bind-to", "none", "-np", str(GPUS), EXECUTABLE, *arguments]


class StencilProcessesTest(unittest.TestCase):
    def test_rows(self):
        out = finish(command("--samples", "3", "--max-bytes", "64M"))
        methods = {method for method in HERE if method in LISTED}
        for section in tsv.parse(out):
            self.assertEqual({row["method"] for row in section.rows},
                             methods | {"none", "none_tile"})
            for row in section.rows:
                self.assertEqual((row["nodes"], row["processes"], row["GPUcount"]),
                                 ("1", str(GPUS), str(GPUS)))
                self.assertEqual(row["right"], "1" if row["method"] in HERE else "nan", row)
                # A store to another GPU and back, and less than a second.
                least = 1000 if row["method"] in HERE else 100
                self.assertTrue(least < float(row["m(step)"]) < 1e9, row)

    def check_end(self, method, number, expected):
        process = start(command("--method", method))
        self.addCleanup(process.kill)
        out = ""
        while f"\n{method}\t" not in out:  # larger fields, which take longer, come next
            line = process.stdout.readline()
            self.assertNotEqual(line, "", process.poll())
            out += line
        out += end_one(process, EXECUTABLE, number, expected)
        tsv.parse(out.encode())  # whole rows

    def test_a_process_is_killed(self):
        self.check_end("peer_grid_sync", signal.SIGKILL, "has ended without a word")

    def test_a_process_stops(self):
        method = "nccl_send_recv" if "nccl_send_recv" in LISTED else "mpi_send_recv"
        self.check_end(method, signal.SIGSTOP, "has been silent for 7 s")


if __name__ == "__main__":
    GPUS = gpus_of(EXECUTABLE)
    LISTED = environment.groups_of(EXECUTABLE)
    if GPUS < 2 or shutil.which("mpirun") is None or (
            "mpi_send_recv" not in LISTED):
        print("needs two GPUs and MPI")
        sys.exit(77)
    unittest.main()
