"""A kernel of Pitfalls that hangs ends by itself, on a simulated GPU, where its parent cannot end it.

usage: simulated_pitfalls_test.py FOLDER_OF_EXECUTABLES
"""
import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests/gpu")]
from parts import tsv  # noqa: E402
from pitfalls_test import in_session  # noqa: E402

EXECUTABLE = sys.argv.pop(1) + "/Pitfalls" if len(sys.argv) > 1 else sys.exit(__doc__)
LIMIT = 600  # seconds


class WatchdogTest(unittest.TestCase):
    def test_a_kernel_that_nobody_kills_ends(self):
        """The parent is stopped while its first case hangs."""
        process = subprocess.Popen(
            [EXECUTABLE, "1", "--method", "part_grid_sync"], stdout=subprocess.PIPE,
            env=dict(os.environ, STAND_IN="gpus=1 sms=8"), start_new_session=True)
        latest = time.monotonic() + LIMIT
        while len(in_session(process.pid)) < 2:
            self.assertLess(time.monotonic(), latest)
            time.sleep(0.01)
        start = time.monotonic()
        os.kill(process.pid, signal.SIGSTOP)
        try:
            while len(in_session(process.pid)) == 2 and time.monotonic() < start + LIMIT:
                time.sleep(0.1)
        finally:
            os.kill(process.pid, signal.SIGCONT)
        seconds = time.monotonic() - start
        out, _ = process.communicate(timeout=LIMIT)
        section, = tsv.parse(out)
        self.assertEqual([row["outcome"] for row in section.rows],
                         ["error cudaErrorLaunchFailure", "no progress within 1 s", "completed"])
        self.assertGreater(seconds, 5)  # twice the longest spin is 6 s


if __name__ == "__main__":
    unittest.main()
