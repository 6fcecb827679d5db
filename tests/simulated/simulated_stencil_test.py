"""Stencil as several processes on simulated GPUs: what makes sense there and what not, that its
results are right and all processes decide alike, and that all end when one fails. Where one is
killed or falls silent, the code is that of Libraries, which has a test of it.

usage: simulated_stencil_test.py FOLDER    FOLDER holds the simulated programs
"""
import re
import sys
from pathlib import Path

import at_once
import planted
import processes
from processes import together

planted.FOLDER = Path(sys.argv.pop(1)).resolve()
SMALL = ("--samples", "2", "--max-bytes", "140K")
OWN = ("peer_grid_sync", "peer_grid_sync_tile")
# MPI's messages between processes that share CPUs take long.
WITHOUT_MPI = (*SMALL, "--method", ",".join((*OWN, "none")))
HERE = {*OWN, "none", "none_tile", "mpi_send_recv"}
STEP, BANDWIDTH, GPU = 700, 2000, 1000 / 1.98  # as they are planted: ns, GB/s


def words(*arguments, **more):
    return processes.words(*arguments, program=("Stencil",), **more)


def one_other(*arguments, stand_in, rank=1):
    """Of three processes one has other GPUs."""
    return together(*(words(1, *arguments, stand_in=stand_in if number == rank else None)
                      for number in range(3)))


def long(method):
    return ("--method", method, "--samples", "1000000", "--max-bytes", "1M")


