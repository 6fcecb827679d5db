"""GPU test: rows of Libraries, or of Stencil, with a process for each GPU, and that all processes
end when one is killed or stops.

usage: processes_test.py EXECUTABLE
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from parts import environment, tsv  # noqa: E402

EXECUTABLE = Path(sys.argv.pop(1)).resolve()
LIBRARIES = {"peer_grid_barrier": ("peer_grid_sync",),
             "NCCL": ("nccl_all_reduce_unregistered", "nccl_graph_unregistered",
                      "nccl_graph_registered", "nccl_lsa_block", "nccl_lsa_grid"),
             "NVSHMEM": ("nvshmem_sync_block", "nvshmem_barrier_block", "nvshmem_sync_grid",
                         "nvshmem_barrier_grid", "nvshmem_sync_stream", "nvshmem_barrier_stream",
                         "nvshmem_sync_host", "nvshmem_barrier_host"),
             "MPI": ("mpi_barrier", "mpi_launch")}
BY_PROCESS = LIBRARIES["NVSHMEM"] + LIBRARIES["MPI"]
STEPS = ("peer_grid_sync", "peer_grid_sync_tile", "nccl_send_recv", "mpi_send_recv")
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
PIPES = dict(env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")


def gpus_of(executable):
    """How many GPUs it sees."""
    devices = subprocess.run([executable, "--devices"], capture_output=True, text=True)
    return 0 if devices.returncode == 3 else len(devices.stdout.splitlines()) - 1


def runs_it(pid):
    try:
        return os.path.samefile(f"/proc/{pid}/exe", EXECUTABLE)
    except OSError:
        return False


class ProcessesTest(unittest.TestCase):
    long = ("--samples", "1000000")  # for hours

    def command(self, processes, *arguments):
        if processes == 1:
            return [EXECUTABLE, str(GPUS), *arguments]
        return ["mpirun", "--bind-to", "none", "-np", str(processes), EXECUTABLE, *arguments]

    def output(self, processes, *arguments):
        done = subprocess.run(self.command(processes, *arguments), timeout=600, **PIPES)
        self.assertEqual(done.returncode, 0, done.stderr)
        return tsv.parse(done.stdout.encode())

    def check_end(self, method, number, expected):
        """The last process gets a signal: all others end, and `expected` is what one alone says
        of it."""
        process = subprocess.Popen(self.command(GPUS, *self.long, "--method", method), **PIPES)
        self.addCleanup(process.kill)
        read = self.wait_for_kernels(process, method)
        pids = [int(path.name) for path in Path("/proc").iterdir()
                if path.name.isdigit() and runs_it(path.name)]
        self.assertEqual(len(pids), GPUS, process.poll())
        victim = pids[-1]
        os.kill(victim, number)
        start = time.monotonic()
        while any(runs_it(pid) for pid in pids if pid != victim or number == signal.SIGKILL):
            self.assertLess(time.monotonic() - start, 600, pids)
            time.sleep(0.1)
        if number == signal.SIGSTOP:
            os.kill(victim, signal.SIGCONT)
        out, errors = process.communicate(timeout=600)
        said, = re.findall(rf"(?m)^{EXECUTABLE.name}: error: .*", errors)
        self.assertIn(f"(PID {victim}) {expected}", said)
        tsv.parse((read + out).encode())  # whole rows

    def wait_for_kernels(self, _process, _method):
        """Until the kernels of a method run. Returns what it has read of the output."""
        time.sleep(20)
        return ""

    def check_killed(self, method):
        self.check_end(method, signal.SIGKILL, "has ended without a word")

    def needs_mpi(self):
        if shutil.which("mpirun") is None:
            self.skipTest("no mpirun")
        if subprocess.run(self.command(GPUS, "--list"), timeout=600, **PIPES).returncode != 0:
            self.skipTest("no MPI in this build")


@unittest.skipIf(EXECUTABLE.name != "Libraries", "of another program")
class LibrariesTest(ProcessesTest):
    def check(self, processes):
        found = self.output(processes, "--samples", "5")
        section, = found
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
        self.check_order({(row["method"], row["bytes"], row["blk"], row["thrd"]): float(row["m(op)"])
                          for row in section.rows if row["GPUcount"] == str(GPUS)})

    def check_order(self, rows):
        """More work takes longer."""
        for (method, *_), time_ns in rows.items():
            if method in ("nccl_lsa_grid", "nvshmem_barrier_grid"):
                part = method.replace("grid", "block")
                less = [other for key, other in rows.items() if key[0] == part]
                self.assertGreater(time_ns, min(less), method)
            if method == "mpi_launch":
                self.assertGreater(time_ns, rows["mpi_barrier", "nan", "nan", "nan"])

    def test_one_process(self):
        self.assertEqual(LISTED.keys(), {one for them in LIBRARIES.values() for one in them})
        self.check(1)

    def test_a_process_for_each_gpu(self):
        self.needs_mpi()
        self.check(GPUS)

    def test_a_process_is_killed_in_a_kernel(self):
        self.needs_mpi()
        listed = self.output(GPUS, "--samples", "2", "--method", "mpi_barrier").head("library")
        built = {values["name"] for values in listed}
        self.check_killed("peer_grid_sync")
        if built & {"NVSHMEM", "NCCL"}:
            self.check_killed("nvshmem_barrier_grid" if "NVSHMEM" in built else "nccl_lsa_grid")


@unittest.skipIf(EXECUTABLE.name != "Stencil", "of another program")
class StencilTest(ProcessesTest):
    long = ()

    def wait_for_kernels(self, process, method):
        """Of its first, small field there is a row; larger ones take longer."""
        read = ""
        while f"\n{method}\t" not in read:
            line = process.stdout.readline()
            self.assertNotEqual(line, "", process.poll())
            read += line
        return read

    def test_rows(self):
        steps = {method for method in STEPS if method in LISTED}
        for section in self.output(GPUS, "--samples", "3", "--max-bytes", "64M"):
            self.assertEqual({row["method"] for row in section.rows}, {*steps, "none", "none_tile"})
            for row in section.rows:
                self.assertEqual((row["nodes"], row["processes"], row["GPUcount"]),
                                 ("1", str(GPUS), str(GPUS)))
                self.assertEqual(row["right"], "1" if row["method"] in steps else "nan", row)
                # A store to another GPU and back, and less than a second.
                least = 1000 if row["method"] in steps else 100
                self.assertTrue(least < float(row["m(step)"]) < 1e9, row)

    def test_a_process_is_killed(self):
        self.check_killed("peer_grid_sync")

    def test_a_process_stops(self):
        method = "nccl_send_recv" if "nccl_send_recv" in LISTED else "mpi_send_recv"
        self.check_end(method, signal.SIGSTOP, "has been silent for 7 s")


if __name__ == "__main__":
    GPUS = gpus_of(EXECUTABLE)
    LISTED = environment.groups_of(EXECUTABLE)
    if GPUS < 2:
        print("needs two GPUs")
        sys.exit(77)
    if EXECUTABLE.name == "Stencil" and not (shutil.which("mpirun") and "mpi_send_recv" in LISTED):
        print("needs MPI")
        sys.exit(77)
    unittest.main()
