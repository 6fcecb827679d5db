"""Tests of everything in scripts/, run for real.

Those of run.sh are in run_script_test.py and run_resume_test.py, those of what is
built in script_builds_test.py, those of sanitize.sh in sanitize_test.py.
"""

import shutil
import signal
import subprocess
import time
import unittest

from run_resume_test import ResumeTest
from run_script_test import RunTest
from sanitize_test import SanitizeTest
from script_builds_test import BuildsTest
from scripts_support import ROOT, ScriptsTest, write_program

__all__ = ["BuildsTest", "ResumeTest", "RunTest", "SanitizeTest"]  # what unittest.main() runs


class SummaryTest(ScriptsTest):
    def test_every_figure(self):
        self.run_sh()
        done = self.execute(self.command("summary.sh", self.only_folder()))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for figure in (r"NVIDIA H200 x 2, driver \S+, CUDA \S+, commit 0123456789ab, \d{4}-",
                       r"traditional_launch +1 GPU +1081.25 ± 3.50 +ns",
                       r"cooperative_launch +1 GPU +1063.00 ± nan +ns",
                       r"multi_cooperative_launch +1 GPU +1201.00 ± 2.00 +ns",
                       r"multi_cooperative_launch +2 GPUs +1202.00 ± 2.00 +ns",
                       r"single_omp_traditional_launch +1 GPU +not measured",
                       r"single_omp_traditional_launch +2 GPUs +not measured",
                       r"blocksync +32 threads +22.1[23] ± 0.50 +cycles",
                       r"blocksync +1024 threads +64.00 ± 1.00 +cycles",
                       r"grid_sync +1 block/SM x 32 threads +1075.50 ± 0.25 +ns",
                       r"grid_sync +2 blocks/SM x 1024 threads +1420.00 ± 0.75 +ns",
                       r"Multi-GPU barrier \(BenchmarkInterSM, 1 block/SM x 32 threads\)",
                       r"peer_grid_sync +1 GPU +3001.00 ± 0.50 +ns",
                       r"peer_grid_sync +2 GPUs +3002.00 ± 0.50 +ns"):
            self.assertRegex(done.stdout, r"(?m)^ *" + figure)
        self.assertEqual(done.stdout.count("peer_grid_sync"), 2)
        self.assertNotIn("multi_grid_sync", done.stdout)

    def test_multi_grid_sync(self):
        self.set(cuda="11.8")
        self.run_sh()
        folder = self.only_folder()
        done = self.execute(self.command("summary.sh", folder))
        self.assertRegex(done.stdout, r"(?m)^  multi_grid_sync +2 GPUs +7002.00 ± 0.50 +ns$")
        rows = (folder / "BenchmarkInterSM.tsv").read_text()
        (folder / "BenchmarkInterSM.cuda11.tsv").write_text(rows.replace("\t7002\t", "\t8002\t"))
        done = self.execute(self.command("summary.sh", folder))
        self.assertRegex(done.stdout, r"(?m)^  multi_grid_sync +2 GPUs +8002.00 ± 0.50 +ns$")
        self.assertEqual(done.stdout.count("multi_grid_sync"), 2)

    def test_missing_values(self):
        (self.folder / "environment.tsv").write_text("key\tvalue\n")
        done = self.execute(self.command("summary.sh", self.folder))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.count("not measured"), 8, done.stdout)
        self.assertNotIn("±", done.stdout)
        self.assertNotIn("Multi-GPU", done.stdout)

    def test_bad_arguments(self):
        for arguments, message in (((), "needs one results folder"),
                                   (("absent",), "absent is not a folder"),
                                   ((self.folder,), "is not a results folder")):
            self.assert_refused(self.execute(self.command("summary.sh", *arguments)), 2, message)


