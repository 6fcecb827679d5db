"""Programs as several processes on simulated GPUs, for the tests of these."""
import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import planted

ERRORS = {"provided": "this MPI allows no threads but the one that calls it$",
          "MPI_Finalize": "MPI_Finalize failed$"}
SECONDS = 600  # that anything is waited for
OPEN_MPI_4 = bool(shutil.which("mpirun")) and "(Open MPI) 4" in subprocess.run(
    ["mpirun", "--version"], capture_output=True, text=True).stdout
# Runs a command that may give the host another name, by which later versions tell nodes apart; ""
# where nothing does.
RENAMED = "" if OPEN_MPI_4 else next(
    (way for way in ("unshare --uts", "unshare -Ur --uts")
     if subprocess.run([*way.split(), "hostname", "first"], capture_output=True).returncode == 0), "")
# Starts the program and outlives it: mpirun would end the others when one has ended. The process
# ODD (a pattern) does something else first.
WRAPPER = """#!/bin/sh
case $OMPI_COMM_WORLD_RANK in $ODD) eval "$FIRST";; esac
"$@" &
echo $! >"$NOTES/pid.$OMPI_COMM_WORLD_RANK.part"
mv "$NOTES/pid.$OMPI_COMM_WORLD_RANK.part" "$NOTES/pid.$OMPI_COMM_WORLD_RANK"
wait $!
echo $? >"$NOTES/code.$OMPI_COMM_WORLD_RANK"
for i in $(seq 9000); do [ -e "$NOTES/go" ] && exit 0; sleep 0.1; done
"""
# In the place of ssh: it connects to no other node. Each has a folder of its own: daemons that
# make the same one at the same time fail.
REMOTE_SHELL = f"""#!/bin/bash
node=$1
export TMPDIR=$TMPDIR/$node
mkdir "$TMPDIR"
shift
exec {RENAMED} bash -c "{"hostname $node; " if RENAMED else ""}$*"
"""


def environment(folder, **more):
    # A folder of its own: an mpirun that ends tidies up what others of the user have there.
    return dict(os.environ, LD_LIBRARY_PATH=str(planted.FOLDER),
                OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1",
                PRTE_MCA_rmaps_default_mapping_policy="slot:oversubscribe",  # Open MPI 5
                # MPI leaks, and what a test preloads comes before the sanitizer.
                ASAN_OPTIONS="detect_leaks=0:verify_asan_link_order=0",
                TMPDIR=str(folder), STAND_IN="gpus=3 sms=4", **more)


def words(count, *arguments, program, stand_in=None):
    """A part of mpirun's command line: so many processes."""
    planned = ["env", f"STAND_IN=gpus=3 sms=4 {stand_in}"] if stand_in else []
    return ["-np", str(count), *planned, *map(str, program[:-1]), str(planted.FOLDER / program[-1]),
            *arguments]


def together(*parts):
    """Words for mpirun: each rank runs what its part says. Without a colon, at which that of Open MPI
    5.0 crashes."""
    all_words = [part[2:] for part in parts for _ in range(int(part[1]))]
    cases = " ".join(f"{rank}) exec {shlex.join(one)};;" for rank, one in enumerate(all_words))
    return ["-np", str(len(all_words)), "bash", "-c", f"case $OMPI_COMM_WORLD_RANK in {cases} esac"]


