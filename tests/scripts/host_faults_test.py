"""Tests of what a machine and its user do to the scripts: signals, two scripts at once, a full disk,
streams that are closed or ASCII, links in the way, an old Python or none."""

import ast
import contextlib
import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from made_up_rows import ROWS
from scripts_support import CMAKE, ROOT, WAIT, ScriptsTest, heed_signals, lives, write_program

# What fakes do to take time, with processes of their own.
PIP = ('mkdir -p "$target/cmake/data/bin"; for n in 1 2 3 4 5; do sleep 0.02; echo >"$target/$n"; '
       'done; cp "$FAKES/cmake" "$target/cmake/data/bin"')
BUILDS = "sh -c 'sleep 0.1 & sleep 0.05; wait'\n"
# A program that does not end when it is asked to.
STUBBORN = "trap '' TERM INT; echo $$ >\"$LOG.pids\"; while :; do sleep 0.1; done\n"

# Writes three files, of which `old` has two; sends itself a signal at one step.
WRITES = """import os, pathlib, sys
sys.path.insert(0, "project/scripts")
from parts import command_line, whole_files
step, number, text = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
def count():
    global step
    step -= 1
    if step == 0:
        os.kill(os.getpid(), number)
def write_bytes(path, data):
    with open(path, "wb") as file:
        file.write(data[:9])
        file.flush()
        count()
        file.write(data[9:])
def replace(old, new, replace_=os.replace):
    count()
    replace_(old, new)
pathlib.Path.write_bytes, os.replace = write_bytes, replace
files = {"a": text * 9, "b/c": text * 9, "d": text * 9 if text == "new" else None}
command_line.main(lambda: whole_files.write("out", files), "x")
"""
# Sends itself a signal where Python drops what is raised.
IN_CALLBACK = """import os, sys, time, weakref
sys.path.insert(0, "project/scripts")
from parts import command_line
def work():
    target = {1, 2}.copy()
    watched = weakref.ref(target, lambda _: os.kill(os.getpid(), 15))
    del target
    time.sleep(60)
command_line.main(work, "x")
"""
OLD_AND_NEW = ["old" * 9] * 2 + [None], ["new" * 9] * 3


class HostFaultsTest(ScriptsTest):
    def processes(self):
        """Of the scripts of this test, and of what they have started."""
        mark, found = f"\0LOG={self.log}\0".encode(), []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if mark in b"\0" + (folder / "environ").read_bytes() and lives(folder.name):
                    found.append((folder / "cmdline").read_bytes().replace(b"\0", b" "))
            except OSError:  # it has ended, or is another user's
                pass
        return found

    def assert_nothing_runs(self, *about):
        latest = time.monotonic() + 600
        while self.processes():
            with contextlib.suppress(ChildProcessError):
                os.waitpid(-1, os.WNOHANG)
            self.assertLess(time.monotonic(), latest, (self.processes(), *about))
            time.sleep(0.02)

    def start(self, *command, **options):
        options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, **options}
        process = subprocess.Popen(
            list(map(str, command)), env=self.environment, cwd=self.folder, encoding="utf-8",
            stdin=subprocess.DEVNULL, start_new_session=True,
            preexec_fn=heed_signals, **options)
        self.addCleanup(process.stderr.close) if process.stderr else None
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def until(self, condition, process=None):
        latest = time.monotonic() + 600
        while not condition():
            self.assertLess(time.monotonic(), latest, "it did not come")
            if process:
                self.assertIsNone(process.poll())
            time.sleep(0.01)