class Stencil(processes.Processes):
    program = "Stencil"
    sections = 2

    def of(self, done):
        self.assertNotIn("stand-in:", done.stderr)
        self.check_whole(done.stdout)
        self.assertIn("\n# end[", done.stdout)
        found = planted.tsv.parse(done.stdout.encode())
        self.assertEqual([section.title for section in found], ["time steps 2D", "time steps 3D"])
        for section in found:
            self.assertEqual(section.header[13:], ["right", "nodes", "processes"])
        return found

    def check_rows(self, done, methods, nodes):
        for section in self.of(done):
            self.assertEqual({row["method"] for row in section.rows}, methods)
            for row in section.rows:
                self.assertEqual((row["nodes"], row["processes"], row["GPUcount"]), (nodes, "3", "3"))
                moved = 8 * int(row["cells"]) / BANDWIDTH
                if row["method"].startswith("none"):
                    self.assertAlmostEqual(float(row["m(step)"]), moved, delta=0.1)
                    continue
                self.assertEqual(row["right"], "1")
                if row["method"] in OWN:
                    self.assertAlmostEqual(float(row["m(step)"]), moved + STEP + 2 * GPU, delta=0.1)
                else:
                    self.assertGreater(float(row["m(step)"]), moved + 100)

    def test_rows_of_one_node(self):
        done = self.run_them(words(3, *SMALL, "--hosts"), 0)
        self.check_rows(done, HERE, "1")
        places = re.findall(r"rank=(\d) node=(\d) index=(\d) .* host=\S+\]\n", done.stdout)
        self.assertEqual(places, [("0", "0", "0"), ("1", "0", "1"), ("2", "0", "2")])
        known = set(planted.listed("Stencil")) - HERE - {"nccl_send_recv"}
        for section in self.of(done):
            skipped = {said.method for said in section.annotations
                       if said.kind == "skipped" and said.tag == "processes"}
            self.assertEqual(skipped, known)

    def test_rows_of_two_nodes(self):
        done = self.run_them([*self.two_nodes(), *words(3, *SMALL)], 0)
        self.check_rows(done, HERE - {*OWN}, "2")
        for method in OWN:
            self.assertIn(f"# skipped[several-nodes] {method} GPUcount=3: ", done.stdout)

    def test_no_access_to_the_memory_of_others(self):
        done = self.run_them(words(3, *WITHOUT_MPI, stand_in="peer=none"), 4)
        self.check_rows(done, {"none"}, "1")
        for method in OWN:
            self.assertRegex(done.stdout, rf"# skipped\[no-peer-access\] {method} GPUcount=3: "
                             r"process \d: it cannot access the memory of process \d")

    def test_no_cuda_ipc(self):
        command = one_other(*WITHOUT_MPI, stand_in="fail_call=cudaIpcGetMemHandle "
                            "fail_at=1 fail_code=801 fail_mode=stays")
        # All give up at the end, process 0, which writes slowly, the last.
        command[2:2] = ["env", "WRITE_MS=100",
                        f"LD_PRELOAD={planted.FOLDER / 'libfaulty_writes.so'}"]
        done = self.run_them(command, 4)
        self.check_rows(done, {"none"}, "1")
        for method in OWN:
            self.assertIn(f"# skipped[no-peer-access] {method} GPUcount=3: "
                          "process 1: it has no CUDA IPC", done.stdout)

    def test_a_failure_to_share_memory_is_no_reason_to_skip(self):
        # The first cudaMalloc is of the watch on the SM clock.
        for call, at in (("cudaMalloc", 2), ("cudaMemset", 1), ("cudaIpcGetMemHandle", 1)):
            for rank in (0, 2):
                done = self.run_them(one_other(
                    *SMALL, rank=rank, stand_in=f"fail_call={call} fail_at={at}"), 1)
                self.check_error(done.stderr, rf".*process {rank}: .*{call}: ")
                self.check_whole(done.stdout)

    def test_one_process_has_no_mpi(self):
        done = self.run_them(words(1, *SMALL, "--method", "mpi_send_recv"), 4)
        self.assertIn("# skipped[one-process] mpi_send_recv: ", done.stdout)

    def test_a_way_of_one_process_that_was_asked_for(self):
        done = self.run_them(words(3, *SMALL, "--method", "grid_sync"), 4)
        self.assertIn("# skipped[processes] grid_sync: ", done.stdout)

    def test_a_wrong_result_of_one_process(self):
        for method in ("mpi_send_recv", "peer_grid_sync"):
            done = self.run_them(one_other(*SMALL, "--method", method, stand_in="bad=steps"), 1)
            rows = [row for section in self.of(done) for row in section.rows]
            self.assertEqual({(row["method"], row["right"]) for row in rows}, {(method, "0")})
            self.assertIn(f"Stencil: error: wrong results in {len(rows)} rows", done.stderr)

    def test_the_smallest_memory_counts(self):
        done = self.run_them(one_other("--samples", "2", "--method", "peer_grid_sync",
                                       stand_in="memory_mib=16"), 0)
        sizes = [8 * int(row["cells"]) for section in self.of(done) for row in section.rows]
        self.assertTrue(2 ** 21 < max(sizes) <= 2 ** 22, sizes)

    def test_the_clock_of_another_process_counts(self):
        done = self.run_them(one_other(*SMALL, "--method", "peer_grid_sync",
                                       stand_in="halve_at=0.001"), 0)
        self.assertRegex(done.stdout, r"# warning\[slow-clock gpu=1 mhz=990 full=1980 attempts=3")

    def test_a_process_fails(self):
        for method, call, at in (("mpi_send_recv", "cudaMemcpyAsync", 20),
                                 ("mpi_send_recv", "cudaLaunchKernel", 300),
                                 ("peer_grid_sync", "cudaLaunchCooperativeKernel", 20)):
            for rank in (0, 2):
                done = self.run_them(one_other(
                    *long(method), rank=rank, stand_in=f"fail_call={call} fail_at={at}"), 1)
                self.check_error(done.stderr, f"{method} .*: {call} on GPU {rank} failed")
                self.check_whole(done.stdout)

    def test_a_call_of_mpi_fails(self):
        self.check_failing_mpi((*SMALL, "--method", "mpi_send_recv"), {
            "MPI_Irecv": [1, 9], "MPI_Isend": [1, 9], "MPI_Waitall": [1, 9]})


if __name__ == "__main__":
    processes.require_mpi()
    at_once.main(12)
