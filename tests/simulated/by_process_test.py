"""Rows of BenchmarkInterSM that several processes measure.

usage: by_process_test.py FOLDER    FOLDER holds the simulated programs
"""
import sys
import unittest
from pathlib import Path

import planted

planted.FOLDER = Path(sys.argv.pop(1)).resolve()
METHOD = "peer_grid_sync"
MEANS = ("m(basic_ttl)", "m(more_ttl)", "m(avginstru)")


def run(program, samples, *methods, **scenario):
    chosen = ["--method", ",".join(methods)] if methods else []
    return planted.Done(program, ["3", "--stats", "--blocks-per-sm", "1", "--samples", samples,
                                  *chosen], **{"gpus": 3, **scenario})


class ByProcess(unittest.TestCase):
    def test_rows_are_those_of_one_process(self):
        alone, several = (
            {tuple(row[name] for name in ("GPUcount", "blk", "thrd")): row
             for title, row in run(program, 7, METHOD).rows()
             if title == "multi-GPU latency" and row["GPUcount"] != "1"}
            for program in ("BenchmarkInterSM", "MeasuredByProcess"))
        self.assertEqual(list(several), list(alone))
        self.assertEqual({shape[0] for shape in several}, {"2", "3"})
        for shape, row in several.items():
            self.assertEqual((row["n"], row["processes"]), ("7", "7"))
            for name in MEANS:
                self.assertAlmostEqual(float(row[name]) / float(alone[shape][name]), 1, 5, row)

    def test_samples_are_shared(self):
        rows = [row for _, row in run("MeasuredByProcess", 12, METHOD).rows()]
        self.assertEqual({(row["n"], row["processes"]) for row in rows}, {("20", "10")})

    def test_processes_differ(self):
        spread = run("MeasuredByProcess", 10, METHOD, noise=0.05).rows()
        self.assertTrue(all(float(row["s(avginstr)"]) > 0 for _, row in spread))

    def test_what_no_process_can_measure(self):
        done = run("MeasuredByProcess", 2, METHOD, peer="none")
        self.assertEqual(done.code, 4, done.errors)
        section, = done.sections
        self.assertEqual(section.rows, [])
        self.assertEqual({said.tag for said in section.annotations if said.kind == "skipped"},
                         {"no-barrier"})
        self.assertIn("asked for and not measured: " + METHOD, done.errors)

    def test_without_peer_access(self):
        """The stand-in complains, which is an error, where there is access all the same."""
        done = run("MeasuredByProcess", 2, "without_peers", METHOD)
        self.assertEqual(done.code, 0, done.errors)
        self.assertEqual({row["method"] for _, row in done.rows()}, {"without_peers", METHOD})

    def test_with_peer_access(self):
        """Of a method that does not ask for it a second time."""
        self.assertEqual(run("BenchmarkInterSM", 2, "peer_cas").code, 0)

    def test_warnings_of_processes_are_passed_on_once(self):
        done = run("MeasuredByProcess", 3, METHOD, others=2)
        # Once for the others, and once by the process that prints.
        self.assertEqual(done.text.count("# warning[shared-gpu gpu=0"), 2)


if __name__ == "__main__":
    unittest.main()
