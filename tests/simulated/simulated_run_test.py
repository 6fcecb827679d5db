"""Tests of the whole flow on simulated GPUs: run.sh and the report, on several numbers of GPUs, of
kinds that are recorded and of others. THOROUGH=1 in the environment takes all of them.

Usage: simulated_run_test.py FOLDER_OF_EXECUTABLES
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from parts import tsv  # noqa: E402  from scripts/
from parts.suite import NAMES  # noqa: E402

# Number of GPUs -> what they are. Each differs from every recorded kind but the last two.
KINDS = {
    2: "sms=6 name=Pretended_GPU_2_<b>&$x_^ ghz=0.9 memory_khz=5001000 bus_bits=256 peer=none",
    8: "sms=8 name=NVIDIA_B999 ghz=2.6 capability=103 memory_khz=3996000 l2_kib=512 noise=0.01",
    1: "name=NVIDIA_H100_80GB_HBM3 memory_khz=2619000 bus_bits=5120 noise=0.005",
    4: "name=NVIDIA_H200 threads_per_sm=1536 blocks_per_sm=24 noise=0.02 outliers=0.001",
}
DEFAULT = (2,)


class SimulatedRunTest(unittest.TestCase):
    def test_runs(self):
        kinds = KINDS if os.environ.get("THOROUGH") else {n: KINDS[n] for n in DEFAULT}
        with ThreadPoolExecutor() as pool:
            list(pool.map(self.check, kinds, kinds.values()))

    def check(self, gpus, words):
        with tempfile.TemporaryDirectory() as temporary:
            project = Path(temporary)
            shutil.copytree(ROOT / "scripts", project / "scripts")
            for name in ("results", "CITATION.cff"):
                (project / name).symlink_to(ROOT / name)
            (project / "build-simulated").mkdir()
            (project / "build-simulated" / "simulated").symlink_to(BUILD)
            done = subprocess.run(
                [project / "scripts" / "run.sh", "--simulated", str(gpus), "--no-build", "--all"],
                env=dict(os.environ, STAND_IN=words), stdin=subprocess.DEVNULL, capture_output=True,
                text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotRegex(done.stderr, "Traceback|stand-in:|Error")
            self.assertRegex(done.stdout, r"\nReport: \S+/report/report.html\nResults: \S+\n"
                             "Simulated: nothing of this machine was measured.\n$")
            folder, = (project / "build").iterdir()
            self.check_rows(gpus, folder)

    def check_rows(self, gpus, folder):
        """All are there, and called simulated."""
        read = tsv.Run(folder, simulated=True)  # refuses rows that are not rectangular
        self.assertTrue(read.checked)
        more = read.files.keys() - set(NAMES)  # where mpirun starts processes
        self.assertEqual(read.files.keys() - more, set(NAMES))
        self.assertIn(more, [set(), *[{"Libraries.processes", "Stencil.processes"}] * (gpus > 1)])
        self.assertEqual(read.gpus, gpus)
        for path in folder.rglob("*"):
            if path.suffix in (".tsv", ".txt", ".log", ".html", ".md", ".tex"):
                self.assertIn("simulated", path.read_text(), path)


if __name__ == "__main__":
    BUILD = Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