class SweepTest(ScriptsTest):
    def sweep(self, *arguments):
        return self.execute(self.command("sweep_gpus.sh", *arguments))

    def test_success(self):
        out = self.folder / "a/new one"
        done = self.sweep(self.build / "BenchmarkInterSM", 3, "-o", out, "--", "--samples", 3)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(path.name for path in out.iterdir()),
                         ["BenchmarkInterSM_x%d.tsv" % count for count in (1, 2, 3)])
        self.assertEqual(self.calls("BenchmarkInterSM"),
                         ["%d --samples 3" % count for count in (1, 2, 3)])
        self.assertIn("grid_sync\t1\t1\t9\t132", (out / "BenchmarkInterSM_x3.tsv").read_text())
        self.assertIn("Results: %s" % out, done.stdout)
        self.assertIn("2 of 3: BenchmarkInterSM 2 --samples 3\n", done.stderr)

    def test_two_sweeps_in_one_second(self):
        self.use_tools(date="#!/bin/sh\necho 20250102T030405Z\n")
        shutil.copytree(ROOT / "scripts", self.folder / "scripts")
        for _ in range(3):
            done = self.execute(self.command("sweep_gpus.sh", self.build / "BenchmarkInterSM", 1,
                                             root=self.folder))
            self.assertEqual((done.returncode, done.stderr.splitlines()[0]),
                             (0, "1 of 1: BenchmarkInterSM 1"))
        name = "BenchmarkInterSM_sweep_20250102T030405Z"
        self.assertEqual(sorted(path.name for path in self.results.iterdir()),
                         [name, name + "-2", name + "-3"])

    def test_nothing_is_left_of_nothing(self):
        program = self.folder / "silent"
        write_program(program, "#!/bin/sh\nexit 5\n")
        out = self.folder / "out"
        self.assertEqual(self.sweep(program, 3, "-o", out).stderr,
                         "1 of 3: silent 1\nsweep_gpus.sh: silent 1 failed with exit code 5\n")
        self.assertFalse(out.exists())

    def test_terminated(self):
        self.set(BenchmarkInterSM_wait="")
        out = self.folder / "out"
        process = subprocess.Popen(
            self.command("sweep_gpus.sh", self.build / "BenchmarkInterSM", 2, "-o", out),
            env=self.environment, text=True, stderr=subprocess.PIPE)
        part = out / "BenchmarkInterSM_x1.tsv.part"
        deadline = time.monotonic() + 20
        while not (part.exists() and "method" in part.read_text()) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        try:
            errors = process.communicate(timeout=20)[1]
        finally:
            (self.build / "BenchmarkInterSM.wait").unlink()
            process.kill()
        self.assertEqual(process.returncode, 143, errors)
        self.assertIn("interrupted; what was measured is in %s\n" % out, errors)
        self.assert_whole_rows(part)

    def test_failure_keeps_what_was_measured(self):
        program = self.folder / "only_one"
        write_program(program, '#!/bin/sh\nprintf "row\\nhalf"\n[ "$1" = 1 ] || exit 5\n')
        out = self.folder / "out"
        done = self.sweep(program, 3, "-o", out)
        self.assertEqual(done.returncode, 5)
        self.assertIn("only_one 2 failed with exit code 5", done.stderr)
        self.assertEqual({path.name: path.read_text() for path in out.iterdir()},
                         {"only_one_x1.tsv": "row\nhalf", "only_one_x2.tsv.part": "row\n"})

    def test_bad_arguments(self):
        program = self.build / "ImplicitBarrier"
        existing = self.folder / "existing"
        existing.mkdir()
        out = ("-o", self.folder / "out")
        for maximum in ("0", "-1", "abc", "1e9", "3.5", ""):
            self.assert_refused(self.sweep(program, maximum, *out), 2, "MAX must be a whole number")
        self.assert_refused(self.sweep(program, *out), 2, "needs an executable and")
        self.assert_refused(self.sweep(program, 1, 2, *out), 2, "needs an executable and")
        self.assert_refused(self.sweep(self.folder / "absent", 1, *out), 2, "is not an executable")
        self.assert_refused(self.sweep(program, 1, "-o"), 2, "-o needs a value")
        self.assert_refused(self.sweep(program, 1, "--wrong"), 2, "unknown option '--wrong'")
        self.assert_refused(self.sweep(program, 1, "-o", existing), 2, "exists already")
        self.assert_refused(self.sweep(program, 1, "-o", program / "out"), 1,
                            "cannot create the folder")
        self.assertEqual((self.calls("ImplicitBarrier"), list(existing.iterdir())), ([], []))


