"""Libraries as several processes on simulated GPUs: start, agreement, and that all end with one
error line when one fails, is killed, falls silent or waits without end.

usage: simulated_libraries_test.py FOLDER    FOLDER holds the simulated programs
"""
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import at_once
import planted
import processes
from processes import SECONDS, environment, together

FOLDER = planted.FOLDER = Path(sys.argv.pop(1)).resolve()
SHORT = ("--method", "mpi_launch,mpi_barrier", "--samples", "2")
OWN = ("--method", "peer_grid_sync", "--samples", "2")
NCCL = {"nccl_all_reduce_unregistered": 1000 + 8000, "nccl_graph_unregistered": 400 + 8000,
        "nccl_graph_registered": 400 + 2000, "nccl_lsa_block": 700, "nccl_lsa_grid": 2100}
OF_NCCL = ("--method", ",".join(NCCL), "--samples", "2")
WITH_NCCL = "nccl=8000 nccl_registered=2000 nccl_processes=1"


def long(method):
    return ("--method", method, "--samples", "1000000")


LONG = long("mpi_launch")


def words(*arguments, program=("Libraries",), **more):
    return processes.words(*arguments, program=program, **more)


def listens_at(pid):
    """The port of this node alone at which a process listens; None: at none."""
    sockets = {str(link.resolve().name) for link in Path(f"/proc/{pid}/fd").iterdir()}
    for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]:
        _, local, _, state, *rest = line.split()
        if state == "0A" and local.startswith("0100007F") and f"socket:[{rest[5]}]" in sockets:
            return int(local.split(":")[1], 16)
    return None


