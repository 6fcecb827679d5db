"""End-to-end test of sets: what is measured by default is what --all measures, less the evidence;
at an interruption nothing that was measured is lost.

usage: sets_test.py FOLDER
"""

import os
import signal
import subprocess
import sys
import unittest

import planted
from planted import RUNS, of

FEW = ("--stats", "--samples", "2")
PROGRAMS = {"ImplicitBarrier": ("2", "--processes", "2", *FEW), "BenchmarkIntraSM": FEW,
            "BenchmarkInterSM": ("2", "--blocks-per-sm", "1,2,8", *FEW), "TestRepeat": FEW,
            "Reduction": ("2", "--max-bytes", "4M", *FEW),
            "Stencil": ("1", "--max-bytes", "1M", "--method", "grid_sync,graph_launch", *FEW)}
# Kernels of a series are launched as far apart, whatever was measured before.
STILL = dict(gpus=2, sms=4, clock_read=0)
NAMED = {"ImplicitBarrier": "remote_domain_launch", "BenchmarkIntraSM": "cluster_sync_dims",
         "BenchmarkInterSM": "ping_pong"}
for name, arguments in PROGRAMS.items():
    RUNS[name] = (name, arguments, STILL, (), None, ())
    RUNS[name, "--all"] = (name, arguments, STILL)
for name, method in NAMED.items():
    RUNS[name, method] = (name, (*PROGRAMS[name], "--method", method), STILL, (), None, ())
for gpus in (4, 5):
    RUNS[f"{gpus} GPUs"] = ("ImplicitBarrier", (gpus, "--samples", "2", "--method", "graph_seam"),
                            dict(STILL, gpus=gpus))


def points(done, wanted):
    """(title, cells that say what a row is of) of the rows of these sets"""
    return {(section.title, row["method"], *(row[column] for column in section.point))
            for section in done.sections for row in section.rows if row["set"] in wanted}


class Sets(unittest.TestCase):
    def test_default_is_all_without_evidence(self):
        for program in PROGRAMS:
            with self.subTest(program):
                usual, everything = of(program), of((program, "--all"))
                self.assertEqual((usual.code, everything.code), (0, 0))
                self.assertEqual(usual.sections.sets, ["study", "today"])
                self.assertEqual(everything.sections.sets, ["study", "today", "evidence"])
                shown = points(everything, ("study", "today"))
                self.assertEqual(points(usual, ("study", "today", "evidence")), shown)
                self.assertTrue(points(everything, ("evidence",)))
                self.assertTrue(shown)

    def test_a_named_method_is_measured_whatever_its_set(self):
        for program, method in NAMED.items():
            self.assertEqual(planted.listed(program)[method][-1], "evidence")
            rows = [row for _, row in of((program, method)).rows()]
            self.assertTrue(rows, program)
            self.assertEqual({(row["method"], row["set"]) for row in rows}, {(method, "evidence")})

    def test_many_gpus_have_fewer_processes(self):
        for gpus, count in ((4, 10), (5, 5)):
            self.assertIn(f"\n# processes[count={count} ", of(f"{gpus} GPUs").text)

    def test_held_sections_are_printed_at_an_interruption(self):
        """The last process has measured `one stream`, whose rows wait for those of the study."""
        environment = dict(os.environ, LD_LIBRARY_PATH=str(planted.FOLDER),
                           STAND_IN="gpus=1 sms=4")
        process = subprocess.Popen(
            [planted.FOLDER / "ImplicitBarrier", "1", "--processes", "1", "--samples", "300",
             "--method", "traditional_launch,graph_launch"],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        lines = []
        for line in process.stdout:  # rows of the first section that is printed
            lines.append(line)
            if line.startswith("traditional_launch\t"):
                break
        else:
            self.fail(process.stderr.read())
        self.assertIn("# null kernel\n", lines)
        process.send_signal(signal.SIGTERM)
        rest, _ = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        text = "".join(lines) + rest
        self.assertIn("\n# one stream: ", text)
        self.assertIn("\n# graphs: ", text)
        self.assertLess(text.index("# null kernel"), text.index("# one stream"))
        self.assertNotIn("# end[", text)


if __name__ == "__main__":
    sys.exit(planted.main(__doc__))
