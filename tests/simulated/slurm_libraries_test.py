"""Libraries under srun, on two nodes of a Slurm of its own, both of which are this machine. It
needs Slurm with PMIx, MPI, and root.

usage: slurm_libraries_test.py FOLDER    FOLDER holds the simulated programs
"""
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import planted

FOLDER = planted.FOLDER = Path(sys.argv.pop(1)).resolve()
PROGRAM = FOLDER / "Libraries"
NODES = ("first", "second")
# Neither accounts nor passwords: it listens on this machine alone.
CONFIGURATION = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldPort={ports[0]}
SlurmctldParameters=node_reg_mem_percent=0
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName=first NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=4
NodeName=second NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=4
PartitionName=all Nodes=first,second Default=YES
"""


def free_ports(count):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


class Slurm:
    def __init__(self, folder):
        self.folder, self.configuration = folder, folder / "slurm.conf"
        self.configuration.write_text(CONFIGURATION.format(
            host=socket.gethostname(), folder=folder, ports=free_ports(3)))
        (folder / "mpi.conf").write_text(f"PMIxCliTmpDirBase={folder}/pmix\n")
        for name in ("pmix", "state", *NODES, *(name + ".pmix" for name in NODES)):
            (folder / name).mkdir()
        self.started = [self.start(["slurmctld", "-D", "-f", self.configuration])]
        for name in NODES:  # each with files of its own where the other has the same
            mount = f"mount --bind {folder}/{name}.pmix {folder}/pmix"
            self.started.append(self.start(
                ["unshare", "--mount", "sh", "-c",
                 f"{mount} && exec slurmd -D -f {self.configuration} -N {name}"]))

    def start(self, command):
        with open(self.folder / "log", "a") as log:
            return subprocess.Popen(command, stdout=log, stderr=log)

    def is_ready(self):
        end = time.monotonic() + 600
        while time.monotonic() < end and all(one.poll() is None for one in self.started):
            states = subprocess.run(["sinfo", "-h", "-N", "-o", "%T"], env=self.environment(),
                                    capture_output=True, text=True)
            if states.stdout.split() == ["idle"] * len(NODES):
                return True
            time.sleep(0.3)
        return False

    def environment(self):
        return dict(os.environ, SLURM_CONF=str(self.configuration),
                    LD_LIBRARY_PATH=str(FOLDER), STAND_IN="gpus=3 sms=4",
                    OMPI_MCA_mpi_yield_when_idle="1")

    def end(self):
        for one in reversed(self.started):
            one.terminate()
        for one in self.started:
            one.wait(600)


class UnderSrun(unittest.TestCase):
    def start(self, *arguments):
        process = subprocess.Popen(
            ["srun", "--mpi=pmix", "-N2", "-n3", PROGRAM, *arguments], env=SLURM.environment(),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        self.addCleanup(process.kill)
        return process

    def said(self, errors):
        return [line for line in errors.splitlines() if line.startswith("Libraries")]

    def test_rows_of_two_nodes(self):
        process = self.start("--method", "mpi_launch,mpi_barrier", "--samples", "2")
        out, errors = process.communicate(timeout=600)
        self.assertEqual((process.returncode, errors), (0, ""))
        section, = planted.tsv.parse(out.encode())
        self.assertEqual([(row["method"], row["nodes"], row["processes"], row["GPUcount"])
                          for row in section.rows],
                         [("mpi_barrier", "2", "3", "3"), ("mpi_launch", "2", "3", "3")])

    def test_bad_arguments(self):
        process = self.start("--samples", "0")
        _, errors = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 2)
        self.assertEqual(len(self.said(errors)), 1, errors)

    def check_ends(self, rank, number, expected):
        process = self.start("--method", "mpi_launch", "--samples", "1000000")
        for line in process.stdout:
            if line.startswith("# library"):
                break
        time.sleep(1)
        pids = dict(self.running())
        self.assertEqual(sorted(pids), ["0", "1", "2"])
        os.kill(pids[str(rank)], number)
        start = time.monotonic()
        while len(dict(self.running())) > (number == signal.SIGSTOP):
            self.assertLess(time.monotonic() - start, 600)
            time.sleep(0.1)
        if number == signal.SIGSTOP:
            os.kill(pids[str(rank)], signal.SIGCONT)
        _, errors = process.communicate(timeout=600)
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(len(self.said(errors)), 1, errors)
        self.assertRegex(self.said(errors)[0], rf"error: process {rank} \(PID .*\) {expected}")

    @staticmethod
    def running():
        """Numbers of the processes, and their PIDs."""
        for path in Path("/proc").iterdir():
            try:
                if path.name.isdigit() and (path / "exe").samefile(PROGRAM):
                    for word in (path / "environ").read_bytes().split(b"\0"):
                        if word.startswith(b"SLURM_PROCID="):
                            yield word.decode().partition("=")[2], int(path.name)
            except OSError:
                continue

    def test_the_first_process_is_killed(self):
        self.check_ends(0, signal.SIGKILL, "has ended without a word")

    def test_another_process_is_killed(self):
        self.check_ends(2, signal.SIGKILL, "has ended without a word")

    def test_a_process_falls_silent(self):
        self.check_ends(2, signal.SIGSTOP, "has been silent for 7 s")


def lacking():
    """Why nothing can be tested here; empty: it can."""
    if "pmix" not in subprocess.run(["srun", "--mpi=list"], env=SLURM.environment(), text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout:
        return "needs Slurm with PMIx"
    if "name=MPI" not in planted.output("Libraries", "--samples", "2"):
        return "needs MPI in the build"
    if not SLURM.is_ready():
        return "Slurm does not start:\n" + (SLURM.folder / "log").read_text()
    return ""


if __name__ == "__main__":
    if os.geteuid() != 0 or not all(map(shutil.which, ("slurmctld", "slurmd", "unshare"))):
        print("needs root and Slurm")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as scratch:
        SLURM = Slurm(Path(scratch))
        try:
            reason = lacking()
            if reason:
                print(reason)
                sys.exit(77)
            unittest.main()
        finally:
            SLURM.end()