class ToolchainTest(ScriptsTest):
    def shell(self, text):
        lines = ["set -euo pipefail", "cd '%s'" % ROOT, "source scripts/lib.sh",
                 "source scripts/toolchain.sh", text]
        return self.execute(["bash", "-c", "\n".join(lines)])

    def fake_apt(self, text):
        self.use_tools(apt_get="#!/bin/sh\n" + text, sudo='#!/bin/sh\nshift; exec "$@"\n')
        del self.environment["SYNC_NO_INSTALL"]

    def test_missing_packages_are_named(self):
        done = self.shell("require_packages $(missing_tools bash:bash no-such:cmake other:make)")
        self.assert_refused(done, 1, "missing packages: cmake make; on Debian or Ubuntu: "
                                     "sudo apt-get install cmake make")

    def test_missing_packages_are_installed(self):
        self.fake_apt('echo "$@" >>"%s/apt.log"\n' % self.folder)
        self.assertEqual(self.shell("require_packages cmake make; require_packages").returncode, 0)
        log = (self.folder / "apt.log").read_text().splitlines()
        self.assertEqual(len(log), 1)
        self.assertTrue(log[0].startswith("install -y") and log[0].endswith("cmake make"), log)

    def test_offline(self):
        self.fake_apt('for i in 1 2 3 4 5; do echo "Err:$i noise"; done\n'
                      'echo "E: Unable to fetch" >&2\nexit 100\n')
        done = self.shell("require_packages cmake")
        self.assertEqual(done.returncode, 1)
        self.assertIn("apt-get could not install cmake (is this machine offline?): "
                      "E: Unable to fetch", done.stderr)
        self.assertNotIn("noise", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 3, done.stderr)

    def test_no_toolkit_is_installed_beside_a_driver(self):
        self.fake_apt('touch "%s/apt.called"\n' % self.folder)
        done = self.shell("find_nvcc() { :; }\nrequire_toolkit")
        self.assert_refused(done, 1, "nvcc not found: install the CUDA Toolkit (11.8 to 13)")
        self.assertFalse((self.folder / "apt.called").exists())

    def has_gpu(self):
        return self.shell("if has_nvidia_gpu; then echo yes; else echo no; fi").stdout

    def test_gpu_presence(self):
        (self.system / "dev/nvidia0").unlink()
        device = self.system / "sys/bus/pci/devices/0000:10:00.0"
        device.mkdir(parents=True)
        for vendor, kind, answer in (("0x10de", "0x030200", "yes"), ("0x10de", "0x030000", "yes"),
                                     ("0x10de", "0x068000", "no"), ("0x8086", "0x030000", "no")):
            (device / "vendor").write_text(vendor + "\n")
            (device / "class").write_text(kind + "\n")
            self.assertEqual(self.has_gpu(), answer + "\n", (vendor, kind))

    def test_gpu_presence_on_wsl(self):
        (self.system / "dev/nvidia0").unlink()
        self.assertEqual(self.has_gpu(), "no\n")
        (self.system / "dev/dxg").touch()
        self.assertEqual(self.has_gpu(), "no\n")  # a GPU of another maker
        library = self.system / "usr/lib/wsl/lib/libcuda.so.1"
        library.parent.mkdir(parents=True)
        library.touch()
        self.assertEqual(self.has_gpu(), "yes\n")
        (self.system / "dev/dxg").unlink()
        self.assertEqual(self.has_gpu(), "no\n")


class ShellcheckTest(unittest.TestCase):
    @unittest.skipUnless(shutil.which("shellcheck"), "shellcheck is not installed")
    def test_shellcheck(self):
        scripts = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "scripts").glob("*.sh"))
        self.assertIn("scripts/run.sh", scripts)
        done = subprocess.run(["shellcheck", "-x", *scripts, ".ci/run"], cwd=ROOT, text=True,
                              capture_output=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
