"""GPU test: rows of Libraries, in one process and in one for each GPU, and that all processes end
when one is killed inside a library's kernel.

usage: libraries_test.py EXECUTABLE
"""
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from gpu_processes import ENVIRONMENT, end_one, finish, gpus_of, start  # noqa: E402
from parts import environment, tsv  # noqa: E402

EXECUTABLE = Path(sys.argv.pop(1)).resolve()
HEADER = "method nodes processes GPUcount bytes blk thrd m(op) s(op)".split()
LIBRARIES = {"peer_grid_barrier": ("peer_grid_sync",),
             "NCCL": ("nccl_all_reduce_unregistered", "nccl_graph_unregistered",
                      "nccl_graph_registered", "nccl_lsa_block", "nccl_lsa_grid"),
             "NVSHMEM": ("nvshmem_sync_block", "nvshmem_barrier_block", "nvshmem_sync_grid",
                         "nvshmem_barrier_grid", "nvshmem_sync_stream", "nvshmem_barrier_stream",
                         "nvshmem_sync_host", "nvshmem_barrier_host"),
             "MPI": ("mpi_barrier", "mpi_launch")}
BY_PROCESS = LIBRARIES["NVSHMEM"] + LIBRARIES["MPI"]


class LibrariesTest(unittest.TestCase):
    def command(self, processes, *arguments):
        if processes == 1:
            return [EXECUTABLE, str(GPUS), *arguments]
        return ["mpirun", "-np", str(processes), EXECUTABLE, *arguments]

    def output(self, processes, *arguments):
        return tsv.parse(finish(self.command(processes, *arguments)))

    def check(self, processes):
        found = self.output(processes, "--samples", "5")
        section, = found
        self.assertEqual(section.header, HEADER)
        built = {values["name"] for values in found.head("library")}
        wanted = {method for library in built for method in LIBRARIES[library]
                  if processes > 1 or method not in BY_PROCESS}
        skipped = {said.method for said in section.annotations if said.kind == "skipped"
                   and (said.tag in ("noise", "no-window") or "lsa" in said.method)}
        measured = {row["method"] for row in section.rows}
        self.assertEqual(wanted - measured - skipped, set())
        self.assertLessEqual(measured, wanted)
        counts = {GPUS} if processes > 1 else set(range(2, GPUS + 1))
        for row in section.rows:
            self.assertEqual((row["nodes"], row["processes"]), ("1", str(processes)))
            self.assertIn(int(row["GPUcount"]), counts)
            # No barrier of several GPUs takes less than a store to another one, or a second.
            least = 50 if row["method"] == "mpi_barrier" else 500
            self.assertTrue(least < float(row["m(op)"]) < 1e9, row)
        return {(row["method"], row["bytes"], row["blk"], row["thrd"]): float(row["m(op)"])
                for row in section.rows if row["GPUcount"] == str(GPUS)}

    def check_order(self, rows):
        """More work takes longer."""
        for (method, size, blocks, threads), time_ns in rows.items():
            if method in ("nccl_lsa_grid", "nvshmem_barrier_grid"):
                part = method.replace("grid", "block")
                less = [other for key, other in rows.items() if key[0] == part]
                self.assertGreater(time_ns, min(less), method)
            if method == "mpi_launch":
                self.assertGreater(time_ns, rows["mpi_barrier", "nan", "nan", "nan"])

    def test_one_process(self):
        self.check_order(self.check(1))

    def test_a_process_for_each_gpu(self):
        self.needs_mpi()
        self.check_order(self.check(GPUS))

    def test_a_process_is_killed_in_a_kernel(self):
        self.needs_mpi()
        listed = self.output(GPUS, "--samples", "2", "--method", "mpi_barrier").head("library")
        built = {values["name"] for values in listed}
        for method in ("peer_grid_sync", "nvshmem_barrier_grid" if "NVSHMEM" in built else
                       "nccl_lsa_grid" if "NCCL" in built else None):
            if method:
                with self.subTest(method=method):
                    self.check_killed(method)

    def check_killed(self, method):
        process = start(self.command(GPUS, "--samples", "1000000", "--method", method))
        time.sleep(20)
        out = end_one(process, EXECUTABLE, signal.SIGKILL, "has ended without a word")
        tsv.parse(out.encode())  # whole rows

    def needs_mpi(self):
        if shutil.which("mpirun") is None:
            self.skipTest("no mpirun")
        if subprocess.run(self.command(GPUS, "--list"), env=ENVIRONMENT, timeout=600,
                          capture_output=True).returncode != 0:
            self.skipTest("no MPI in this build")


if __name__ == "__main__":
    GPUS = gpus_of(EXECUTABLE)
    if GPUS < 2:
        print("needs two GPUs")
        sys.exit(77)
    assert set(environment.groups_of(EXECUTABLE)) == {
        method for methods in LIBRARIES.values() for method in methods}
    unittest.main()
