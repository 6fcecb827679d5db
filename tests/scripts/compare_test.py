"""Tests of compare.py on made-up results folders."""

import unittest

from made_up_rows import LATENCY, ROWS, section
from scripts_support import ScriptsTest

from parts import means  # from scripts/, which scripts_support has put on the path

NULL = "method GPUCount rep blk thrd m(ttl) m(addl) ci95(ttl) ci95(addl)"
SLEEP = "method GPUCount rep blk thrd idea(wkld) m(ovh) s(ovh) ci95(ovh)"
HELD = "method GPUCount rep blk thrd idea(wkld) m(cpu) s(cpu) m(timer) ci95(cpu)"
THROUGHPUT = "method GPUcount rep blk thrd tile m(diff_latency) m(diff_thrput) ci95(diff_thrput)"


def latencies(*means, half_width=0):
    """A row for each mean, at 1, 2, ... threads."""
    return section("block latency", LATENCY, *(
        f"blocksync 1 64 1 {threads} {mean} 1 32 9 {half_width}"
        for threads, mean in enumerate(means, 1)))


class CompareTest(ScriptsTest):
    def setUp(self):
        super().setUp()
        self.link_study()

    def compare(self, *arguments, code=0):
        """The rows, cells with blanks between them."""
        done = self.script("compare.py", *arguments)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.output, self.errors = done.stdout.splitlines(), done.stderr.splitlines()
        head, *rows = [line.split("\t") for line in self.output if line[0] != "#"] or [[]]
        self.rows = [dict(zip(head, cells)) for cells in rows]
        for column in set(head) - {"A", "B"}:  # none is there for nothing
            self.assertNotEqual({row[column] for row in self.rows}, {"-"})
        self.assertNotIn("\tnan", done.stdout)
        self.assertEqual(self.errors[-1].startswith("compare.py: B is as A"), code == 0)
        return [" ".join(cells) for cells in rows]

    def two(self, first, second, *options, code=0):
        """Compares runs that differ in TestRepeat alone."""
        for name, text in (("a", first), ("b", second)):
            self.write_run(self.folder / name, {"TestRepeat": text}, only=True)
        return self.compare(self.folder / "a", self.folder / "b", *options, code=code)

    def test_verdicts(self):
        for verdict, *cases in (  # mean and half width of A, of B
                ("same", ((100, 0), (102, 0)), ((100, 9), (98, 9)), ((0, 0), (0, 0)),
                 (("nan", "nan"), ("nan", "nan"))),
                ("slower", ((100, 0), (102.1, 0)), ((100, 3), (105.1, 4)), ((-100, 0), (-90, 0))),
                ("faster", ((100, 0), (97.9, 0)), ((100, 3), (94.9, 4)), ((-100, 0), (-110, 0))),
                ("unclear", ((100, 3), (105, 4)), ((100, 3), (95, 4)), (("nan", 0), (100, 0)),
                 ((100, 0), ("nan", 0)), ((100, "nan"), (200, 0)), ((0, 0), (1, 0)))):
            for pair in cases:
                a, b = (means.Value(float(mean), float(half), str(mean)) for mean, half in pair)
                self.assertEqual(means.compare("avginstru", a, b, 2.0).verdict, verdict, pair)

    def test_numbers_and_threshold(self):
        numbers = [latencies("200.000", half_width=3), latencies("230.500", half_width=4)]
        self.assertEqual(self.two(*numbers, "--threshold", "15.2", code=1), [
            "TestRepeat block latency blocksync 1 64 1 1 32 200.000 230.500 15.250 2.500 slower"])
        self.assertEqual(self.two(*numbers, "--threshold", "15.3", "--allow", "0"), [])

    def test_allowed_share(self):
        first, second = latencies(*[10] * 20), latencies(*[10] * 17, 9, 12, 8)
        self.assertEqual(len(self.two(first, second, "--allow", "15")), 3)
        self.two(first, second, "--allow", "14.9", code=1)
        self.assertIn(": 17 same, 2 faster, 1 slower, 0 unclear; 0 on one", self.errors[0])
        for sides in ((first, latencies(*[10] * 19)), (latencies(*[10] * 19), first)):
            self.two(*sides, "--allow", "5")  # a row that one side lacks has moved
            self.assertIn(": TestRepeat, section block latency, method blocksync: 1 rows",
                          self.output[-1])
            self.two(*sides, "--allow", "5", "--all")
            self.assertTrue(self.output[-1].endswith(
                ": TestRepeat\tblock latency\tblocksync\tgpus=1\trep=64\tblk=1\tthrd=20\ttile=32"))
            self.two(*sides, "--allow", "4.9", code=1)

    def test_what_is_missing_as_a_whole(self):
        both, less = self.write_run(self.folder / "both"), self.folder / "less"
        half = ROWS["BenchmarkInterSM"].split("# multi-GPU")[0]
        for name, text, missing in (("TestRepeat", None, "TestRepeat, all 1 rows"),
                                    ("ImplicitBarrier", "# end[rows=0]\n", "ImplicitBarrier, all 4 rows"),
                                    ("BenchmarkInterSM", half, "section multi-GPU latency")):
            self.write_run(less, {name: text})
            for folders in ((both, less), (less, both), (both, "--with", less, both)):
                self.compare(*folders, "--allow", "100", code=1)
                self.assertIn("missing on one side: ", self.errors[-2])
                self.assertIn(missing, self.errors[-2])

    def test_a_method_that_is_lost(self):
        """Another one may be new."""
        rows = [f"{method} 1 64 1 32 100 1 32 9 0" for method in ("x", "y")]
        both, less = (section("t", LATENCY, *some) for some in (rows, rows[:1]))
        self.two(both, less, code=1)
        self.assertIn("compare.py: missing on one side: TestRepeat, section t, method y", self.errors)
        self.two(less, both)

    def test_sets_of_runs(self):
        runs = [self.write_run(self.folder / str(mean), {
            "TestRepeat": latencies(mean, half_width=5)}, only=True)
            for mean in (100, 104, 110, 112)]
        rows = self.compare(*runs[:2], "--with", *runs[2:], "--all")  # with intervals as wide
        self.assertEqual([row.split()[-5:] for row in rows],
                         [["102.000", "111.000", "8.824", "2.192", "slower"]])
        self.assertEqual([line[:4] for line in self.output[:4]], ["# A:", "# A:", "# B:", "# B:"])

    def test_what_makes_rows_the_same_point(self):
        for header, first, second, expected in (
                (SLEEP, "l 2 128 1 32 5000 10 1 0", "l 2 16 1 32 80000 11 1 0",
                 "2 nan 1 32 nan nan: 10 11 10.000 0.000 slower"),
                (HELD, "l 2 48 1 32 5000 10 1 9 0", "l 2 32 1 32 5000 11 1 9 0",
                 "2 nan 1 32 nan 5000: 10 11 10.000 0.000 slower"),
                (THROUGHPUT, "l 1 4096 4 64 32 9 0.5 0", "l 1 512 4 64 32 1 0.6 0",
                 "1 nan 4 64 32 nan: 0.5 0.6 20.000 0.000 faster"),
                (NULL, "l 2 128 1 32 10 4 0 0", "l 2 64 1 32 10 5 0 0",
                 "2 many 1 32 nan nan: 4 5 25.000 0.000 slower"),
                (NULL, "l 2 1 1 32 10 nan 0 nan", "l 2 1 1 32 11 nan 0 nan",
                 "2 1 1 32 nan nan: 10 11 10.000 0.000 slower")):
            rows = self.two(section("t: one", header, first), section("t", header, second), code=1)
            key, numbers = expected.split(": ")
            self.assertEqual(rows, [f"TestRepeat t l {key} {numbers}".replace(" nan", "")])
        unknown = section("t", NULL, "l 2 1 1 32 10 nan 0 nan").replace("addl", "x")
        run = self.write_run(self.folder / "a", {"TestRepeat": unknown}, only=True)
        self.assert_refused(self.script("compare.py", run, run), 2, "TestRepeat.tsv, line 2",
                            "column m(x): no such mean is known")
        base = "x 1 64 1 32 100 1 32 9 0"
        for other in ("y 1 64 1 32", "x 2 64 1 32", "x 1 16 1 32", "x 1 64 2 32", "x 1 64 1 64"):
            self.assertEqual(self.two(section("t", LATENCY, base), section(
                "t", LATENCY, f"{other} 90 1 32 9 0", base), "--allow", "50"), [], other)
        self.assertEqual(self.two(section("t", LATENCY, base), section(
            "t", LATENCY, "x 1 64 1 32 90 1 16 9 0", base), "--allow", "50"), [])

    def test_sums(self):
        """Of each type and size, and each cost that a prediction is from; more GB/s are faster."""
        changed = ROWS["Reduction"]
        for old, new in (("\t168.750", "\t268.750"), ("\t90.0\t", "\t190.0\t"),
                         ("\t110.000", "\t210.000")):
            self.assertEqual(changed.count(old), 1)
            changed = changed.replace(old, new)
        self.two(ROWS["Reduction"], changed, code=1)
        self.assertEqual([[row[column] for column in ("thrd", "type", "bytes", "cost", "verdict")]
                          for row in self.rows], [line.split() for line in (
                              "- double - - slower", "32 double - barriers slower",
                              "- float 1048576 - faster")])

    def test_bad_usage(self):
        run = self.write_run(self.folder / "run", {"TestRepeat": latencies(1)}, only=True)
        twice = latencies(1) + latencies(1).splitlines(keepends=True)[-1]
        for arguments, message in (
                ([run], "two folders are needed"), ([run] * 3, "two folders are needed"),
                ([run, "--with"], "--with: expected"), ([run, run, "--al"], "arguments: --al"),
                ([run, self.write_run(self.folder / "2", {"TestRepeat": twice})], "point twice"),
                ([run, self.write_run(self.folder / "3", {"TestRepeat": None})], "no row in com"),
                ([run, run, "--threshold", "x"], "--threshold: invalid percentage"),
                ([run, run, "--allow", "-1"], "--allow: invalid percentage"),
                ([run, run, "--allow", "nan"], "--allow: invalid percentage")):
            self.assert_refused(self.script("compare.py", *arguments), 2, message)


if __name__ == "__main__":
    unittest.main()
