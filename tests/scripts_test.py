"""Tests of everything in scripts/, run for real. Those of run.sh are in run_script_test.py."""

import shutil
import subprocess
import unittest

from run_script_test import RunTest  # unittest.main() runs what it finds here
from scripts_support import ROOT, ScriptsTest, write_program

__all__ = ["RunTest"]


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
                       r"grid_sync +2 blocks/SM x 1024 threads +1420.00 ± 0.75 +ns"):
            self.assertRegex(done.stdout, r"(?m)^ *" + figure)

    def test_missing_values(self):
        done = self.execute(self.command("summary.sh", self.folder))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.count("not measured"), 8, done.stdout)
        self.assertNotIn("±", done.stdout)

    def test_bad_arguments(self):
        for arguments, message in (((), "needs one results folder"),
                                   (("absent",), "absent is not a folder")):
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
        tools = self.folder / "tools"
        tools.mkdir()
        for name, script in (("apt-get", text), ("sudo", 'shift; exec "$@"\n')):
            write_program(tools / name, "#!/bin/sh\n" + script)
        self.environment["PATH"] = "%s:%s" % (tools, self.environment["PATH"])
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

    def test_gpu_presence(self):
        (self.system / "dev/nvidia0").unlink()
        device = self.system / "sys/bus/pci/devices/0000:10:00.0"
        device.mkdir(parents=True)
        for vendor, kind, answer in (("0x10de", "0x030200", "yes"), ("0x10de", "0x030000", "yes"),
                                     ("0x10de", "0x068000", "no"), ("0x8086", "0x030000", "no")):
            (device / "vendor").write_text(vendor + "\n")
            (device / "class").write_text(kind + "\n")
            done = self.shell("if has_nvidia_gpu; then echo yes; else echo no; fi")
            self.assertEqual(done.stdout, answer + "\n", (vendor, kind))


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
