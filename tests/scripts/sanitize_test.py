"""Tests of sanitize.py with a made-up compute-sanitizer: does it run and notice what it says?"""

import shutil
import time
import unittest
from pathlib import Path

from scripts_support import ScriptsTest, lives

# As the real one: a log with a sum at its end. $FAKES/TOOL changes what a tool does.
SANITIZER = r"""#!/bin/sh
tool=$2 gpus=1
shift 2
if [ $tool = memcheck ]; then shift 2; fi
program=${1##*/}
shift
echo "$tool $program $*" >>"$LOG"
case $1 in [0-9]) gpus=$1 ;; esac
rows="grid_sync	$gpus	2" sum="ERROR SUMMARY: 0 errors" code=0
case "$program $*" in
  Reduction*" cub") rows="cub	float	1	2" ;;
  Reduction*) rows="peer_grid	float	$gpus	2" ;;
esac
if [ $tool = racecheck ]; then sum="RACECHECK SUMMARY: 0 hazards displayed (0 errors)"; fi
if [ -e "$FAKES/$tool" ]; then . "$FAKES/$tool"; fi
echo "$rows"
echo "========= $sum"
exit $code
"""
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")


class SanitizeTest(ScriptsTest):
    def setUp(self):
        super().setUp()
        self.tool("compute-sanitizer", SANITIZER)

    def sanitize(self, *arguments, code=0):
        """The lines of the table after its header."""
        done = self.script("sanitize.py", "--build-dir", self.release, *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.errors, lines = done.stderr, done.stdout.splitlines()
        self.assertEqual(lines[0], "\t".join(("executable", "GPUs", *TOOLS)))
        return lines[1:]

    def test_clean(self):
        # Names of two sizes, of which one may be checked, and another program's method.
        self.write_methods(self.release, "semaphore grid 1", "peer_grid_sync gpus 1",
                           "adder thread 1", "blocksync block 1", "blocksync block 1",
                           "cluster_sync cluster 1", "unmet block 1", "unmet block 0",
                           "mixed warp 0", "mixed warp 1", "none gpus 0", "others grid 1")
        listed = self.release / "list"
        listed.write_text(listed.read_text().replace("others\ttext\t\tgrid\n", ""))
        (self.release / "Reduction.list").write_text("".join(
            f"{name}\ttext\t\tgpus\n" for name in ("theory", "cub", "peer_grid", "nccl")))
        before = set(self.folder.iterdir())
        self.assertEqual(self.sanitize(), [f"{name}\t0\t0\t0\t0" for name in (
            "ImplicitBarrier\t1", "ImplicitBarrier\t2", "BenchmarkIntraSM\t1",
            "BenchmarkInterSM\t1", "BenchmarkInterSM\t2", "TestRepeat\t1", "Reduction\t1",
            "Reduction\t2", "Stencil\t1", "Stencil\t2")])
        self.assertEqual(set(self.folder.iterdir()) - before, {self.log})  # no log is kept
        for tool in ("memcheck", "synccheck", "initcheck"):
            self.assertEqual(self.calls(f"{tool} BenchmarkInter") + self.calls(f"{tool} Test"), [
                f"{tool} {call} --samples 1" for call in (
                    "BenchmarkInterSM 1", "BenchmarkInterSM 2", "TestRepeat")])
        self.assertEqual(self.calls("racecheck Implicit"), [
            f"racecheck ImplicitBarrier {gpus} --samples 1 --processes 1" for gpus in (1, 2)])
        # Of small arrays, and without NCCL.
        self.assertEqual(self.calls("memcheck Reduction"), [
            f"memcheck Reduction {gpus} --samples 1 --max-bytes 1M --method cub,peer_grid"
            for gpus in (1, 2)])
        few = "--samples 1 --blocks-per-sm 1,32 --method"
        methods = "semaphore,peer_grid_sync,adder,blocksync,cluster_sync"
        self.assertEqual(
            self.calls("racecheck BenchmarkInter") + self.calls("racecheck TestRep"), [
                f"racecheck {call}" for call in (
                    f"BenchmarkInterSM 1 {few} {methods}", f"BenchmarkInterSM 2 {few} peer_grid_sync",
                    f"TestRepeat --samples 1 --method {methods}")])

    def test_what_is_found(self):
        for tool, does, cell in (
                ("memcheck", "sum='ERROR SUMMARY: 3 errors' code=1", "3"),
                ("initcheck", "sum='ERROR SUMMARY: 2 errors'", "2"),
                ("racecheck", "sum='RACECHECK SUMMARY: 4 hazards displayed (4 errors)'", "4"),
                ("synccheck", "code=1", "failed(1)"), ("synccheck", "rows=", "failed(0)"),
                ("memcheck", "sum='Internal Sanitizer Error'", "failed(0)"),
                ("racecheck", "echo Internal Sanitizer Error", "failed(0)"),
                ("initcheck", "kill -KILL $$", "failed(-9)"), ("initcheck", "sum=", "failed(0)")):
            (self.folder / "fakes" / tool).write_text(does)
            row, = self.sanitize("TestRepeat", code=1)
            expected = [cell if name == tool else "0" for name in TOOLS]
            self.assertEqual(row.split("\t"), ["TestRepeat", "1", *expected])
            logs = Path(self.errors.split("not clean; the logs are in ")[1].strip())
            self.assertTrue(list(logs.glob(f"TestRepeat.1.{tool}*.log")))
            shutil.rmtree(logs)
            (self.folder / "fakes" / tool).unlink()
        # One GPU measured where two were asked for, as where they cannot reach each other.
        (self.folder / "fakes/memcheck").write_text("rows='grid_sync	1	2'")
        self.assertEqual([row.split("\t")[2] for row in self.sanitize("ImplicitBarrier", code=1)],
                         ["0", "failed(0)"])

    def test_time_out_ends_all_processes(self):
        for tool in ("synccheck", "racecheck"):
            script = self.folder / "fakes" / tool
            script.write_text('sleep 900 & echo $! >>"$LOG.pid"; wait')
            row, = self.sanitize("TestRepeat", "--timeout", "1", code=1)
            self.assertEqual(row.split("\t")[2:],
                             ["time-out" if name == tool else "0" for name in TOOLS])
            latest = time.monotonic() + 600
            while any(map(lives, Path(f"{self.log}.pid").read_text().split())):
                self.assertLess(time.monotonic(), latest)
                time.sleep(0.01)
            script.unlink()

    def test_refusals(self):
        self.assert_refused(self.script("sanitize.py"), 1, "build/ImplicitBarrier is not built")
        sanitize = ["sanitize.py", "--build-dir", self.release]
        self.assert_refused(self.script(*sanitize, "Nothing"), 1, "Nothing is not built")
        self.assert_refused(self.script(*sanitize, "--timeout", "0"), 2, "--timeout: ")
        (self.tools / "compute-sanitizer").unlink()
        self.environment["CUDA_HOME"] = "/no/such"
        self.assert_refused(self.script(*sanitize), 1, "compute-sanitizer is missing", "/no/such")
        (self.release / "devices").unlink()
        self.assert_refused(self.script(*sanitize), 3, "no CUDA-capable device is detected")
        self.assertEqual(self.calls(), [])


if __name__ == "__main__":
    unittest.main()