class Libraries(processes.Processes):
    program = "Libraries"
    sections = 1

    def rows(self, done):
        self.assertEqual(self.said(done.stderr), [])
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

    def test_own_barrier_needs_one_node(self):
        done = self.run_them([*self.two_nodes(), *words(3, *OWN)], 4)
        self.check_error(re.sub("Libraries: warning: .*", "", done.stderr),
                         "asked for and not measured: peer_grid_sync .*: it joins the GPUs of")
        self.assertIn("# skipped[several-nodes] peer_grid_sync ", done.stdout)

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

    def test_a_grid_that_one_process_has_no_room_for(self):
        parts = [words(1, *OWN, stand_in="blocks_per_sm=16" if number == 1 else None)
                 for number in range(3)]
        done = self.run_them(together(*parts), 4)
        self.assertEqual(self.check_own(done), [("3", "3", "4", "32"), ("3", "3", "4", "1024")])
        self.assertRegex(done.stdout, r"# skipped\[does-not-fit holds=16\] peer_grid_sync .*blk=128 ")

    def needs_nccl(self):
        if "# library[name=NCCL " not in self.alone(*OWN).stdout:
            self.skipTest("no NCCL in this build")

    def check_nccl(self, done, counts):
        """Each method costs what is planted, at each size; windows are of all GPUs, and given back."""
        self.assertNotIn("stand-in: ", done.stderr)
        section, = planted.tsv.parse(done.stdout.encode())
        for method, cost in NCCL.items():
            rows = [row for row in section.rows if row["method"] == method]
            shapes = 3 if "lsa" in method else 8
            self.assertEqual([row["GPUcount"] for row in rows],
                             [count for count in counts for _ in range(shapes)])
            for row in rows:
                self.assertAlmostEqual(float(row["m(op)"]), cost, delta=0.1, msg=row)

    def test_nccl_with_a_thread_for_each_gpu(self):
        self.needs_nccl()
        self.check_nccl(self.alone(*OF_NCCL, stand_in=WITH_NCCL), ["2", "3"])

    def test_nccl_with_a_process_for_each_gpu(self):
        self.needs_nccl()
        self.check_nccl(self.run_them(words(3, *OF_NCCL, stand_in=WITH_NCCL), 0), ["3"])

    def test_a_call_of_nccl_fails(self):
        """Those of destructors, too, of which the last is the fifth ncclCommDestroy()."""
        self.needs_nccl()
        register = "ncclMemAlloc and ncclCommWindowRegister"
        for call, method, said in (
                ("ncclCommDestroy", "nccl_graph_unregistered", None),
                ("ncclDevCommDestroy", "nccl_lsa_block", None),
                ("ncclCommWindowDeregister", "nccl_graph_registered", None),
                ("ncclMemFree", "nccl_graph_registered", None),
                ("ncclMemAlloc", "nccl_graph_registered", register),
                ("ncclCommWindowRegister", "nccl_graph_registered", register),
                ("ncclAllReduce", "nccl_graph_registered", None)):
            with self.subTest(call):
                done = self.alone("--method", method, "--samples", "1", code=1,
                                  stand_in=f"fail_call={call} fail_at={5 if 'Comm' in call else 2}")
                self.check_error(re.sub("Libraries: warning: .*", "", done.stderr),
                                 f"(.*: )?{said or call}: pretended error$")

    def test_nccl_without_windows(self):
        self.needs_nccl()
        parts = [words(1, *OF_NCCL, stand_in=WITH_NCCL + " nccl_windows=0" * (number == 1))
                 for number in range(3)]
        done = self.run_them(together(*parts), 4)
        self.assertIn("# skipped[no-window] nccl_graph_registered nodes=1 ", done.stdout)
        self.assertNotIn("\nnccl_graph_registered\t", done.stdout)
        self.assertIn("\nnccl_graph_unregistered\t", done.stdout)

    def alone(self, *arguments, stand_in="", code=0):
        done = subprocess.run(
            [FOLDER / "Libraries", "3", *arguments], timeout=SECONDS, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, encoding="utf-8",
            env=dict(environment(self.notes), STAND_IN="gpus=3 sms=4 " + stand_in))
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_a_launch_fails_while_others_wait(self):
        # The kernels of the others never end.
        done = self.alone(*OWN, "--limit", "3600", code=1, stand_in="bad=waits fail_gpu=1 "
                          "fail_at=5 fail_call=cudaLaunchCooperativeKernel")
        self.check_error(re.sub("Libraries: warning.*", "", done.stderr),
                         "peer_grid_sync .*: cudaLaunchCooperativeKernel on GPU 1 failed")
        self.check_whole(done.stdout)

    def test_a_wait_without_end_in_one_process(self):
        done = self.alone(*OWN, "--limit", "3", code=1, stand_in="hang=peer_grid_kernel")
        self.check_error(re.sub("Libraries: warning.*", "", done.stderr),
                         "peer_grid_sync .*: nothing has ended for 3 s, so a wait has no end")

    def test_one_process_among_one_is_alone(self):
        for asked, code in ((), 0), (("--method", "mpi_barrier"), 4):
            done = self.run_them(words(1, "--samples", "2", *asked), code)
            self.assertIn("# skipped[one-process] mpi_barrier: ", done.stdout)

    def test_what_is_noise_is_no_row(self):
        done = self.alone("--samples", "5", "--method", "peer_grid_sync", code=4,
                          stand_in="outliers=0.01 outlier=1e8")
        self.assertIn("# skipped[noise] peer_grid_sync ", done.stdout)
        self.assertIn("error: asked for and not measured: peer_grid_sync ", done.stderr)

    def test_the_slowest_clock_of_all_processes(self):
        parts = [words(1, *SHORT, "--stats", stand_in="halve_at=0" if rank == 1 else None)
                 for rank in range(3)]
        section, = planted.tsv.parse(self.run_them(together(*parts), 0).stdout.encode())
        self.assertEqual([row["clock"] for row in section.rows], ["990.0"] * 2)

    def test_processes_that_mpi_does_not_know(self):
        for number, expected in ("0", ["Libraries: error: 2 processes were started, of which MPI "
                                       "knows nothing (srun --mpi=pmix?)"]), ("1", []):
            done = subprocess.run(
                [FOLDER / "Libraries"], capture_output=True, timeout=SECONDS, encoding="utf-8",
                env=dict(environment(self.notes), SLURM_STEP_NUM_TASKS="2", SLURM_PROCID=number))
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertEqual(self.said(done.stderr), expected)

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
        for method, call, at in (("mpi_launch", "cudaLaunchKernel", 2000),
                                 ("peer_grid_sync", "cudaLaunchCooperativeKernel", 5)):
            for rank in range(3):
                parts = [words(1, *long(method), stand_in=f"fail_call={call} fail_at={at}"
                               if number == rank else None) for number in range(3)]
                done = self.run_them(together(*parts), 1)
                self.check_error(done.stderr, f"{method} .*: {call} on GPU")
                self.check_whole(done.stdout)

    def test_a_call_of_mpi_fails(self):
        self.check_failing_mpi(
            ("--method", "mpi_launch,mpi_barrier,peer_grid_sync", "--samples", "2"),
            {"provided": [1], "MPI_Init_thread": [1], "MPI_Comm_set_errhandler": [1],
             "MPI_Comm_rank": [1, 2], "MPI_Comm_size": [1], "MPI_Comm_split_type": [1],
             "MPI_Comm_free": [1], "MPI_Bcast": [1, 2], "MPI_Allgather": [1, 2, 3],
             "MPI_Allgatherv": [1, 2, 3, 4, 6, 8], "MPI_Barrier": [1, 2, 100, 300],
             "MPI_Finalize": [1]})

    def test_the_first_process_is_killed(self):
        self.check_killed(0, LONG, "# library")

    def test_another_process_is_killed(self):
        self.check_killed(2, LONG, "# library")

    def test_another_process_is_killed_while_kernels_wait_for_its(self):
        self.check_killed(2, long("peer_grid_sync"), "# library")

    def test_the_first_process_is_killed_on_two_nodes(self):
        self.check_killed(0, LONG, "# library", *self.two_nodes())

    def test_the_first_process_falls_silent(self):
        self.check_silent(0, LONG, "# library")

    def test_another_process_falls_silent(self):
        self.check_silent(1, LONG, "# library")

    def test_a_process_cannot_start(self):
        # Before MPI knows it.
        self.start(*SHORT, "--limit", "3", odd=1, first="set -- false")
        self.check_all_end([0, 1, 2], "not all processes have started within 3 s$")

    def test_strangers_connect(self):
        """Silent ones, and one who says something else, before the other processes do."""
        pids = self.start(*SHORT, first="export SLOW_BROADCAST=2 "
                          f"LD_PRELOAD={FOLDER / 'libfailing_mpi.so'}", odd="*")
        self.wait_for(lambda: listens_at(pids[0]))
        port = listens_at(pids[0])
        strangers = [socket.create_connection(("127.0.0.1", port))]
        strangers[0].sendall(b"GET / HTTP/1.0\r\n\r\n")
        for _ in range(8):  # some wait until there is room for them
            strangers.append(socket.socket())
            strangers[-1].setblocking(False)
            strangers[-1].connect_ex(("127.0.0.1", port))
        self.wait_for(lambda: None not in map(self.code, range(3)))
        for stranger in strangers:
            stranger.close()
        self.assertEqual([self.code(rank) for rank in range(3)], [0] * 3, self.err.read_text())

    def test_no_gpu_in_another_process(self):
        self.start(*SHORT, odd=2, first="export STAND_IN='gpus=3 sms=4 "
                   "fail_call=cudaGetDeviceCount fail_at=1 fail_code=100'")
        self.check_all_end([0, 1, 2], "no usable CUDA device", code=3)

    def check_signal_in_finalize(self, rank, number, expected):
        pids = self.start(*SHORT, odd=rank, first=f"export SIGNAL={int(number)} "
                          f"LD_PRELOAD={FOLDER / 'libfailing_mpi.so'}")
        others = [other for other in range(3) if other != rank]
        end = '# end[rows=2 sections="barriers of libraries"]'
        self.wait_for(lambda: end in self.out.read_text())
        self.check_all_end(others, rf"process {rank} \(PID {pids[rank]}\) {expected}$")

    def test_a_process_is_killed_in_finalize(self):
        self.check_signal_in_finalize(0, signal.SIGKILL, "has ended without a word")

    def test_a_process_stops_in_finalize(self):
        self.check_signal_in_finalize(1, signal.SIGSTOP, "has been silent for 7 s")

    def test_a_wait_without_end(self):
        self.start(*LONG, "--limit", "10",
                   stand_in="fail_call=cudaLaunchKernel fail_at=2000 fail_mode=hang")
        self.check_all_end(range(3), "mpi_launch.*: nothing has ended for 10 s")


if __name__ == "__main__":
    processes.require_mpi()
    at_once.main(12)
