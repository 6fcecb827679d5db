"""Runs scripts/sanitize.sh with a made-up compute-sanitizer: does it run what it
says, and does it notice what the tools find?"""

import unittest
from pathlib import Path

from scripts_support import ScriptsTest, write_program

# It does as the real one: a log with a sum at its end. TOOL.says beside it
# replaces that sum, TOOL.code the exit code.
SANITIZER = r'''#!/bin/bash
here=${0%/*} tool=$2
echo "${@:2}" >>"$here/calls"
sum='ERROR SUMMARY: 0 errors'
if [[ $tool == racecheck ]]; then
  sum='RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)'
fi
if [[ -e $here/$tool.says ]]; then sum=$(<"$here/$tool.says"); fi
gpus=$(cat "$here/gpus" 2>/dev/null || echo "$4")
if [[ ! -e $here/no.rows ]]; then printf 'grid_sync\t%d\t2\n' "$gpus" 2>/dev/null; fi
echo "========= $sum"
if [[ -e $here/$tool.code ]]; then exit "$(<"$here/$tool.code")"; fi
'''
PROGRAM = r'''#!/bin/bash
case $1 in
  --help) echo "usage: ${0##*/} [options] HELP" ;;
  --list) printf 'grid_sync\tof a GPU\npeer_grid_sync\tof GPUs\n' ;;
  --devices) printf 'gpu\tname\n0\tH200\n1\tH200\n' ;;
esac
'''
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")


class SanitizeTest(ScriptsTest):
    def setUp(self):
        super().setUp()
        self.use_tools(compute_sanitizer=SANITIZER)
        self.tools = self.folder / "tools"
        for name in ("BenchmarkInterSM", "TestRepeat"):
            count = "[gpu_count]" if name == "BenchmarkInterSM" else ""
            write_program(self.build / name, PROGRAM.replace("HELP", count))
        self.environment["TMPDIR"] = str(self.folder)

    def sanitize(self, *names):
        return self.execute(self.command("sanitize.sh", "--build-dir", self.build, *names))

    def test_clean(self):
        done = self.sanitize("BenchmarkInterSM", "TestRepeat")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines(), [
            "\t".join(("executable", "GPUs", *TOOLS)),
            "BenchmarkInterSM\t1\t0\t0\t0\t0", "BenchmarkInterSM\t2\t0\t0\t0\t0",
            "TestRepeat\t1\t0\t0\t0\t0"])
        calls = (self.tools / "calls").read_text().replace(f"{self.build}/", "").splitlines()
        for count in "12":
            for tool in ("memcheck", "synccheck", "initcheck"):
                self.assertIn(f"{tool} BenchmarkInterSM {count} --samples 1", calls)
        race = [call for call in calls if call.startswith("racecheck")]
        grids = "--blocks-per-sm 1,32"
        self.assertEqual(race, [
            f"racecheck BenchmarkInterSM 1 --samples 1 --method grid_sync {grids}",
            f"racecheck BenchmarkInterSM 1 --samples 1 --method peer_grid_sync {grids}",
            f"racecheck BenchmarkInterSM 2 --samples 1 --method peer_grid_sync {grids}",
            "racecheck TestRepeat --samples 1 --method grid_sync",
            "racecheck TestRepeat --samples 1 --method peer_grid_sync"])
        self.assertEqual(len(calls), 14)
        self.assertEqual(list(self.folder.glob("tmp.*")), [])

    def test_what_is_found(self):
        for tool, says, code, cell in (
                ("memcheck", "ERROR SUMMARY: 3 errors", "1", "3"),
                ("initcheck", "ERROR SUMMARY: 2 errors", "0", "2"),
                ("racecheck", "RACECHECK SUMMARY: 4 hazards displayed (4 errors)", "1", "8"),
                ("synccheck", "ERROR SUMMARY: 0 errors", "1", "failed(1)"),
                ("memcheck", "Internal Sanitizer Error", "0", "failed(0)"),
                ("racecheck", "Internal Sanitizer Error", "0", "failed(0)"),
                ("initcheck", "", "124", "time-out")):
            (self.tools / f"{tool}.says").write_text(says)
            (self.tools / f"{tool}.code").write_text(code)
            done = self.sanitize("TestRepeat")
            self.assertEqual(done.returncode, 1, (tool, done.stderr))
            found = done.stdout.splitlines()[1].split("\t")
            self.assertEqual(found[2 + TOOLS.index(tool)], cell, done.stdout)
            self.assertEqual(found[2:].count("0"), 3, done.stdout)
            logs = Path(done.stderr.split("the logs are in ")[1].strip())
            self.assertTrue(list(logs.glob(f"TestRepeat.{tool}*.log")), logs)
            for kind in ("says", "code"):
                (self.tools / f"{tool}.{kind}").unlink()

    def test_nothing_measured_is_not_clean(self):
        (self.tools / "no.rows").touch()
        done = self.sanitize("TestRepeat")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stdout.splitlines()[1].split("\t")[2:], ["failed(0)"] * 4)
        (self.tools / "no.rows").unlink()
        (self.tools / "gpus").write_text("1")  # as where two cannot reach each other
        done = self.sanitize("BenchmarkInterSM")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual([line.split("\t")[2] for line in done.stdout.splitlines()[1:]],
                         ["0", "failed(0)"])
        program = (self.build / "TestRepeat").read_text()
        write_program(self.build / "TestRepeat", program.replace("--list) ", "--list) exit 1; "))
        done = self.sanitize("TestRepeat")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--list failed", done.stderr)

    def test_refusals(self):
        self.assert_refused(self.sanitize("Nothing"), 1, "Nothing is not built")
        self.assert_refused(self.sanitize("--nothing"), 2, "unknown option '--nothing'")
        self.environment["SANITIZE_TIMEOUT"] = "soon"
        self.assert_refused(self.sanitize("TestRepeat"), 2, "SANITIZE_TIMEOUT")
        del self.environment["SANITIZE_TIMEOUT"]
        (self.system / "dev/nvidia0").unlink()
        self.assert_refused(self.sanitize("TestRepeat"), 3, "no NVIDIA GPU")


if __name__ == "__main__":
    unittest.main()
