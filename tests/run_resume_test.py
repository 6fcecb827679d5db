"""Tests of run.sh that was stopped: by a failure, by a signal; and of --resume."""

import os
import re
import shutil
import signal
import subprocess
import time
import unittest

from scripts_support import NAMES, NVIDIA_SMI, ROOT, ScriptsTest


class ResumeTest(ScriptsTest):
    def test_failure_then_resume(self):
        self.set(BenchmarkIntraSM_fail=7)
        done = self.run_sh(2)
        self.assertEqual(done.returncode, 1)
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
        self.assertEqual([len(self.calls(name)) for name in NAMES], [1, 2, 1, 1])
        final = self.only_folder()
        self.assertEqual(final.name + ".partial", folder.name)
        kept = (final / "BenchmarkIntraSM.interrupted-1.tsv").read_text()
        self.assertIn("blocksync\t1\t128\t1\t32\t22.125", kept)
        self.assertNotIn("half a ro", kept)
        self.assertFalse(list(final.glob("*.part")))
        self.assertIn("resumed_utc\t", (final / "environment.tsv").read_text())

    def stop(self, name, number, whole_group):
        """A signal while NAME measures: the script's exit code, its output, its stderr."""
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
        (os.killpg if whole_group else os.kill)(process.pid, number)
        try:
            output, errors = process.communicate(timeout=20)
        finally:
            (self.build / (name + ".wait")).unlink()  # lets the fake end, come what may
            process.kill()
        return process.returncode, output, errors

    def test_ctrl_c_then_resume(self):
        self.stop_then_resume(signal.SIGINT, 130, whole_group=True)

    def test_other_signals_to_the_script_alone_then_resume(self):
        for number, code in ((signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            with self.subTest(number):
                self.stop_then_resume(number, code, whole_group=False)
                shutil.rmtree(self.results)
                for name in NAMES:
                    (self.build / (name + ".calls")).unlink()

    def stop_then_resume(self, number, expected, whole_group):
        code, output, errors = self.stop("BenchmarkIntraSM", number, whole_group)
        self.assertEqual((code, output), (expected, ""), errors)
        folder = self.only_folder()
        self.assertEqual(errors.count("run.sh: interrupted"), 1, errors)
        self.assertIn("BenchmarkIntraSM: interrupted", errors)
        self.assertIn("BenchmarkIntraSM: interrupted", (folder / "stderr.log").read_text())
        self.assert_whole_rows(folder / "ImplicitBarrier.tsv")
        self.assert_whole_rows(folder / "BenchmarkIntraSM.tsv.part")
        self.assertFalse((folder / "BenchmarkIntraSM.tsv").exists())
        resume = re.search(r"continue with: (.*)", errors).group(1)
        self.assertEqual(self.execute(["bash", "-c", resume]).returncode, 0)
        self.assertEqual([len(self.calls(name)) for name in NAMES], [1, 2, 1, 1])
        self.assertRegex(self.only_folder().name, r"^h200x2_\d{8}T\d{6}Z$")

    def test_terminated_between_folder_and_first_row(self):
        self.use_tools(mkdir='#!/bin/sh\n/bin/mkdir "$@" || exit\n'
                       'case "$*" in *.partial) kill -TERM "$RUN_PID" ;; esac\n')
        run = self.command("run.sh", "--build-dir", self.build, "--results", self.results)
        done = self.execute(["bash", "-c", 'export RUN_PID=$$; exec "$@"', "-", *run])
        self.assertEqual(done.returncode, 143, done.stderr)
        self.assertEqual(self.calls("ImplicitBarrier"), [])
        resume = re.fullmatch(r"run.sh: interrupted; continue with: (.*)\n", done.stderr).group(1)
        done = self.execute(["bash", "-c", resume])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.calls("ImplicitBarrier")), 1)

    def test_terminated_before_there_is_a_folder(self):
        self.use_tools(nvidia_smi='#!/bin/sh\nkill -TERM "$RUN_PID"\n')
        run = self.command("run.sh", "--build-dir", self.build, "--results", self.results)
        done = self.execute(["bash", "-c", 'export RUN_PID=$$; exec "$@"', "-", *run])
        self.assert_refused(done, 143, "terminated before measuring began")
        self.assertEqual(list(self.results.iterdir()), [])

    def test_resume_command_is_plain(self):
        (self.folder / "link").symlink_to(ROOT / "scripts/run.sh")
        self.set(ImplicitBarrier_fail=1)
        done = self.execute(["bash", self.folder / "link", "--build-dir", "results/../build/./",
                             "--results", "build//../results/"])
        self.assertEqual(done.returncode, 1)
        self.assertIn(str(ROOT / "scripts/run.sh"), done.stderr)
        for odd in ("/../", "//", "/./"):
            self.assertNotIn(odd, done.stderr.splitlines()[-1])

    def partial_folder(self):
        self.set(BenchmarkIntraSM_fail=1)
        self.run_sh(2)
        return self.only_folder()

    def test_resume_refuses_folders(self):
        partial = self.partial_folder()
        empty = self.folder / "x.partial"
        empty.mkdir()
        some = self.folder / "some"
        shutil.copytree(partial, some)
        complete = self.folder / "complete"
        shutil.copytree(partial, complete)
        for name in NAMES:
            (complete / (name + ".tsv")).touch()
        for arguments, message in (((self.folder / "absent.partial",), "no such folder"),
                                   ((complete,), "already complete"),
                                   ((some,), "not the folder of an interrupted run"),
                                   ((self.folder,), "not the folder of an interrupted run"),
                                   ((empty,), "no environment.tsv"), (("",), "needs a value"),
                                   ((partial, 1), "gpu_count is '2'")):
            self.assert_refused(self.run_sh("--resume", *arguments), 2, message)

    def test_resume_refuses_another_setup(self):
        self.use_tools(nvidia_smi=NVIDIA_SMI)
        partial = self.partial_folder()
        for key, there, here in (("commit", "0123456789ab", "ba9876543210"),
                                 ("cuda", "13.0", "13.1")):
            self.set(**{key: here})
            self.assert_refused(self.run_sh("--resume", partial), 2,
                                " is '%s', here it is '%s'" % (there, here))
            self.set(**{key: there})
        self.use_tools(nvidia_smi=NVIDIA_SMI.replace("580.95.05", "535.1"))
        self.assert_refused(self.run_sh("--resume", partial), 2,
                            "its driver is '580.95.05', here it is '535.1'")
        self.use_tools(nvidia_smi=NVIDIA_SMI)
        self.set(gpu_names="NVIDIA H100,NVIDIA H200")
        self.assert_refused(self.run_sh("--resume", partial), 2, "gpu is 'NVIDIA H200', here it is"
                            " 'NVIDIA H100; NVIDIA H200'")
        self.assertEqual(len(self.calls("BenchmarkIntraSM")), 1)


if __name__ == "__main__":
    unittest.main()
