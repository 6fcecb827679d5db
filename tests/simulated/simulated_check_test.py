"""check.py measures a simulated node: is what is planted in it told?

usage: simulated_check_test.py FOLDER    of the programs on simulated GPUs
"""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = None


class CheckTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.healthy = Path(cls.temporary.name) / "healthy"
        cls.check_node(None, "--keep", cls.healthy)

    @classmethod
    def check_node(cls, code, *arguments, planted="", programs=None):
        """What it says. Where that is not normal, a folder keeps rows and verdict."""
        folders = Path(cls.temporary.name)
        environment = dict(os.environ, LD_LIBRARY_PATH=str(PROGRAMS), TMPDIR=str(folders),
                           STAND_IN=f"sms=4 {planted}")
        before = set(folders.iterdir())
        done = subprocess.run(
            [ROOT / "scripts/check.py", "--simulated", "--gpus", "4", "--build",
             programs or PROGRAMS, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            encoding="utf-8", timeout=600)
        assert code in (None, done.returncode), (planted, done.stdout, done.stderr)
        kept = set(folders.iterdir()) - before
        assert len(kept) == bool(done.returncode), kept
        for folder in kept:
            assert f"what was measured is in {folder}\n" in done.stderr, done.stderr
            told = (folder / "verdict.txt").read_text().splitlines()
            assert told[0] == "# simulated" and (folder / "node/environment.tsv").exists(), told
            assert set(told) >= {line for line in done.stdout.splitlines() if line[0] != " "}
        return done.stdout

    def beside_healthy(self, code, planted, programs=None):
        return self.check_node(code, "--against", self.healthy / "node", "--against",
                               self.healthy / "GPU 0", planted=planted, programs=programs)

    def test_the_same_node_is_normal(self):
        self.assertRegex(self.beside_healthy(0, ""), r"^normal: \d+ rows judged\n$")

    def test_the_slow_gpu_is_named(self):
        output = self.beside_healthy(2, "slow_gpu=2 slow_by=1.3")
        self.assertIn("broken: GPU 2: grid_sync (BenchmarkInterSM, grid latency): 30% slower",
                      output)
        for other in (0, 1, 3):
            self.assertNotIn(f"GPU {other}: ", output)

    def test_what_is_slow_once_is_not_the_node(self):
        """The first run of a program is slow, the next, of the methods that differ, is not."""
        with tempfile.TemporaryDirectory() as folder:
            for program in PROGRAMS.iterdir():
                (Path(folder) / program.name).symlink_to(program)
            name = Path(folder) / "BenchmarkInterSM"
            name.unlink()
            name.write_text(f"""#!/bin/sh
                if mkdir {folder}/ran 2>/dev/null; then STAND_IN="$STAND_IN slow_gpu=0 slow_by=1.3"; fi
                exec {PROGRAMS}/BenchmarkInterSM "$@"\n""")
            name.chmod(0o755)
            self.assertRegex(self.beside_healthy(0, "", Path(folder)), r"^normal: \d+ rows judged; "
                             r"measured again, as rows differed: [\w, ]+\n$")

    def test_a_gpu_that_fails(self):
        output = self.beside_healthy(2, "fail_call=cudaEventCreate fail_at=1 fail_mode=stays")
        self.assertIn("failed with exit code", output)


if __name__ == "__main__":
    PROGRAMS = Path(sys.argv.pop(1)).resolve()
    unittest.main()
