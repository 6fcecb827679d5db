"""GPU test: rows of Stencil with a process for each GPU, and that all processes end when one is
killed or stops.

usage: stencil_processes_test.py EXECUTABLE
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
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
HERE = ("peer_grid_sync", "peer_grid_sync_tile", "nccl_send_recv", "mpi_send_recv")


def alive(pid):
    try:
        return os.path.samefile(f"/proc/{pid}/exe", EXECUTABLE)
    except OSError:
        return False


def command(*arguments):
    return ["mpirun", "--bind-to", "none", "-np", str(GPUS), EXECUTABLE, *arguments]


class StencilProcessesTest(unittest.TestCase):
    def test_rows(self):
        done = subprocess.run(command("--samples", "3", "--max-bytes", "64M"), env=ENVIRONMENT,
                              timeout=600, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              encoding="utf-8")
        self.assertEqual(done.returncode, 0, done.stderr)
        methods = {method for method in HERE if method in LISTED}
        for section in tsv.parse(done.stdout.encode()):
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
        process = subprocess.Popen(
            command("--method", method), env=ENVIRONMENT,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        self.addCleanup(process.kill)
        out = ""
        while f"\n{method}\t" not in out:  # larger fields, which take longer, come next
            line = process.stdout.readline()
            self.assertNotEqual(line, "", process.poll())
            out += line
        pids = [int(path.name) for path in Path("/proc").iterdir()
                if path.name.isdigit() and alive(path.name)]
        self.assertEqual(len(pids), GPUS, process.poll())
        victim = pids[-1]
        os.kill(victim, number)
        start = time.monotonic()
        while any(alive(pid) for pid in pids if pid != victim):
            self.assertLess(time.monotonic() - start, 600)
            time.sleep(0.1)
        self.assertFalse(number == signal.SIGKILL and alive(victim))
        if number == signal.SIGSTOP:
            os.kill(victim, signal.SIGCONT)
        rest, errors = process.communicate(timeout=600)
        said = re.findall("(?m)^Stencil: error: .*", errors)
        self.assertEqual(len(said), 1, errors)
        self.assertIn(f"(PID {victim}) {expected}", said[0])
        tsv.parse((out + rest).encode())  # whole rows

    def test_a_process_is_killed(self):
        self.check_end("peer_grid_sync", signal.SIGKILL, "has ended without a word")

    def test_a_process_stops(self):
        method = "nccl_send_recv" if "nccl_send_recv" in LISTED else "mpi_send_recv"
        self.check_end(method, signal.SIGSTOP, "has been silent for 7 s")


if __name__ == "__main__":
    devices = subprocess.run([EXECUTABLE, "--devices"], capture_output=True, text=True)
    GPUS = len(devices.stdout.splitlines()) - 1
    LISTED = environment.groups_of(EXECUTABLE)
    if devices.returncode == 3 or GPUS < 2 or shutil.which("mpirun") is None or (
            "mpi_send_recv" not in LISTED):
        print("needs two GPUs and MPI")
        sys.exit(77)
    unittest.main()
