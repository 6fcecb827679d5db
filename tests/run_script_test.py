"""Tests of scripts/run.sh: real runs of it, on executables that only pretend to measure."""

import shutil
import socket
import subprocess
import unittest

from scripts_support import NAMES, NVIDIA_SMI, ROOT, UNAME, ScriptsTest


class RunTest(ScriptsTest):
    def test_complete_run(self):
        done = self.run_sh()
        self.assertEqual(done.returncode, 0, done.stderr)
        folder = self.only_folder()
        self.assertRegex(folder.name, r"^h200x2_\d{8}T\d{6}Z$")
        self.assertEqual({path.name for path in folder.iterdir()},
                         {name + ".tsv" for name in NAMES} |
                         {"multi_gpu_barriers.tsv", "environment.tsv", "topology.txt",
                          "stderr.log"})
        table = [line.split("\t") for line in
                 (folder / "multi_gpu_barriers.tsv").read_text().splitlines()]
        self.assertEqual(table[0][:3], ["GPUCount", "multi_cooperative_launch",
                                        "single_omp_traditional_launch"])
        self.assertEqual({len(row) for row in table}, {9})
        self.assertEqual([row[0] for row in table[1:]], ["1", "2"])
        self.assertEqual([self.calls(name) for name in NAMES],
                         [["2 --stats"], ["--stats"], ["2 --stats"], ["--stats"]])
        for name in NAMES:
            self.assertIn("# gpu 0: NVIDIA H200, 132 SMs", (folder / (name + ".tsv")).read_text())
            self.assert_whole_rows(folder / (name + ".tsv"))
            self.assertIn(name + ": on stderr", (folder / "stderr.log").read_text())
            self.assertIn(name + ": on stderr", done.stderr)
        self.assertIn("Results: %s" % folder, done.stdout)
        self.assertRegex(done.stdout, r"traditional_launch +1 GPU +1081.25 ± 3.50 +ns")

    def test_given_count_and_smi_values(self):
        self.use_tools(nvidia_smi=NVIDIA_SMI, uname=UNAME)
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
                           "cuda_toolkit": "13.0", "kernel": "Linux 6.18.44",
                           "suite_commit": "0123456789ab"}.items():
            self.assertEqual(values[key], value, key)
        for key in ("cpu", "cpu_cores", "os", "persistence_mode", "date_utc"):
            self.assertTrue(values[key], key)
        self.assertNotIn("cuda_toolkit_multi_grid", values)
        self.assertEqual((folder / "topology.txt").read_text(), "\tGPU0\tGPU1\nGPU0\t X \tNV18\n")

    def test_gpus_of_two_kinds(self):
        self.set(gpu_names="NVIDIA H200,NVIDIA L4")
        self.assertEqual(self.run_sh(2).returncode, 0)
        folder = self.only_folder()
        self.assertIn("gpu\tNVIDIA H200; NVIDIA L4\n", (folder / "environment.tsv").read_text())
        shutil.rmtree(self.results)
        self.run_sh(1)  # what is not measured is not named
        self.assertIn("gpu\tNVIDIA H200\n", (self.only_folder() / "environment.tsv").read_text())

    def test_toolkit_is_the_one_that_built(self):
        self.set(cuda="12.4")
        self.run_sh()
        self.assertIn("cuda_toolkit\t12.4\n",
                      (self.only_folder() / "environment.tsv").read_text())

    def test_says_nothing_about_host_or_user(self):
        self.environment.update(USER="someone-else", SECRET="s3cr3t-value")
        self.run_sh()
        folder = self.only_folder()
        text = "".join((folder / name).read_text() for name in ("environment.tsv", "topology.txt"))
        for private in (socket.gethostname(), "someone-else", "s3cr3t", str(self.folder),
                        str(ROOT)):
            self.assertNotIn(private, text)

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
            link = self.folder / ("link to " + script)
            link.symlink_to(ROOT / "scripts" / script)
            for command in (self.command(script, "--help"), self.command(script, "-h"),
                            ["bash", link, "-h"]):
                done = self.execute(command)
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
        done = self.run_sh()
        self.assert_refused(done, 1, "BenchmarkInterSM is missing")
        self.assertNotIn("--no-build", done.stderr)

    def test_gpu_that_cannot_be_used(self):
        self.set(gpus=0)
        self.assert_refused(self.run_sh(), 3,
                            "cannot be used: ImplicitBarrier: error: no CUDA-capable device")
        self.assertEqual(list(self.results.iterdir()), [])

    def test_executable_codes_become_one(self):
        for code, expected in ((7, 1), (2, 1), (139, 1), (3, 3)):
            shutil.rmtree(self.results, ignore_errors=True)
            self.set(BenchmarkIntraSM_fail=code)
            done = self.run_sh()
            self.assertEqual(done.returncode, expected, done.stderr)
            self.assertIn("BenchmarkIntraSM failed with exit code %d" % code, done.stderr)

    def test_no_gpu_shows_the_reference(self):
        (self.system / "dev/nvidia0").unlink()
        references = self.folder / "references"
        self.environment["SYNC_REFERENCE_DIR"] = str(references)
        done = self.run_sh(8)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "gpu_count 8 is ignored: there is no NVIDIA GPU\n")
        self.assertIn("nothing was measured here", done.stdout)
        self.assertIn("no recorded reference run in %s" % references, done.stdout)
        for parent, name, overhead in ((references, "h200x2", 11), (references, "h200x10", 22),
                                       (references, "h200x4", 33), (self.results, "h200x16", 55),
                                       (references, "h200x64_20250101T000000Z", 44)):
            (parent / name).mkdir(parents=True)
            (parent / name / "ImplicitBarrier.tsv").write_text(
                "method\tGPUCount\tm(ovh)\ts(ovh)\ntraditional_launch\t1\t%d\t1\n" % overhead)
        done = self.run_sh()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("nothing was measured here", done.stdout)
        self.assertIn(str(references / "h200x10") + "\n", done.stdout)
        self.assertRegex(done.stdout, r"traditional_launch +1 GPU +22.00 ± 1.00 +ns")
        self.assertEqual(self.calls("ImplicitBarrier"), [])


if __name__ == "__main__":
    unittest.main()
