"""Libraries as several processes on simulated GPUs: start, agreement, and that all end with one
error line when one fails, is killed, falls silent or waits without end.

usage: simulated_libraries_test.py FOLDER    FOLDER holds the simulated programs
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import planted

FOLDER = planted.FOLDER = Path(sys.argv.pop(1)).resolve()
SECONDS_TO_END = 10
# Starts the program and outlives it: mpirun would end the others when one has ended. The process
# ODD does something else first.
WRAPPER = """#!/bin/sh
[ "$OMPI_COMM_WORLD_RANK" != "$ODD" ] || eval "$FIRST"
"$@" &
echo $! >"$NOTES/pid.$OMPI_COMM_WORLD_RANK.part"
mv "$NOTES/pid.$OMPI_COMM_WORLD_RANK.part" "$NOTES/pid.$OMPI_COMM_WORLD_RANK"
wait $!
echo $? >"$NOTES/code.$OMPI_COMM_WORLD_RANK"
for i in $(seq 400); do [ -e "$NOTES/go" ] && exit 0; sleep 0.1; done
"""
# A node's name in the place of a host to connect to. Each has a folder of its own: daemons that
# make the same one at the same time fail.
REMOTE_SHELL = """#!/bin/bash
export TMPDIR=$TMPDIR/$1
mkdir "$TMPDIR"
shift
exec bash -c "$*"
"""
LONG = ("--method", "mpi_launch", "--samples", "1000000")
SHORT = ("--method", "mpi_launch,mpi_barrier", "--samples", "2")
OWN = ("--method", "peer_grid_sync", "--samples", "2")


def environment(folder, **more):
    # A folder of its own: an mpirun that ends tidies up what others of the user have there.
    return dict(os.environ, OMP_WAIT_POLICY="passive", LD_LIBRARY_PATH=str(FOLDER),
                OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1",
                TMPDIR=str(folder), STAND_IN="gpus=3 sms=4", **more)


def words(count, *arguments, program=("Libraries",), stand_in=None):
    """A part of mpirun's command line: so many processes."""
    planned = ["-x", f"STAND_IN=gpus=3 sms=4 {stand_in}"] if stand_in else []
    return ["-np", str(count), *planned, *map(str, program[:-1]), str(FOLDER / program[-1]),
            *arguments]


def together(*parts):
    command = []
    for part in parts:
        command += [":"] * bool(command) + part
    return command


