"""Tests of scripts/run.sh: real runs of it, on executables that only pretend to measure."""

import os
import re
import shutil
import signal
import socket
import subprocess
import time
import unittest

from scripts_support import NAMES, ROOT, ScriptsTest, write_program, NVIDIA_SMI


class RunTest(ScriptsTest):
    def test_complete_run(self):
        done = self.run_sh()
        self.assertEqual(done.returncode, 0, done.stderr)
        folder = self.only_folder()
        self.assertRegex(folder.name, r"^h200x2_\d{8}T\d{6}Z$")
        self.assertEqual({path.name for path in folder.iterdir()},
                         {name + ".tsv" for name in NAMES} |
                         {"environment.tsv", "topology.txt", "stderr.log"})
        self.assertEqual([self.calls(name) for name in NAMES],
                         [["2 --stats"], ["--stats"], ["2 --stats"]])
        for name in NAMES:
            self.assertIn("# gpu 0: NVIDIA H200, 132 SMs", (folder / (name + ".tsv")).read_text())
            self.assert_whole_rows(folder / (name + ".tsv"))
            self.assertIn(name + ": on stderr", (folder / "stderr.log").read_text())
            self.assertIn(name + ": on stderr", done.stderr)
        self.assertIn("Results: %s" % folder, done.stdout)
        self.assertRegex(done.stdout, r"traditional_launch +1 GPU +1081.25 ± 3.50 +ns")

    def test_given_count_and_smi_values(self):
        tools = self.folder / "tools"
        tools.mkdir()
        write_program(tools / "nvidia-smi", NVIDIA_SMI)
        self.environment["PATH"] = "%s:%s" % (tools, self.environment["PATH"])
        self.assertEqual(self.run_sh(2).returncode, 0)
        self.assertIn("sm_clock_at_start\t1980 MHz, 345 MHz\n",
                      (self.only_folder() / "environment.tsv").read_text())
        shutil.rmtree(self.results)
        self.assertEqual(self.run_sh(1).returncode, 0)
        folder = self.only_folder()
        self.assertIn("h200x1_", folder.name)
        self.assertEqual(self.calls("BenchmarkInterSM"), ["2 --stats", "1 --stats"])
        rows = [line.split("\t") for line in (folder / "environment.tsv").read_text().splitlines()]
        self.assertEqual({len(row) for row in rows}, {2})
        values = dict(rows)
        self.assertEqual(values["key"], "value")
        for key, value in {"gpu": "NVIDIA H200", "gpu_count": "1", "sms": "132",
                           "driver": "580.95.05", "driver_cuda": "13.0", "ecc": "Enabled",
                           "sm_clock_at_start": "1980 MHz", "mig": "unknown",
                           "suite_commit": "0123456789ab"}.items():
            self.assertEqual(values[key], value, key)
        for key in ("cuda_toolkit", "cpu", "cpu_cores", "os", "kernel", "persistence_mode",
                    "date_utc"):
            self.assertTrue(values[key], key)
        self.assertEqual((folder / "topology.txt").read_text(), "\tGPU0\tGPU1\nGPU0\t X \tNV18\n")

    def test_says_nothing_about_host_or_user(self):
        self.environment.update(USER="someone-else", SECRET="s3cr3t-value")
        self.run_sh()
        folder = self.only_folder()
        text = "".join((folder / name).read_text() for name in ("environment.tsv", "topology.txt"))
        for private in (socket.gethostname(), "someone-else", "s3cr3t", str(self.folder),
                        str(ROOT)):
            self.assertNotIn(private, text)

    def test_failure_then_resume(self):
        self.set(BenchmarkIntraSM_fail=7)
        done = self.run_sh(2)
        self.assertEqual(done.returncode, 7)
        folder = self.only_folder()
        self.assertTrue(folder.name.endswith(".partial"))
        last = done.stderr.splitlines()[-1]
        self.assertIn("BenchmarkIntraSM failed with exit code 7", last)
        self.assertEqual(self.calls("BenchmarkInterSM"), [])
        self.assert_whole_rows(folder / "BenchmarkIntraSM.tsv.part")
        (self.build / "BenchmarkIntraSM.fail").unlink()
        # The command that it printed, by a shell, from another folder.
        resume = re.search(r"continue with: (.*)$", last).group(1)
        done = self.execute(["bash", "-c", "cd / && " + resume])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([len(self.calls(name)) for name in NAMES], [1, 2, 1])
        final = self.only_folder()
        self.assertEqual(final.name + ".partial", folder.name)
        kept = (final / "BenchmarkIntraSM.interrupted-1.tsv").read_text()
        self.assertIn("blocksync\t1\t128\t1\t32\t22.125", kept)
        self.assertNotIn("half a ro", kept)
        self.assertFalse(list(final.glob("*.part")))
        self.assertIn("resumed_utc\t", (final / "environment.tsv").read_text())

    def interrupt(self, name):
        """Ctrl-C while NAME measures: what the script printed and its exit code."""
        self.set(**{name + "_wait": ""})
        process = subprocess.Popen(
            self.command("run.sh", "--build-dir", self.build, "--results", self.results),
            env=self.environment, text=True, start_new_session=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            # A parent that ignores Ctrl-C would pass that on.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
        deadline = time.monotonic() + 30
        part = None
        while not (part and "method" in part.read_text()) and time.monotonic() < deadline:
            time.sleep(0.05)
            part = next(self.results.glob("*/%s.tsv.part" % name), None)
        os.killpg(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=30)
        (self.build / (name + ".wait")).unlink()
        return process.returncode, output, errors

    def test_ctrl_c_then_resume(self):
        code, output, errors = self.interrupt("BenchmarkIntraSM")
        self.assertEqual((code, output), (130, ""), errors)
        folder = self.only_folder()
        self.assertEqual(errors.count("run.sh: interrupted"), 1, errors)
        self.assertIn("BenchmarkIntraSM: interrupted", errors)
        self.assertIn("BenchmarkIntraSM: interrupted", (folder / "stderr.log").read_text())
        self.assert_whole_rows(folder / "ImplicitBarrier.tsv")
        self.assert_whole_rows(folder / "BenchmarkIntraSM.tsv.part")
        self.assertFalse((folder / "BenchmarkIntraSM.tsv").exists())
        resume = re.search(r"continue with: (.*)", errors).group(1)
        self.assertEqual(self.execute(["bash", "-c", resume]).returncode, 0)
        self.assertEqual([len(self.calls(name)) for name in NAMES], [1, 2, 1])
        self.assertRegex(self.only_folder().name, r"^h200x2_\d{8}T\d{6}Z$")

    def test_resume_refuses(self):
        self.set(BenchmarkIntraSM_fail=1)
        self.run_sh(2)
        partial = self.only_folder()
        complete = self.folder / "complete"
        complete.mkdir()
        empty = self.folder / "x.partial"
        empty.mkdir()
        for arguments, message in (((self.folder / "absent.partial",), "no such folder"),
                                   ((complete,), "already complete"),
                                   ((empty,), "no environment.tsv"), (("",), "needs a value"),
                                   ((partial, 1), "gpu_count is '2'")):
            self.assert_refused(self.run_sh("--resume", *arguments), 2, message)
        self.set(commit="ba9876543210")
        self.assert_refused(self.run_sh("--resume", partial), 2, "suite_commit is '0123456789ab'")
        self.set(commit="0123456789ab")
        environment = partial / "environment.tsv"
        environment.write_text(environment.read_text().replace("NVIDIA H200", "NVIDIA H100"))
        self.assert_refused(self.run_sh("--resume", partial), 2, "gpu is 'NVIDIA H100'")
        self.assertEqual(len(self.calls("BenchmarkIntraSM")), 1)

    def test_bad_arguments(self):
        for count in ("0", "-1", "abc", "1e9", "3.5", "", "01", "+1", " 2", "10000", "2x", "0x2"):
            self.assert_refused(self.run_sh(count), 2, "gpu_count must be a whole number")
        self.assert_refused(self.run_sh("--frobnicate"), 2, "unknown option '--frobnicate'")
        self.assert_refused(self.run_sh(1, 2), 2, "only one gpu_count")
        self.assert_refused(self.run_sh(9), 2, "requested 9 GPUs but only 2 were found")
        self.assertFalse(self.results.exists() and list(self.results.iterdir()))
        # Refused before anything is built.
        self.assert_refused(self.execute(self.command("run.sh", "abc")), 2, "not 'abc'")

    def test_help(self):
        for script in ("run.sh", "summary.sh", "sweep_gpus.sh", "test.sh"):
            done = self.execute(self.command(script, "--help"))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertTrue(done.stdout.startswith("Usage: " + script), done.stdout)
            self.assertIn("Exit codes:", done.stdout)
            self.assertNotIn("set -euo", done.stdout)

    def test_results_cannot_be_written(self):
        self.results.write_text("a file")
        self.assert_refused(self.run_sh(), 1, "cannot create the folder")
        self.assertEqual(self.results.read_text(), "a file")
        self.assertEqual(self.calls("ImplicitBarrier"), [])

    def test_file_size_limit(self):
        """Stands in for a full disk where none can be mounted."""
        self.set(ImplicitBarrier_big=1000)
        run = self.command("run.sh", "--build-dir", self.build, "--results", self.results)
        done = self.execute(["bash", "-c", 'ulimit -f 8; exec "$@"', "-", *run])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("ImplicitBarrier failed with exit code 1", done.stderr)
        self.assertTrue(self.only_folder().name.endswith(".partial"))

    def test_full_disk(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk],
                                 capture_output=True)
        if mounted.returncode:
            self.skipTest("no permission to mount a small disk")
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        self.results = disk / "results"
        self.set(ImplicitBarrier_big=1000)
        done = self.run_sh()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("the disk is full", done.stderr.splitlines()[-1])
        for path in self.only_folder().glob("*.part"):
            text = path.read_text()
            self.assertTrue(text.endswith("\n"), text[-80:])
        self.results = disk / "other"
        self.assert_refused(self.run_sh(), 1, "cannot")

    def test_missing_executable(self):
        (self.build / "BenchmarkInterSM").unlink()
        self.assert_refused(self.run_sh(), 1, "BenchmarkInterSM is missing")

    def test_gpu_that_cannot_be_used(self):
        self.set(gpus=0)
        self.assert_refused(self.run_sh(), 3,
                            "cannot be used: ImplicitBarrier: error: no CUDA-capable device")
        self.assertEqual(list(self.results.iterdir()), [])

    def test_no_gpu_shows_the_reference(self):
        (self.system / "dev/nvidia0").unlink()
        done = self.run_sh(8)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("nothing was measured here", done.stdout)
        self.assertIn("no recorded reference run", done.stdout)
        self.assertFalse(self.results.exists())
        for name, overhead in (("h200x2", 11), ("h200x10", 22), ("h200x4", 33),
                               ("h200x64_20250101T000000Z", 44)):
            (self.results / name).mkdir(parents=True)
            (self.results / name / "ImplicitBarrier.tsv").write_text(
                "method\tGPUCount\tm(ovh)\ts(ovh)\ntraditional_launch\t1\t%d\t1\n" % overhead)
        done = self.run_sh()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("nothing was measured here", done.stdout)
        self.assertIn(str(self.results / "h200x10") + "\n", done.stdout)
        self.assertRegex(done.stdout, r"traditional_launch +1 GPU +22.00 ± 1.00 +ns")
        self.assertEqual(self.calls("ImplicitBarrier"), [])


if __name__ == "__main__":
    unittest.main()