class SignalsTest(HostFaultsTest):
    def test_files_are_all_old_or_all_new(self):
        """A signal at every step of writing them, each of which is done by half by then."""
        out = self.folder / "out"
        names = ("a", "b/c", "d")

        def write(step, number, text):
            return self.execute([sys.executable, "-c", WRITES, str(step), str(int(number)), text],
                                preexec_fn=heed_signals)

        def contents():
            return [(out / name).read_text() if (out / name).exists() else None for name in names]

        for number, steps in ((signal.SIGTERM, range(1, 7)), (signal.SIGINT, (2,)),
                              (signal.SIGHUP, (2,)), (signal.SIGKILL, range(1, 7))):
            seen = []
            for step in steps:
                self.assertEqual(write(0, 0, "old").returncode, 0)
                self.assertEqual((contents(), os.listdir(out / "b")), (OLD_AND_NEW[0], ["c"]))
                done = write(step, number, "new")
                seen.append(contents())
                if number != signal.SIGKILL:
                    self.assertEqual((done.returncode, done.stderr),
                                     (128 + number, "x: interrupted\n"))
                    self.assertFalse((out / ".unfinished").exists())
                    self.assertIn(seen[-1], OLD_AND_NEW)
                for content in seen[-1]:
                    self.assertIn(content, ("old" * 9, "new" * 9, None))
            self.assertIn(OLD_AND_NEW[0], seen)
        done = self.execute(["sh", "-c", 'trap "" HUP; exec "$@"', "-",  # as nohup does
                             sys.executable, "-c", WRITES, "1", str(int(signal.SIGHUP)), "new"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(write(0, 0, "new").returncode, 0)
        self.assertEqual((contents(), sorted(os.listdir(out))), (OLD_AND_NEW[1], ["a", "b", "d"]))

    def test_in_a_callback(self):
        done = self.execute([sys.executable, "-c", IN_CALLBACK], preexec_fn=heed_signals)
        self.assertEqual((done.returncode, done.stderr), (143, "x: interrupted\n"))

    def test_killed_while_a_program_runs(self):
        """One that would not end by itself, below each script that starts programs."""
        pids = Path(f"{self.log}.pids")
        shutil.copytree(self.release, self.project / "build")
        for name in ("BenchmarkIntraSM", "BenchmarkInterSM"):
            (self.project / f"build/{name}.then").write_text(STUBBORN)
        self.link_study()
        for command in (self.command("run.sh", "--no-build", "--results", self.results),
                        self.command("sweep_gpus.sh", "BenchmarkInterSM", 1)):
            process = self.start(*command)
            self.until(pids.exists, process)
            process.kill()
            process.wait()
            self.assert_nothing_runs()
            pids.unlink()

    def test_parent_that_has_ended_before(self):
        """A child that comes too late to be told of it ends by itself."""
        self.assertEqual(self.execute([sys.executable, "-c", "import os, sys; sys.path.insert(0, "
                                       "'project/scripts'); from parts import programs; "
                                       "programs.end_with(os.getppid() + 1)"]).returncode, 1)


class AtOnceTest(HostFaultsTest):
    def test_two_first_runs_in_one_clone(self):
        del self.environment["SYNC_NO_INSTALL"]
        write_program(self.folder / "fakes/cmake", CMAKE)
        self.tool("cmake", CMAKE.replace("3.25.1", "3.18.4"))  # so that one is fetched
        gate = self.folder / "fakes/go"  # opened when the second waits
        wait = f"while [ ! -e '{gate}' ]; do sleep 0.02; done\n"
        for where, held in (("pip", "fetched"), ("cmake --build", "")):
            shutil.rmtree(self.project / "build", ignore_errors=True)
            for path in (self.log, gate):
                path.unlink(missing_ok=True)
            self.python_with_pip((wait if where == "pip" else "") + PIP)
            (self.folder / "fakes/release.then").write_text(
                (wait if where == "cmake --build" else "") + BUILDS)
            first = self.start(*self.command("run.sh", "--build"))
            self.until(lambda: self.calls(where), first)
            second = self.start(*self.command("run.sh", "--build"))
            self.assertEqual(second.stderr.readline(), "waiting for another script that works in "
                             f"{self.project / 'build' / held}\n")
            gate.touch()
            errors = [process.communicate(timeout=600)[1] for process in (first, second)]
            self.assertEqual((first.returncode, second.returncode), (0, 0), errors)
            self.assertEqual(sorted(os.listdir(self.project / "build/fetched/cmake")),
                             ["1", "2", "3", "4", "5", "cmake", "list.txt"])
            self.assertEqual(self.calls("pip"), ["pip cmake.txt"])
            built = self.calls("cmake ")  # one after the other
            self.assertEqual(["--build" in line for line in built], [False, True] * 2, built)

    def test_one_that_is_killed_lets_the_other_go_on(self):
        (self.folder / "fakes/release.then").write_text(WAIT)
        first = self.start(*self.command("run.sh", "--build"))
        self.until(Path(f"{self.log}.pids").exists, first)
        (self.folder / "fakes/release.then").unlink()
        second = self.start(*self.command("run.sh", "--build"))
        self.assertIn("waiting for", second.stderr.readline())
        first.kill()
        self.assertEqual(second.wait(600), 0)


class PlacesTest(HostFaultsTest):
    def setUp(self):
        super().setUp()
        self.link_study()
        self.run_folder = self.write_run(self.folder / "run")
        self.out = self.folder / "out"

    def report(self):
        return self.script("report.py", self.run_folder, "--out", self.out)

    def test_links_are_not_followed(self):
        precious, other = self.folder / "precious", self.folder / "other"
        precious.write_text("precious")
        other.mkdir()
        self.out.mkdir()
        for name in ("report.html", "report.md", ".unfinished"):
            (self.out / name).symlink_to(precious)
        self.assertEqual(self.report().returncode, 0)
        self.assertFalse([path for path in self.out.rglob("*") if path.is_symlink()])
        self.assertTrue((self.out / "report.html").read_text().endswith("</html>\n"))
        before = (self.out / "report.html").stat().st_ino
        tables = self.out / "tables"
        shutil.rmtree(tables)
        tables.symlink_to(other)
        self.assert_refused(self.report(), 1, f"cannot write {tables}", "a link")
        tables.unlink()
        tables.write_text("a file")
        self.assert_refused(self.report(), 1, f"cannot write {tables}", "is not a folder")
        tables.unlink()
        (self.out / "report.md").unlink()
        (self.out / "report.md").mkdir()
        self.assert_refused(self.report(), 1, "cannot write", "it is a folder")
        self.assertEqual((self.out / "report.html").stat().st_ino, before)  # nothing was renamed
        self.assertEqual((precious.read_text(), list(other.iterdir())), ("precious", []))

    def test_folders_that_are_not_meant(self):
        # Were it not refused, nothing would be written: there is no run.
        for out in ("", "/", "//", "/.", "/tmp/.."):
            self.assert_refused(self.script("report.py", "absent", "--out", out), 2,
                                f"--out: '{out}' is no folder to write into")

    def test_full_disk(self):
        """The kernel refuses what is beyond a size, as it does on a full disk."""
        self.assertEqual(self.report().returncode, 0)
        files = {path: path.read_bytes() for path in self.out.rglob("*") if path.is_file()}
        for blocks in (0, 1, 16):
            done = self.execute(["bash", "-c", f'trap "" XFSZ; ulimit -f {blocks}; exec "$@"', "-",
                                 *self.command("report.py", self.run_folder, "--out", self.out)])
            self.assert_refused(done, 1, f"cannot write {self.out}", "File too large")
            self.assertEqual(files, {path: path.read_bytes() for path in self.out.rglob("*")
                                     if path.is_file()})

    def test_streams(self):
        """ASCII, closed and full ones: no traceback, and no file gets what is for a stream."""
        for setting in ({"PYTHONIOENCODING": "ascii"},
                        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}):
            self.environment.update(setting)
            for script, *run in (("summary.py", self.run_folder),
                                 ("compare.py", self.run_folder, self.run_folder),
                                 ("report.py", self.run_folder, "--out", self.folder / "Zürich")):
                done = self.script(script, *run)
                self.assertEqual((done.returncode, "Traceback" in done.stderr), (0, False),
                                 done.stderr)
        self.assertIn(r"1081 \xb1 ", self.script("summary.py", self.run_folder).stdout)
        (self.run_folder / "TestRepeat.tsv").write_text("damage\n")
        for close, code in ((">&-", 1), ("2>&-", 2), ("<&- >&- 2>&-", 1), (">/dev/full", 2),
                            ("2>/dev/full", 2)):
            for script, *run in (("summary.py", self.run_folder), ("measure.py", "--gpus", 0),
                                 ("report.py", self.run_folder, "--out", self.out)):
                done = self.execute(["bash", "-c", f'exec "$@" {close}', "-",
                                     *self.command(script, *run)])
                self.assertEqual((done.returncode, done.stdout), (code, ""), (script, close))
                self.assertLessEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_machine_names_beyond_ascii(self):
        shutil.copytree(self.release, self.project / "build")
        self.tool("lscpu", "#!/bin/sh\nprintf 'Model name: M\\303\\274ller\\256\\n'\n")
        self.environment.update(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
        self.run_sh("--no-build")
        self.assertIn("cpu\tMüller\ufffd\n",
                      (self.only_folder() / "environment.tsv").read_text(encoding="utf-8"))


class ArgumentsTest(HostFaultsTest):
    def test_no_python(self):
        shutil.copytree(self.release, self.project / "build")
        for python, message in (
                (None, "python3 is missing, 3.9 or newer; on Debian or Ubuntu: sudo apt-get "),
                ("exit 127", "python3 is missing"),
                ("echo 3.8", "3.9 or newer is needed, python3 is 3.8"),
                ("echo 2.7", "python3 is 2.7"), ("echo 3.10", ""), ("echo 4.0", "")):
            (self.tools / "python3").unlink(missing_ok=True)
            if python:
                self.tool("python3", f"#!/bin/sh\n{python}\n")
            for script, *options in (("run.sh", "--no-build"), ("run.sh",), ("test.sh",)):
                done = self.execute(["bash", self.project / "scripts" / script, *options])
                if message and (python or options):  # else python3 is a package that is missing
                    self.assert_refused(done, 1, f"{script}: ", message)
        self.assertFalse(self.results.exists())


    def test_posixly_correct(self):
        """It would change what bash and the programs take for an option."""
        shutil.copytree(self.release, self.project / "build")
        (self.project / "build/Pitfalls.then").write_text('[ -z "${POSIXLY_CORRECT+set}" ]')
        self.environment["POSIXLY_CORRECT"] = "1"
        self.run_sh("--no-build")
        self.run_sh()

    def test_old_python(self):
        """Each script says so in one line: nothing newer of the suite is imported before."""
        local = [path.stem for path in (ROOT / "scripts").iterdir()]
        for script in sorted((ROOT / "scripts").rglob("*.py")):
            text = script.read_text()
            if "command_line.main" in text and script.name != "command_line.py":
                first = next(line for line in re.findall(r"(?m)^(?:import|from) .*", text)
                             if re.split(r"[ .]", line)[1] in local)
                self.assertTrue(first.startswith("from parts import command_line"), script.name)
                ast.parse(text, feature_version=(3, 6))
        ast.parse((ROOT / "scripts/parts/command_line.py").read_text(), feature_version=(3, 6))
        for name, code in (("summary.py", 2), ("check.py", 3)):
            pretend = (f"import sys; sys.version_info = (3, 8, 18); sys.argv[0] = 'x/{name}'; "
                       "sys.path.insert(0, 'project/scripts'); from parts import command_line")
            self.assert_refused(self.execute([sys.executable, "-c", pretend]), code,
                                f"{name}: Python 3.9 or newer is needed, this is 3.8\n")


class LimitTest(HostFaultsTest):
    def test_program_that_does_not_end(self):
        build = self.project / "build"
        shutil.copytree(self.release, build)
        measure = self.command("measure.py", build, "--results", self.results, "--hours", 0.002)
        (build / "BenchmarkIntraSM.then").write_text("printf half_a_ro; exec sleep 900")
        done = self.execute(measure)
        folder = self.only_folder()
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.splitlines()[-1], "^run.sh: BenchmarkIntraSM has not ended "
                         "after 0.12 minutes and was stopped: perhaps the driver hangs; look "
                         f"for Xid .* restart the machine; what was measured is in {folder}$")
        self.assertEqual((folder / "BenchmarkIntraSM.tsv").read_text(),
                         ROWS["BenchmarkIntraSM"])
        self.assertIn("BenchmarkIntraSM: warning: of some kind\n",
                      (folder / "stderr.log").read_text())
        self.assert_nothing_runs()

    def test_program_that_does_not_heed_sigterm(self):
        code = ("import os, sys; sys.path.insert(0, 'project/scripts')\n"
                "from parts import programs\nprograms.SECONDS_TO_END = 0.3\n"
                "try:\n  programs.run(['sh', '-c', sys.argv[1]], 1)\n"
                "except programs.Stop as stop:\n"
                "  print(stop.args[0], os.path.exists(f'/proc/{open(sys.argv[2]).read().strip()}'))")
        done = self.execute([sys.executable, "-c", code, STUBBORN, f"{self.log}.pids"])
        self.assertEqual((done.returncode, done.stdout), (0, "1 False\n"), done.stderr)


if __name__ == "__main__":
    # What has lost its parent becomes a child of this: some machines have nobody who waits for it.
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    unittest.main()