class Processes(unittest.TestCase):
    def setUp(self):
        self.notes = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.notes)

    def script(self, name, text):
        path = self.notes / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def two_nodes(self):
        """Both are this one: mpirun reaches them by a shell that connects to no other."""
        shell = self.script("shell", REMOTE_SHELL)
        return ("-mca", "plm_rsh_agent", str(shell), "--host", "first:2,second:1")

    def run_them(self, command, code, **more):
        done = subprocess.run(["mpirun", *command], timeout=100,
                              env=environment(self.notes, **more),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def check_error(self, errors, expected):
        said = [line for line in errors.splitlines() if line.startswith("Libraries")]
        self.assertEqual(len(said), 1, errors)
        self.assertRegex(said[0], "^Libraries: error: " + expected)

    def check_whole(self, text):
        if not text:  # nothing has come so far
            return
        self.assertTrue(text.endswith("\n"), text[-100:])
        sections = planted.tsv.parse(text.encode())
        self.assertLessEqual(len(sections), 1)
        self.assertEqual(text.count("# simulated"), 1)

    def rows(self, done):
        self.assertEqual(done.stderr, "")
        self.check_whole(done.stdout)
        section, = planted.tsv.parse(done.stdout.encode())
        return [(row["method"], row["nodes"], row["processes"], row["GPUcount"], row["blk"])
                for row in section.rows]

    def test_rows_of_one_node(self):
        done = self.run_them(words(3, *SHORT), 0)
        self.assertEqual(self.rows(done), [("mpi_barrier", "1", "3", "3", "nan"),
                                           ("mpi_launch", "1", "3", "3", "4")])
        places = re.findall(r"# process\[rank=(\d) node=(\d) index=(\d) [^\n]*\]\n", done.stdout)
        self.assertEqual(places, [("0", "0", "0"), ("1", "0", "1"), ("2", "0", "2")])
        self.assertNotIn(" host=", done.stdout)

    def test_rows_of_two_nodes(self):
        done = self.run_them([*self.two_nodes(), *words(3, *SHORT, "--hosts")], 0)
        self.assertEqual(self.rows(done), [("mpi_barrier", "2", "3", "3", "nan"),
                                           ("mpi_launch", "2", "3", "3", "4")])
        places = re.findall(r"rank=(\d) node=(\d) index=(\d) .* host=\S+\]\n", done.stdout)
        self.assertEqual(places, [("0", "0", "0"), ("1", "0", "1"), ("2", "1", "0")])

    def check_own(self, done):
        """Of this suite's barrier: the cost that is planted."""
        section, = planted.tsv.parse(done.stdout.encode())
        for row in section.rows:
            planned = 700 + (int(row["GPUcount"]) - 1) * 1000 / 1.98
            self.assertAlmostEqual(float(row["m(op)"]), planned, delta=0.1)
        return [(row["processes"], row["GPUcount"], row["blk"], row["thrd"])
                for row in section.rows]

    def test_own_barrier(self):
        shapes = (("4", "32"), ("4", "1024"), ("128", "64"))
        done = self.run_them(words(3, *OWN), 0)
        self.assertEqual(self.check_own(done), [("3", "3", *shape) for shape in shapes])
        alone = self.alone(*OWN)
        self.assertEqual(self.check_own(alone), [
            ("1", count, *shape) for count in ("2", "3") for shape in shapes])

    def test_own_barrier_needs_one_node(self):
        done = self.run_them([*self.two_nodes(), *words(3, *OWN)], 4)
        self.check_error(re.sub("Libraries: warning: .*", "", done.stderr),
                         "asked for and not measured: peer_grid_sync .*: it joins the GPUs of")
        self.assertIn("# skipped[several-nodes] peer_grid_sync ", done.stdout)

    def alone(self, *arguments, stand_in="", code=0):
        done = subprocess.run(
            [FOLDER / "Libraries", "3", *arguments], timeout=30, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, encoding="utf-8",
            env=dict(environment(self.notes), STAND_IN="gpus=3 sms=4 " + stand_in))
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_a_launch_fails_while_others_wait(self):
        # The kernels of the others never end.
        start = time.monotonic()
        done = self.alone(*OWN, code=1, stand_in="bad=waits fail_gpu=1 fail_at=5 "
                          "fail_call=cudaLaunchCooperativeKernel")
        self.assertLess(time.monotonic() - start, SECONDS_TO_END)
        self.check_error(re.sub("Libraries: warning.*", "", done.stderr),
                         "peer_grid_sync .*: cudaLaunchCooperativeKernel on GPU 1 failed")
        self.check_whole(done.stdout)

    def test_one_process_among_one_is_alone(self):
        done = self.run_them(words(1, "--samples", "2"), 0)
        self.assertIn("# skipped[one-process] mpi_barrier: ", done.stdout)

    def test_texts_are_written_once(self):
        self.assertEqual(self.run_them(words(3, "--list"), 0).stdout,
                         planted.output("Libraries", "--list"))

    def test_bad_arguments(self):
        for arguments, expected in (
                (("--samples", "0"), "--samples must be a whole number"),
                (("4", *SHORT), "requested 4 GPUs but there are 3 processes, with one each")):
            self.check_error(self.run_them(words(3, *arguments), 2).stderr, expected)

    def test_other_arguments(self):
        done = self.run_them(together(words(2, *SHORT), words(1, *SHORT, "--stats")), 2)
        self.check_error(done.stderr, "process 2 has other arguments, or is another build, than")
        done = self.run_them(together(words(2, *SHORT), words(1, "--help")), 2)
        self.check_error(done.stderr, "process 2 has other arguments")

    def test_a_gpu_has_one_process(self):
        done = self.run_them(words(4, *SHORT), 2)
        self.check_error(done.stderr, "two processes of a node have the same GPU")

    def test_a_process_fails(self):
        for rank in range(3):
            parts = [words(1, *LONG, stand_in="fail_call=cudaLaunchKernel fail_at=2000"
                           if number == rank else None) for number in range(3)]
            done = self.run_them(together(*parts), 1)
            self.check_error(done.stderr, "mpi_launch .*: cudaLaunchKernel on GPU")
            self.check_whole(done.stdout)

    def start(self, *arguments, stand_in=None, hosts=(), odd=-1, first=""):
        wrapper = self.script("wrapper", WRAPPER)
        program = (wrapper, "Libraries")
        self.out, self.err = self.notes / "out", self.notes / "err"
        with open(self.out, "w") as out, open(self.err, "w") as err:
            process = subprocess.Popen(
                ["mpirun", *hosts, *words(3, *arguments, program=program, stand_in=stand_in)],
                stdout=out, stderr=err,
                env=environment(self.notes, NOTES=str(self.notes), ODD=str(odd), FIRST=first))
        self.addCleanup(self.end, process)
        self.addCleanup((self.notes / "go").touch)
        self.wait_for(lambda: len(list(self.notes.glob("pid.[0-9]"))) == 3, 30)
        pids = [int((self.notes / f"pid.{rank}").read_text()) for rank in range(3)]
        for pid in pids:
            self.addCleanup(self.kill, pid, signal.SIGKILL)
        return pids

    @staticmethod
    def end(process):
        """An mpirun whose processes have ended badly may itself not end."""
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    @staticmethod
    def kill(pid, number):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass

    def wait_for(self, true, seconds):
        end = time.monotonic() + seconds
        while not true():
            self.assertLess(time.monotonic(), end, self.err.read_text())
            time.sleep(0.05)

    def code(self, rank):
        """Of a process that has ended; else None."""
        path = self.notes / f"code.{rank}"
        return int(path.read_text() or -1) if path.exists() else None

    def check_all_end(self, others, expected, seconds=SECONDS_TO_END, code=1):
        self.wait_for(lambda: None not in map(self.code, others), seconds)
        time.sleep(0.1)
        self.assertEqual([self.code(rank) for rank in others], [code] * len(others))
        self.check_error(self.err.read_text(), expected)
        self.check_whole(self.out.read_text())

    def check_killed(self, rank, *hosts):
        pids = self.start(*LONG, hosts=hosts)
        self.wait_for(lambda: "# library" in self.out.read_text(), 30)
        time.sleep(0.5)
        os.kill(pids[rank], signal.SIGKILL)
        self.check_all_end([number for number in range(3) if number != rank],
                           rf"process {rank} \(PID {pids[rank]}\) has ended without a word$")

    def test_the_first_process_is_killed(self):
        self.check_killed(0)

    def test_another_process_is_killed(self):
        self.check_killed(2)

    def test_the_first_process_is_killed_on_two_nodes(self):
        self.check_killed(0, *self.two_nodes())

    def test_another_process_is_killed_on_two_nodes(self):
        self.check_killed(2, *self.two_nodes())

    def check_silent(self, rank):
        pids = self.start(*LONG)
        self.wait_for(lambda: "# library" in self.out.read_text(), 30)
        os.kill(pids[rank], signal.SIGSTOP)
        self.check_all_end([number for number in range(3) if number != rank],
                           rf"process {rank} \(PID {pids[rank]}\) has been silent for 7 s$")
        os.kill(pids[rank], signal.SIGCONT)
        self.wait_for(lambda: self.code(rank) == 1, 5)

    def test_the_first_process_falls_silent(self):
        self.check_silent(0)

    def test_another_process_falls_silent(self):
        self.check_silent(1)

    def test_a_process_cannot_start(self):
        # Before MPI knows it.
        self.start(*SHORT, "--limit", "3", odd=1, first="set -- false")
        self.check_all_end([0, 1, 2], "not all processes have started within 3 s$")

    def check_no_gpu(self, rank):
        self.start(*SHORT, odd=rank, first="export STAND_IN='gpus=3 sms=4 "
                   "fail_call=cudaGetDeviceCount fail_at=1 fail_code=100'")
        self.check_all_end([0, 1, 2], "no usable CUDA device", code=3)

    def test_no_gpu_in_the_first_process(self):
        self.check_no_gpu(0)

    def test_no_gpu_in_another_process(self):
        self.check_no_gpu(2)

    def check_signal_in_finalize(self, rank, number, expected):
        pids = self.start(*SHORT, odd=rank, first=f"export SIGNAL={int(number)} "
                          f"LD_PRELOAD={FOLDER / 'libsignal_in_finalize.so'}")
        others = [other for other in range(3) if other != rank]
        self.wait_for(lambda: "# end[rows=2]" in self.out.read_text(), 30)
        self.check_all_end(others, rf"process {rank} \(PID {pids[rank]}\) {expected}$")

    def test_the_first_process_is_killed_in_finalize(self):
        self.check_signal_in_finalize(0, signal.SIGKILL, "has ended without a word")

    def test_another_process_is_killed_in_finalize(self):
        self.check_signal_in_finalize(2, signal.SIGKILL, "has ended without a word")

    def test_a_process_stops_in_finalize(self):
        self.check_signal_in_finalize(1, signal.SIGSTOP, "has been silent for 7 s")

    def test_a_wait_without_end(self):
        self.start(*LONG, "--limit", "3",
                   stand_in="fail_call=cudaLaunchKernel fail_at=2000 fail_mode=hang")
        self.check_all_end(range(3), "mpi_launch.*: nothing has ended for 3 s", 15)


if __name__ == "__main__":
    if shutil.which("mpirun") is None or "name=MPI" not in planted.output(
            "Libraries", "--samples", "2"):
        print("needs MPI, in the build and here")
        sys.exit(77)
    unittest.main()
