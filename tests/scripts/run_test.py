"""Tests of run.sh and sweep_gpus.sh, and of the help and the arguments of every script."""

import contextlib
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from made_up_rows import ROWS, ROWS_BEFORE13
from scripts_support import FIRST, WAIT, WAIT_ALONE, ScriptsTest

from measure import QUICK  # from scripts/, which scripts_support has put on the path
from parts import tsv

SCRIPTS = ("run.sh", "test.sh", "sweep_gpus.sh", "measure.py", "summary.py", "advise.py", "compare.py",
           "report.py", "pages/write_pages.py", "sanitize.py", "parts/test_outcomes.py")
BAD_COUNTS = ("0", "01", "-1", "10000", "", "abc", "1e3", "2.5", "+1", " 2", "0x2")


class CommandLineTest(ScriptsTest):
    def tearDown(self):
        self.assertEqual((self.calls(), self.results.exists()), ([], False))  # nothing started
        self.assertEqual({path.name for path in self.project.iterdir()}, {"scripts"})

    def test_help(self):
        with open("/dev/full", "w") as full:
            for script in SCRIPTS:
                done = self.execute(self.command(script, "--help"))
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn(f"usage: {os.path.basename(script)} ", done.stdout.lower())
                self.assertNotIn("set -euo", done.stdout)
                done = self.execute(self.command(script, "--help"), stdout=full)
                self.assertEqual(done.returncode, 1, (script, done.stderr))
                self.assertLessEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_bad_arguments(self):
        exe = self.release / "ImplicitBarrier"
        for message, script, *cases in (
                ("GPU_COUNT must be a whole number", "run.sh", *([n] for n in BAD_COUNTS)),
                ("MAX must be a whole number", "sweep_gpus.sh", *([exe, n] for n in BAD_COUNTS)),
                ("only one GPU_COUNT", "run.sh", ["1", "2"]),
                ("--results needs a folder", "run.sh", ["--results"], ["--results", ""]),
                ("unknown option", "run.sh", ["--no-b"], ["--resume"], ["-x"]),
                ("only one --quick, --all or --method", "run.sh", ["--quick", "--method", "grid_sync"],
                 ["--all", "--quick"],
                 ["--method", "grid_sync", "--quick"], ["--method", "grid_sync"] * 2),
                ("takes no arguments", "test.sh", ["1"], ["--hel"], [""]),
                ("unknown option", "sweep_gpus.sh", ["--hel"], [exe, "1", "-out"]),
                ("needs an executable and", "sweep_gpus.sh", [], [exe], [exe, "1", "2"]),
                ("-o needs a folder", "sweep_gpus.sh", [exe, "1", "-o"]),
                ("not an executable", "sweep_gpus.sh", ["nothing", "1"], [self.folder, "1"],
                 ["say", "1"]),  # a function of lib.sh
                ("are required: DIR", "summary.py", []),
                ("are required: DIR", "report.py", []),
                ("unrecognized arguments: one", "pages/write_pages.py", ["one"]),
                ("several folders need --short", "summary.py", ["one", "two"]),
                ("unrecognized arguments: --t", "sanitize.py", ["--t=3"]),
                ("'--' is no value", "report.py", ["run", "--out=--"]),
                ("--gpus: must be a whole number from 1 to 9999", "measure.py",
                 *(["build", "--results", "r", f"--gpus={text}"]
                   for text in ("0", "²", "10000", "1_0"))),
                ("--hours: invalid hours value", "measure.py",
                 *(["build", "--results", "r", f"--hours={text}"] for text in ("0", "nan", "inf"))),
                (r"unrecognized arguments: --a\nb\x1b[31m\x9b", "summary.py",
                 ["run", "--a\nb\x1b[31m\x9b"]),
                ("x ... x", "summary.py", ["run", "--" + "x" * 60000]),
                ("unknown option '-x?[31m?y'", "run.sh", ["-x\x1b[31m\ny"]),
                ("unrecognized arguments: --g", "parts/test_outcomes.py", ["x.xml", "--g"])):
            for arguments in cases:
                self.assert_refused(self.script(script, *arguments), 2,
                                    os.path.basename(script), message)