class Processes(unittest.TestCase):
    """Of `program`, whose output has at most so many `sections`."""

    program = None
    sections = None

    def setUp(self):
        self.notes = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.notes)
        shell = str(self.script("shell", REMOTE_SHELL))
        self.remote = {"OMPI_MCA_plm": "rsh", "OMPI_MCA_plm_rsh_agent": shell,
                       "PRTE_MCA_plm": "ssh", "PRTE_MCA_plm_ssh_agent": shell}  # Open MPI 5

    def script(self, name, text):
        path = self.notes / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def two_nodes(self):
        """Both are this one, by REMOTE_SHELL."""
        if not (RENAMED or OPEN_MPI_4):
            self.skipTest("no node can have a name of its own here")
        return "--host", "first:2,second:1"

    def run_them(self, command, code, folder=None):
        done = subprocess.run(["mpirun", *command], timeout=SECONDS,
                              env=environment(folder or self.notes, **self.remote),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def check_failing_mpi(self, arguments, calls):
        """A call fails in one process (its name: which times); the other two may wait for it."""
        def run(number, call, at):
            parts = [words(1, *arguments, program=(self.program,)) for _ in range(3)]
            parts[number % 2][2:2] = ["env", f"FAIL_MPI={call} {at}",
                                      f"LD_PRELOAD={planted.FOLDER / 'libfailing_mpi.so'}"]
            folder = self.notes / str(number)
            folder.mkdir()
            done = self.run_them(together(*parts), 1, folder)
            self.check_error(done.stderr, "(.*: )?" + ERRORS.get(call, call + ": MPI_ERR_OTHER"))
            self.check_whole(done.stdout)

        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(run, number, call, at) for number, (call, at) in enumerate(
                    (call, at) for call in calls for at in calls[call])]:
                done.result()

    def said(self, errors):
        """The lines of the program and of the stand-in: MPI may have its own."""
        return [line for line in errors.splitlines() if line.startswith((self.program, "stand-in"))]

    def check_error(self, errors, expected):
        said = [line for line in self.said(errors)
                if not line.startswith(f"{self.program}: not measured: ")]
        self.assertEqual(len(said), 1, errors)
        self.assertRegex(said[0], f"^{self.program}: error: " + expected)

    def check_whole(self, text):
        if not text:  # nothing has come so far
            return
        self.assertTrue(text.endswith("\n"), text[-100:])
        sections = planted.tsv.parse(text.encode())
        self.assertLessEqual(len(sections), self.sections)
        self.assertEqual(text.count("# simulated"), 1)

    def start(self, *arguments, stand_in=None, hosts=(), odd=-1, first=""):
        wrapper = self.script("wrapper", WRAPPER)
        program = (wrapper, self.program)
        self.out, self.err = self.notes / "out", self.notes / "err"
        with open(self.out, "w") as out, open(self.err, "w") as err:
            process = subprocess.Popen(
                ["mpirun", *hosts, *words(3, *arguments, program=program, stand_in=stand_in)],
                stdout=out, stderr=err,
                env=environment(self.notes, **self.remote, NOTES=str(self.notes), ODD=str(odd), FIRST=first))
        self.addCleanup(self.end, process)
        self.addCleanup((self.notes / "go").touch)
        self.wait_for(lambda: process.poll() is not None
                      or len(list(self.notes.glob("pid.[0-9]"))) == 3)
        self.assertIsNone(process.poll(), self.err.read_text())
        pids = [int((self.notes / f"pid.{rank}").read_text()) for rank in range(3)]
        for rank, pid in enumerate(pids):
            self.addCleanup(self.kill_if_there, rank, pid)
        return pids

    @staticmethod
    def end(process):
        """An mpirun whose processes have ended badly may itself not end."""
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def kill_if_there(self, rank, pid):
        if self.code(rank) is None:  # else the number may be that of another process
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def wait_for(self, true):
        end = time.monotonic() + SECONDS
        while not true():
            self.assertLess(time.monotonic(), end, self.err.read_text())
            time.sleep(0.05)

    def code(self, rank):
        """Of a process that has ended; else None."""
        path = self.notes / f"code.{rank}"
        return int(path.read_text() or -1) if path.exists() else None

    def check_all_end(self, others, expected, code=1):
        self.wait_for(lambda: None not in map(self.code, others))
        self.wait_for(lambda: f"{self.program}: error: " in self.err.read_text())
        time.sleep(0.1)  # for another one
        self.assertEqual([self.code(rank) for rank in others], [code] * len(others))
        self.check_error(self.err.read_text(), expected)
        self.check_whole(self.out.read_text())

    def check_killed(self, rank, long, said, *hosts):
        pids = self.start(*long, hosts=hosts)
        self.wait_for(lambda: said in self.out.read_text())
        time.sleep(0.5)
        os.kill(pids[rank], signal.SIGKILL)
        self.check_all_end([number for number in range(3) if number != rank],
                           rf"process {rank} \(PID {pids[rank]}\) has ended without a word$")

    def check_silent(self, rank, long, said):
        pids = self.start(*long)
        self.wait_for(lambda: said in self.out.read_text())
        os.kill(pids[rank], signal.SIGSTOP)
        silent = rf"process {rank} \(PID {pids[rank]}\) has been silent for 7 s$"
        self.check_all_end([number for number in range(3) if number != rank], silent)
        os.kill(pids[rank], signal.SIGCONT)
        self.wait_for(lambda: self.code(rank) == 1)
        self.check_error(self.err.read_text(), silent)  # it has nothing to add


def require_mpi():
    if shutil.which("mpirun") is None or "name=MPI" not in planted.output(
            "Libraries", "--samples", "2"):
        print("needs MPI, in the build and here")
        sys.exit(77)