class RunTest(ScriptsTest):
    def environment_values(self):
        text = (self.only_folder() / "environment.tsv").read_text()
        return dict(line.split("\t") for line in text.splitlines())

    def test_whole_run_with_two_toolkits(self):
        self.link_study()
        self.nvcc("cuda-12.4", "12.4")
        self.environment.update(USER="someone", SECRET="s3cret")
        self.tool("nvidia-smi", "#!/bin/sh\ncase $* in *clocks.sm*) echo 345 MHz; echo 9 MHz ;;\n"
                  r"topo*) printf '\033[4m\tGPU0\033[0m\n' ;; *mig*) echo not valid; exit 2 ;;"
                  " *query*) echo \"what ${3#*=} is\" ;; *) echo 'CUDA Version: 13.1 |' ;; esac\n")
        done = self.run_sh()
        folder = self.only_folder()
        self.assertRegex(folder.name, r"^h200x2_\d{8}T\d{6}Z$")
        outputs = {**ROWS, **{f"{name}.before13": text for name, text in ROWS_BEFORE13.items()}}
        self.assertEqual({path.name for path in folder.iterdir()}, {
            "environment.tsv", "topology.txt", "stderr.log", "report", "verdict.txt",
            "SHA256SUMS", *(f"{name}.tsv" for name in outputs)})
        self.assertTrue(tsv.Run(folder).checked)
        for name, text in outputs.items():
            self.assertEqual((folder / f"{name}.tsv").read_text(), text)
        log = (folder / "stderr.log").read_text()
        self.assertEqual(sorted(log.splitlines()), sorted(
            f"{name}: {text}" for name in outputs for text in ("warning: of some kind", "of: another")))
        self.assertEqual(re.findall(r"(?m)^(Pitfalls[.\w]*): of", log), ["Pitfalls", "Pitfalls.before13"])
        self.assertIn("\nBenchmarkInterSM.before13: warning: of some kind\n", done.stderr)
        self.assertEqual(self.calls("build"), [
            "build/ImplicitBarrier 2 --stats", "build/BenchmarkIntraSM --stats",
            "build/BenchmarkInterSM 2 --stats", "build/TestRepeat --stats",
            "build/Reduction 2 --stats", "build/Stencil 2 --stats", "build/Libraries 2 --stats",
            "build-before13/BenchmarkIntraSM --stats",
            "build-before13/BenchmarkInterSM 2 --stats --method multi_grid_sync,multi_grid_sync_no_peer",
            "build-before13/TestRepeat --stats",
            "build-before13/Reduction 2 --stats --method tile,multi_grid",
            "build-before13/Stencil 2 --stats --method multi_grid",
            "build/Pitfalls 2", "build-before13/Pitfalls 2 --method multi_grid"])
        values = self.environment_values()
        for key, value in {"gpu": "NVIDIA H200", "gpu_count": "2", "sms": "132", "mig": "unknown",
                           "driver_cuda": "13.1", "cuda_toolkit": "13.0",
                           "cuda_toolkit_before13": "11.8", "suite_commit": "0123456789ab",
                           "sm_clock_at_start": "345 MHz; 9 MHz", **{
                               key: f"what {field} is" for key, field in (
                                   ("driver", "driver_version"), ("sm_clock_max", "clocks.max.sm"),
                                   ("sm_clock_application", "clocks.applications.graphics"),
                                   ("ecc", "ecc.mode.current"),
                                   ("persistence_mode", "persistence_mode"))}}.items():
            self.assertEqual(values[key], value, key)
        said = "".join(values.values()) + (folder / "topology.txt").read_text()
        self.assertTrue(said.endswith("\tGPU0\n"), said)
        for private in ("someone", "s3cret", str(self.folder), os.uname().nodename):
            self.assertNotIn(private, said)
        self.assertRegex(done.stdout, r"(?m)^  1 GPU: traditional_launch, .* 1081\.2 ± 3\.5$")
        self.assertIn(f"\nIs it normal? look; {folder}/verdict.txt says why\n", done.stdout)
        self.assertEqual((folder / "verdict.txt").read_text(), self.script("check.py", folder).stdout)
        self.assertTrue(done.stdout.endswith(
            f"\n\nReport: {folder}/report/report.html\nResults: {folder}\n"), done.stdout)

    def write_slow_barrier(self):
        """One that is slower than a recorded one: its rows."""
        self.link_study()
        self.write_run(self.project / "results/h200x2", {"BenchmarkIntraSM": None})
        slow = ROWS["BenchmarkInterSM"].replace("\t875.500", "\t1875.500")
        (self.release / "BenchmarkInterSM.rows").write_text(slow)
        return slow

    def test_what_is_not_as_recorded_is_measured_again(self):
        """The nearer of both counts, so that what disturbed a row once is not the node's."""
        slow = self.write_slow_barrier()
        for then, level in ((": ", "broken"), ('cp "$here/again" "$here/$name.rows"', "look")):
            (self.release / "again").write_text(ROWS["BenchmarkInterSM"])
            (self.release / "BenchmarkInterSM.then").write_text(then)
            done = self.run_sh()
            folder = self.only_folder()
            self.assertEqual((folder / "BenchmarkInterSM.tsv").read_text(), slow)
            self.assertTrue(tsv.Run(folder).again.checked)
            self.assertEqual({path.name for path in (folder / "again").glob("[A-Z]*.tsv")},
                             {"BenchmarkInterSM.tsv"})
            self.assertIn("measuring again what is not as recorded: peer_grid_sync\n", done.stderr)
            self.assertEqual(self.calls("build/BenchmarkInterSM")[-1],
                             "build/BenchmarkInterSM 2 --stats --method peer_grid_sync")
            self.assertIn(f"\nIs it normal? {level}; ", done.stdout)
            told = self.script("check.py", folder).stdout
            self.assertIn("; measured again, as rows differed: ", told)
            self.assertEqual("peer_grid_sync (BenchmarkInterSM, multi-GPU" in told, level == "broken")
            compared = self.script("compare.py", self.project / "results/h200x2", folder)
            self.assertIn("compare.py: B is not as A", compared.stderr)
            (folder / "again/SHA256SUMS").unlink()
            environment = folder / "again/environment.tsv"
            environment.write_text(environment.read_text().replace("0123456789ab", "another"))
            self.assert_refused(self.script("check.py", folder), 3, "another suite_commit")
            shutil.rmtree(self.results)

    def test_a_second_measurement_that_fails(self):
        self.write_slow_barrier()
        (self.release / "BenchmarkInterSM.then").write_text('[ ! -e "$here/x" ] || exit 1; echo >"$here/x"')
        self.assertIn(f"\nReport: {self.results}", self.run_sh().stdout)
        self.assertIn("broken: measured again: BenchmarkInterSM failed with exit code 1\n",
                      (self.only_folder() / "verdict.txt").read_text())
        self.assertIsNone(tsv.Run(self.only_folder()).again)

    def test_warnings_of_a_run_are_joined(self):
        """A line each kind, with the worst, after all programs; those of a program stay in the log."""
        said = "BenchmarkInterSM: warning[spread percent=9] grid_sync GPUcount=1 blk=132 thrd=32: far"
        (self.release / "BenchmarkInterSM.then").write_text(
            f'echo "{said}" >&2; echo "says $SYNCBENCH_WARNINGS" >&2')
        with open(self.release / "TestRepeat.rows", "a", encoding="utf-8") as rows:
            rows.write("# warning[spread percent=10] blocksync rep=1: farther\n"
                       "# warning[clock from=2000 to=1900]: slower\n"
                       "# warning[clock from=1900 to=1910]: faster\n"
                       "# skipped[one-gpu] x: alone\n# skipped[too-few-gpus needs=3] y: few\n"
                       "# skipped[too-few-gpus needs=3] y thrd=64: few\n"
                       "# skipped[does-not-fit] y thrd=96: large\n"
                       "# skipped[does-not-fit] y thrd=32: larger\n")
        done = self.run_sh()
        folder = self.only_folder()
        self.assertIn(said, (folder / "stderr.log").read_text().splitlines())
        self.assertNotIn(said, done.stderr)
        self.assertIn("\nBenchmarkInterSM: says none\n", done.stderr)
        joined = [line for line in done.stderr.splitlines()
                  if re.match("not measured|warning: [a-z-]+: |All of these", line)]
        expected = (("spread", " 6 ", " TestRepeat blocksync rep=1: farther"),
                    ("clock", " 2 ", " TestRepeat: slower"), ("2 methods, for want of another GPU",),
                    (str(folder),))
        for line, parts in zip(joined, expected):
            self.assertTrue(all(part in line for part in parts), (line, parts))
        self.assertEqual(len(joined), len(expected), joined)

    def test_counts(self):
        devices = self.release / "devices"
        devices.write_text(devices.read_text().replace("H200", "L4", 1))
        for path in self.release.glob("*.rows"):  # as of one L4
            text = re.sub(r"(?m)^\w+\t(float\t|1\t1\t)?2\t.*\n", "", path.read_text())
            path.write_text(text.replace("H200", "L4"))
        self.assertIn("requested 3 GPUs but only 2 were found", self.run_sh(3, code=2).stderr)
        self.assertIn("GPU_COUNT must be a whole number from 1", self.run_sh(0, code=2).stderr)
        self.assertEqual((self.calls("build"), self.results.exists()), ([], False))
        self.run_sh(1)  # what is not measured is not named
        self.assertRegex(self.only_folder().name, "^l4x1_")
        self.assertEqual(self.environment_values()["gpu"], "NVIDIA L4")
        self.assertEqual(self.calls("build/Impl"), ["build/ImplicitBarrier 1 --stats"])

    def test_second_toolkit_that_cannot_be_used(self):
        self.environment["CUDA_BEFORE13_HOME"] = str(self.nvcc("old", "11.8").parent.parent)
        for file, text, warning in (
                (self.before13 / "commit", "ba9876", "is of commit ba9876, not of 0123456789ab"),
                (self.folder / "fakes/before13.then",
                 'rm -rf build-before13 "$FAKES/before13/Reduction"; '
                 'echo 0123456789ab >"$FAKES/before13/commit"', "is of commit 0123456789ab; none"),
                (self.folder / "fakes/before13.then", "rm -rf build-before13; exit 1", "build with")):
            file.write_text(text)
            errors = self.run_sh().stderr
            self.assertRegex(errors, f"(?m)^warning: .*{warning}.*: multi_grid_sync and that "
                             "toolkit's warp barriers are not measured$")
            self.assertEqual(list(self.only_folder().glob("*.before13.tsv")), [])
            self.assertNotIn("cuda_toolkit_before13", self.environment_values())
            shutil.rmtree(self.results)
        self.log.unlink()
        self.nvcc("cuda", "12.4")  # has all in the first build
        self.run_sh()
        self.assertEqual(self.calls("cmake --build --preset before13"), [])

    def test_what_the_machine_cannot_have_is_no_failure_of_the_second_toolkit(self):
        self.nvcc("cuda-12.4", "12.4")
        then = self.before13 / "Reduction.then"
        for said, ends, code in (("multi_grid: no access", 4, 0), ("no", 1, 1)):
            then.write_text(f'echo "Reduction: error: {said}" >&2; exit {ends}')
            self.run_sh(code=code)
            folder = self.only_folder()
            self.assertEqual(folder.suffix, ".partial" if code else "")
            self.assertEqual((folder / "Reduction.before13.tsv").read_text(),
                             ROWS_BEFORE13["Reduction"])
            self.assertIn(f"Reduction.before13: error: {said}\n",
                          (folder / "stderr.log").read_text())
            shutil.rmtree(self.results)

    def test_no_build(self):
        for more in ("", " --simulated"):
            self.assert_refused(self.run_sh("--no-build", *more.split(), code=1), 1, "no Pitfalls in "
                                "build", f"'scripts/run.sh --build{more}' builds it\n")
        for build, preset in (("build", self.release), ("build-before13", self.before13)):
            shutil.copytree(preset, self.project / build)
            self.run_sh("--no-build")
            self.assertEqual((self.only_folder() / "TestRepeat.before13.tsv").exists(),
                             build == "build-before13")
            shutil.rmtree(self.results)
        self.assertEqual(self.calls("cmake"), [])

    def test_no_gpu_shows_the_recorded_runs_and_a_simulated_one(self):
        self.gpu.unlink()
        self.link_study()
        for name in ("h200x2", "l4x1", "l4x1_20250101T000000Z", "l4x1_20250101T000000Z.partial"):
            self.write_run(self.project / "results" / name)
        self.write_methods(self.simulated, *(f"{name} warp 1" for name in QUICK))
        shown = self.run_sh().stdout
        self.assertRegex(shown, "^This machine has no NVIDIA GPU(.*\n)+ +What a barrier costs +2 H200 +2 H200\n")
        self.assertEqual(shown.count("1081.2 ± 3.5"), 3)
        folder, page = self.only_folder(), self.project / "build/report/report.html"
        self.assertEqual(shown.splitlines()[-1], "Simulated: nothing of this machine was measured.")
        self.assertTrue(0 < shown.find(f"\nReport of a recorded run: {page}\n")
                        < shown.find(f"\nReport: {folder}/report/report.html\n"), shown)
        self.assertRegex(folder.name, r"^simulated_h200x1_\d{8}T\d{6}Z$")
        self.assertIn("measured: Is it normal? ", shown)
        for path in [*folder.glob("*.t*"), *folder.rglob("report/tables/**/*.tsv")]:
            self.assertTrue(path.read_text().startswith(FIRST[:-1]), path)
        self.assert_refused(self.script("check.py", folder), 3, "--simulated reads them")
        self.assertEqual(self.calls("simulated/Impl"), [
            "simulated/ImplicitBarrier 1 --stats --method " + ",".join(QUICK) + " --processes 5"])
        build, = self.calls("cmake --build")
        self.assertIn("--preset simulated --target simulated_ImplicitBarrier simulated_Bench", build)
        self.assertFalse((self.project / "build/Pitfalls").exists())

    def test_a_gpu_is_required(self):
        self.gpu.unlink()
        for variable in ("SLURM_JOB_ID", "PBS_JOBID", "NO_BATCH_JOB"):
            self.environment[variable] = "1"
            for more in ([], ["--no-build"], ["--quick"]):
                more = more + ["--require-gpu"] * (variable == "NO_BATCH_JOB")
                self.assert_refused(self.run_sh(*more, code=3), 3, "has no NVIDIA GPU")
            del self.environment[variable]
        self.assertEqual(self.calls("cmake"), [])

    def test_build_alone(self):
        """With and without a GPU, in a batch job too, with both toolkits."""
        self.nvcc("cuda-12.4", "12.4")
        self.environment["SLURM_JOB_ID"] = "1"
        for number in (1, 2):
            self.assertEqual(self.run_sh("--build").stdout, "Built: build/\n")
            self.gpu.unlink(missing_ok=True)
            for preset in ("release", "before13"):
                self.assertEqual(len(self.calls(f"cmake --build --preset {preset} ")), number)
        self.assertTrue((self.project / "build/Pitfalls").exists())
        self.assertEqual((self.calls("build"), self.results.exists()), ([], False))
        self.run_sh("--build", "--no-build", code=2)

    def test_the_older_toolkit_builds_what_cuda_13_lacks(self):
        self.write_methods(self.before13, "multi_grid_sync gpus 1", "grid_sync grid 1")
        lacks = self.run_sh("--method", "grid_sync,multi_grid_sync", code=2).stderr
        self.assertIn("'multi_grid_sync', nor is there a build with a toolkit before CUDA 13", lacks)
        self.nvcc("cuda-12.4", "12.4")
        self.run_sh("--method", "grid_sync")
        self.assertEqual(self.calls("cmake --build --preset before13"), [])
        self.run_sh("--method", "multi_grid_sync,grid_sync")
        self.assertEqual(len(self.calls("cmake --build --preset before13")), 1)
        self.assertIn("build-before13/BenchmarkInterSM 2 --stats --method multi_grid_sync",
                      self.calls("build-before13/"))
        self.assertIn("build/BenchmarkInterSM 2 --stats --method grid_sync", self.calls("build/"))
        self.assertTrue(any(self.results.glob("*/BenchmarkInterSM.before13.tsv")))

    def test_a_terminal_shows_one_line_that_is_renewed(self):
        def until(name):
            return f'while [ ! -e "$LOG.{name}" ]; do sleep 0.02; done'

        (self.folder / "fakes/release.then").write_text(
            'echo "[ 50%] a"; echo "[  7%] b"; ' + until("built"))
        (self.release / "TestRepeat.then").write_text(until("seen"))
        ours, theirs = os.openpty()
        process = subprocess.Popen(
            self.command("run.sh", "--results", self.results), env=self.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        said = b""
        with contextlib.suppress(OSError):  # it has ended
            while True:
                said += os.read(ours, 1000)
                if re.search(rb"\r\x1b\[Kbuilding: 50% after \d+ s of about \d+ s\r", said):
                    Path(f"{self.log}.built").touch()
                if len(set(re.findall(rb"\r\x1b\[K4 of 8, after (\d+) s, about \d+ s left: "
                                      rb"TestRepeat(?=\r)", said))) > 1:
                    Path(f"{self.log}.seen").touch()
        os.close(ours)
        self.assertEqual(process.wait(), 0)

    def test_all_with_a_process_for_each_gpu(self):
        self.tool("mpirun", '#!/bin/sh\n[ "$*" != "${*#--bind-to none -np 2 /}" ] && shift 4 && exec "$@"\n')
        self.run_sh("--all")
        self.assertEqual(self.environment_values()["sets"], "all")
        measured = self.calls("build/")
        for call in ("TestRepeat --stats --all", "Stencil --stats --all", "Libraries --stats --all"):
            self.assertIn(f"build/{call}", measured)
        self.assertIn("Pitfalls", measured[-1])
        for name in ("Stencil", "Libraries"):
            self.assertEqual((self.only_folder() / f"{name}.processes.tsv").read_text(), ROWS[name])
        shutil.rmtree(self.results)
        self.tool("mpirun", '#!/bin/sh\nshift 4\ncase $* in *Stencil*) echo row; exit 7 ;; esac\nexec "$@"\n')
        self.assertIn("Stencil.processes failed with exit code 7: its rows are in Stencil.processes.failed\n",
                      self.run_sh("--all").stderr)
        folder = self.only_folder()
        self.assertEqual((folder / "Stencil.processes.failed").read_text(), "row\n")
        self.assertTrue(tsv.Run(folder).checked)
        for name in ("Libraries.processes", "Pitfalls"):
            self.assertTrue((folder / f"{name}.tsv").exists())
        shutil.rmtree(self.results)
        self.tool("mpirun", "#!/bin/sh\necho -----; echo; echo no slots >&2; exit 1\n")
        self.assertRegex(self.run_sh("--all").stderr,
                         "a process for each GPU: mpirun .*/Libraries'? --method mpi_barrier .*: no slots\n")
        self.assertFalse((self.only_folder() / "Stencil.processes.tsv").exists())

    def test_some_methods_of_a_labelled_machine(self):
        self.run_sh("--method", "grid_sync", "--label", "node-7")
        folder = self.only_folder()
        self.assertRegex(folder.name, r"^h200x2_node-7_\d+T\d+Z$")
        environment = (folder / "environment.tsv").read_text()
        self.assertIn("label\tnode-7\nmethods\tgrid_sync\n", environment)
        measured = self.calls("build/")
        self.assertTrue(measured)
        for call in measured:
            self.assertRegex(call, "--(version|devices|list|machine-code)|--method grid_sync( |$)")
        for arguments, message in (
                (["--label", "a/b"], "must be 1 to 64 letters, digits, dots, hyphens and _"),
                (["--label"], "--label needs a value"), (["--method"], "--method needs a value"),
                (["--method", "nosuch"], "has a method 'nosuch'")):
            self.assertIn(message, self.run_sh(*arguments, code=2).stderr)

    def test_quick(self):
        self.write_methods(self.release, *(f"{name} warp 1" for name in [*QUICK, "x"]))
        self.run_sh("--quick")
        self.assertIn("\nmethods\t" + ",".join(QUICK) + "\n",
                      (self.only_folder() / "environment.tsv").read_text())
        shutil.rmtree(self.results)
        self.assertNotEqual(self.calls("build/Libraries 2 --stats"), [])
        self.run_sh("1", "--quick", code=1)  # the made-up rows are of two
        self.assertNotEqual(self.calls("build/BenchmarkInterSM 1 --stats"), [])
        self.assertEqual(self.calls("build/Libraries 1 --stats"), [])

    def test_gpu_presence(self):
        self.gpu.unlink()
        device = self.system / "sys/bus/pci/devices/0000:10:00.0"
        question = "source project/scripts/parts/lib.sh; has_nvidia_gpu && echo yes || echo no"
        for vendor, kind, file, answer in (
                ("0x10de", "0x030200", "x", "yes"), ("0x10de", "0x030000", "x", "yes"),
                ("0x10de", "0x068000", "x", "no"), ("0x8086", "0x030000", "x", "no"),
                ("", "", "dev/dxg", "no"),  # a GPU of another maker
                ("", "", "usr/lib/wsl/lib/libcuda.so.1", "yes")):
            for path, text in ((device / "vendor", vendor), (device / "class", kind),
                               (self.system / file, "")):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            self.assertEqual(self.execute(["bash", "-c", question]).stdout, f"{answer}\n", file)

    def assert_partial(self, reason, errors):
        """What is left of a run in which BenchmarkIntraSM was the last to be measured."""
        folder = self.only_folder()
        self.assertRegex(folder.name, r"^h200x2_\d{8}T\d{6}Z\.partial$")
        self.assertEqual(errors.splitlines()[-1],
                         f"run.sh: {reason}; what was measured is in {folder}")
        self.assertEqual({path.stem for path in folder.glob("*.tsv")},
                         {"ImplicitBarrier", "BenchmarkIntraSM", "environment"})
        for name in ("ImplicitBarrier", "BenchmarkIntraSM"):
            self.assertEqual((folder / f"{name}.tsv").read_text(), ROWS[name])
        shutil.rmtree(self.results)

    def test_failures_keep_whole_rows(self):
        for then, code, how in (("exit 7", 1, "failed with exit code 7"),
                                ("exit 3", 3, "failed with exit code 3"),
                                ("exit 2", 1, "failed with exit code 2"),
                                ("kill -KILL $$", 1, "was ended by signal 9")):
            (self.release / "BenchmarkIntraSM.then").write_text(f"printf half_a_ro; {then}")
            self.assert_partial(f"BenchmarkIntraSM {how}", self.run_sh(code=code).stderr)
        (self.project / "build/devices").unlink()
        self.assertIn("cannot be used: ImplicitBarrier: error: no CUDA",
                      self.run_sh("--no-build", code=3).stderr)
        self.assertFalse(self.results.exists())

    def test_signals(self):
        self.nvcc("cuda-12.4", "12.4")
        for preset, where in (("release", "build/"), ("before13", "build/ and build-before13/")):
            then = self.folder / f"fakes/{preset}.then"
            then.write_text(WAIT)
            for name in ("INT", "TERM"):
                self.assertTrue(self.interrupt(self.command("run.sh"), name).endswith(
                    f"\nrun.sh: interrupted; what was built is in {where}\n"))
            then.unlink()
        self.assertEqual(self.calls("build"), [])
        (self.release / "BenchmarkIntraSM.then").write_text(WAIT_ALONE)
        for name in ("INT", "TERM", "HUP"):
            errors = self.interrupt(self.command("run.sh", "--results", self.results), name)
            self.assertNotIn("BenchmarkIntraSM: ", errors)  # what it said is in the log
            self.assert_partial("interrupted", errors)

    def test_what_cannot_be_built_or_written(self):
        (self.folder / "fakes/release.then").write_text("exit 1")
        self.assertIn("run.sh: the build failed", self.run_sh(code=1).stderr)
        self.assertFalse(self.results.exists())
        (self.folder / "fakes/release.then").unlink()
        self.results.write_text("a file")
        self.log.unlink()
        refused = f"run.sh: --results: {self.results} is not a folder that can be written\n"
        self.assert_refused(self.run_sh(code=1), 1, refused)
        self.assert_refused(self.script("run.sh", "--results", self.results / "a/b"), 1, refused)
        self.assertEqual(self.calls(), [])  # not even built
        for name in ("a\nb", "a\u202eb"):  # as the readers of its rows would
            for command in (["run.sh"], ["measure.py", self.project / "build"]):
                done = self.script(*command, "--results", self.folder / name)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn("has a character that cannot be shown", done.stderr.splitlines()[-1])
        self.assertEqual((self.results.read_text(), self.calls("build")), ("a file", []))

    def test_a_report_that_fails(self):
        """It is said, and neither the rows nor the exit code are other ones."""
        done = self.run_sh()
        folder = self.only_folder()
        self.assertTrue(done.stdout.endswith(f"\nResults: {folder}\n"), done.stdout)
        self.assertIn("\nReport: none\n", done.stdout)
        self.assertIn("report.py: cannot read ", done.stderr)  # there is no study
        self.assertTrue(done.stderr.endswith(
            "\nwarning: there is no report (exit code 2 of report.py); again with: "
            f"{self.project / 'scripts/report.py'} {folder}\n"), done.stderr)
        self.assertFalse((folder / "report").exists())


class SweepTest(ScriptsTest):
    def test_sweep(self):
        shutil.copytree(self.release, self.project / "build")
        rows = self.project / "build/BenchmarkInterSM.rows"
        alone = re.sub(r"(?m)^\w+\t2\t.*\n", "", rows.read_text())  # as of one GPU
        rows.write_text(alone)
        out = self.folder / "a/new one"
        sweep = ["sweep_gpus.sh", "BenchmarkInterSM", 2, "-o", out, "--", "--samples", 5]
        done = self.script(*sweep)
        one, two = sorted(out.iterdir(), key=lambda path: path.name[:6])
        self.assertEqual((done.returncode, done.stdout), (0, f"Results: {one}\nResults: {two}\n"),
                         done.stderr)
        for folder, gpus in ((one, 1), (two, 2)):
            self.assertRegex(folder.name, rf"^h200x{gpus}_\d{{8}}T\d{{6}}Z$")
            run = tsv.Run(folder)
            self.assertEqual((run.gpus, run.checked, list(run.files)),
                             (gpus, True, ["BenchmarkInterSM"]))
            self.assertEqual((folder / "BenchmarkInterSM.tsv").read_text(), alone)
        self.assertEqual(self.calls(), [f"build/BenchmarkInterSM {n} --stats --samples 5"
                                        for n in (1, 2)])
        self.assert_refused(self.script(*sweep), 2, f"{out} exists already")

    def test_sweep_that_fails(self):
        shutil.copytree(self.release, self.project / "build")
        path = self.project / "build/BenchmarkInterSM"
        (path.parent / "BenchmarkInterSM.then").write_text("[ $1 = 1 ] || exit 5\n")
        rows = path.with_suffix(".rows")
        rows.write_text(re.sub(r"(?m)^\w+\t2\t.*\n", "", rows.read_text()))
        done = self.script("sweep_gpus.sh", path, 3)
        out, = (self.project / "results").iterdir()
        self.assertRegex(out.name, r"^BenchmarkInterSM_sweep_\d{8}T\d{6}Z$")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"sweep_gpus.sh: BenchmarkInterSM failed with exit code 5; "
                         r"what was measured is in .*h200x2_.*\.partial\n$")
        self.assertEqual(sorted(path.name[:6] for path in out.iterdir()), ["h200x1", "h200x2"])

    def test_sweep_that_is_ended(self):
        (self.release / "BenchmarkInterSM.then").write_text(WAIT_ALONE)
        sweep = self.command("sweep_gpus.sh", self.release / "BenchmarkInterSM", 2)
        self.assertTrue(self.interrupt(sweep, "TERM").endswith("\nsweep_gpus.sh: interrupted\n"))


if __name__ == "__main__":
    unittest.main()
