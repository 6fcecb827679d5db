"""Tests of scripts/compare.py on made-up results folders."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent.parent / "scripts/compare.py"
COLUMNS = ("file section method gpus rep blk thrd tile wkld A B change_percent "
           "interval_percent verdict").split()
NULL = "method GPUCount rep blk thrd m(ttl) m(addl) n ci95(ttl) ci95(addl)"
WORKLOAD = "method GPUCount rep blk thrd m(ttl) m(addl) idea(wkld) n ci95(ttl) ci95(addl)"
SLEEP = "method GPUCount rep blk thrd idea(wkld) m(wkld) s(wkld) m(ovh) s(ovh) ci95(ovh)"
LATENCY = "method GPUcount rep blk thrd m(ave_cycle) s(ave_cycle) tile n ci95(ave_cycle)"
THROUGHPUT = "method GPUcount rep blk thrd tile m(ttl_latency) m(thrput) ci95(thrput)"
GRID = "method GPUcount basicrep moredrep blk thrd m(avginstru) s(avginstr) ci95(avginstru)"
REPEAT = "method rep blk thrd tile m(cycle) s(cycle) m(ave_cycle) s(ave_cycle) ci95(ave_cycle)"


def section(title, header, *rows):
    """A section of a TSV; cells are given with blanks between them."""
    return "".join([f"# {title}\n", *("\t".join(line.split()) + "\n" for line in (header, *rows))])


def latency(mean, half_width, title="warp latency"):
    return section(title, LATENCY, f"tile_sync 1 64 1 32 {mean} 1 32 9 {half_width}")


def block_latencies(*means):
    """A row for each mean, at 1, 2, ... threads; the row of a mean of 50 is noisy."""
    return section("block latency", LATENCY, *(
        f"blocksync 1 64 1 {threads} {mean} 1 32 9 {3 if mean == 50 else 0}"
        for threads, mean in enumerate(means, 1)))


class CompareTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="compare test "))
        self.addCleanup(shutil.rmtree, self.folder)
        self.a, self.b = self.folder / "first", self.folder / "second"

    def write(self, folder, gpu="H200", **files):
        folder.mkdir(exist_ok=True)
        files["environment"] = f"gpu\t{gpu}\ngpu_count\t2\nsuite_commit\tof_{folder.name}\n"
        for name, text in files.items():
            (folder / (name.replace("_", ".") + ".tsv")).write_text(text)

    def execute(self, *arguments, stdout=subprocess.PIPE):
        return subprocess.run([sys.executable, str(PROGRAM), *map(str, arguments)], text=True,
                              timeout=60, stdout=stdout, stderr=subprocess.PIPE,
                              env=dict(os.environ, PYTHONUNBUFFERED=""))  # as in a user's shell

    def compare(self, name, first, second, *options):
        """(exit code, rows as dicts) of two folders with one more file each"""
        self.write(self.a, **{name: first})
        self.write(self.b, **{name: second})
        done = self.execute(self.a, self.b, *options)
        self.errors, self.output = done.stderr.splitlines(), done.stdout.splitlines()
        lines = [line.split("\t") for line in self.output if line[0] != "#"]
        self.assertEqual(lines[:1], [COLUMNS], done.stderr)
        self.assertEqual({len(line) for line in lines}, {len(COLUMNS)})
        return done.returncode, [dict(zip(COLUMNS, line)) for line in lines[1:]]

    def assert_rows(self, name, first, second, code, keys, *expected):
        """Of folders with one file: the values of `keys` in every row, blanks between them"""
        shutil.rmtree(self.folder)
        self.folder.mkdir()
        actual, rows = self.compare(name, first, second, "--all")
        self.assertEqual([" ".join(row[key] for key in keys.split()) for row in rows],
                         list(expected))
        self.assertEqual(actual, code)

    def assert_verdict(self, a, b, verdict, *options):
        code, rows = self.compare("BenchmarkIntraSM", latency(*a), latency(*b), "--all", *options)
        self.assertEqual((code, [row["verdict"] for row in rows]),
                         (int(verdict in ("faster", "slower")), [verdict]), (a, b, options))

    def refused(self, message, *arguments):
        done = self.execute(*(arguments or (self.a, self.b)))
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(message, done.stderr)

    def test_verdicts(self):
        for verdict, *cases in (  # mean and half width of A, of B
                ("same", ((100, 0), (102, 0)), ((100, 1.2), (98, 1.6)), ((0, 0), (0, 0))),
                ("slower", ((100, 0), (102.1, 0)), ((100, 3), (105.1, 4)), ((-100, 0), (-90, 0))),
                ("faster", ((100, 0), (97.9, 0)), ((100, 3), (94.9, 4)), ((-100, 0), (-110, 0))),
                ("unclear", ((100, 1.2), (100, 1.7)), ((100, 0), (100, 2.1)), ((100, 3), (105, 4)),
                 ((100, 2.1), (100, 0)), ((100, 3), (95, 4)), (("nan", 0), (100, 0)),
                 ((100, 0), ("nan", 0)), ((100, "nan"), (200, 0)), ((100, 0), (100, "nan")),
                 ((0, 0), (1, 0)), ((0, 0), (0, 1)))):
            for a, b in cases:
                self.assert_verdict(a, b, verdict)

    def test_threshold(self):
        self.assert_verdict((100, 0), (105, 0), "same", "--threshold", "5")
        self.assert_verdict((100, 0), (105, 0), "slower", "--threshold", "4.9")
        self.assert_verdict((100, 0), (100.1, 0), "slower", "--threshold=0")
        self.assert_verdict((100, 0), (100, 0.1), "unclear", "--threshold=0")

    def test_figures(self):
        self.assert_rows(
            "BenchmarkIntraSM", latency("200.000", 3), latency(230.5, 4), 1, " ".join(COLUMNS),
            "BenchmarkIntraSM.tsv warp latency tile_sync 1 64 1 32 32 nan 200.000 230.5 15.250 "
            "2.500 slower")
        plain = [section("t", "method rep m(ave_cycle) s(ave_cycle)", f"l 64 {mean} 0")
                 for mean in (14, 13.99999)]
        self.assert_rows("TestRepeat", *plain, 0, "change_percent interval_percent verdict",
                         "0.000 nan unclear")  # no minus before the zero

    def test_adapted_counts(self):
        for name, header, first, second, expected in (
                ("ImplicitBarrier", SLEEP, "l 2 128 1 32 5000 5100 1 10 1 0",
                 "l 2 16 1 32 80000 9e4 1 11 1 0", "2 nan 1 32 nan nan 10 11 slower"),
                ("BenchmarkIntraSM", THROUGHPUT, "l 1 4096 4 64 32 9 0.5 0",
                 "l 1 512 4 64 32 1 0.6 0", "1 nan 4 64 32 nan 0.5 0.6 faster"),
                ("BenchmarkInterSM_cuda11", GRID, "l 3 64 2112 132 32 1000 1 1",
                 "l 3 32 999 132 32 900 1 1", "3 nan 132 32 nan nan 1000 900 faster")):
            self.assert_rows(name, section("a b: one", header, first),
                             section("a b", header, second), 1,
                             "section gpus rep blk thrd tile wkld A B verdict", "a b " + expected)

    def test_rep_as_a_key(self):
        rows = ["shuffle %d 1 32 16 90 1 %d 0 0" % (rep, 20 + rep) for rep in (1, 2)]
        changed = [rows[1].replace("22", "9"), rows[0]]
        self.assert_rows("TestRepeat", section("t", REPEAT, *rows), section("t", REPEAT, *changed),
                         1, "gpus rep tile B verdict", "nan 1 16 21 same", "nan 2 16 9 faster")
        single, series = "l 1 1 132 32 %d nan 9 1 nan", "l 1 128 132 32 %d 3000 9 1 1"
        self.assert_rows("ImplicitBarrier", section("null", NULL, single % 8000, series % 5),
                         section("null", NULL, single % 9000, series % 6), 1, "rep A B verdict",
                         "1 8000 9000 slower", "128 3000 3000 same")
        self.write(self.b, ImplicitBarrier=section("null", NULL, "l 1 64 132 32 1 3 9 1 1"))
        self.refused("no row in common")

    def test_workload(self):
        single, series = "omp 4 1 1 32 8000 nan %s 9 1 nan", "omp 4 %d 1 32 %d %s %s 9 1 1"
        first = section("work: a", WORKLOAD, single % "0", single % "2000",
                        series % (64, 1, 3000, "2000"), series % (32, 1, 5000, "4000"),
                        series % (32, 7000, "nan", "8000"))
        second = section("work", WORKLOAD, single % "2000", series % (8, 9, 3000, "2000"),
                         series % (16, 9, 6000, "4000.0"), series % (8, 7000, "nan", "8000"))
        # The totals of 32 and of 8 launches say nothing: the last is no m(ttl).
        self.assert_rows("ImplicitBarrier", first, second, 1, "rep wkld B", "1 2000 8000",
                         "nan 2000 3000", "nan 4000 6000", "nan 8000 nan")
        self.assertEqual(self.output[-1],
                         "# only in A: ImplicitBarrier.tsv\twork\tomp\t4\t1\t1\t32\tnan\t0")

    def test_every_key_tells_rows_apart(self):
        base = "tile_sync 1 64 1 32 100 1 32 9 0"
        for key in ("coalesced 1 64 1 32 32", "tile_sync 2 64 1 32 32", "tile_sync 1 16 1 32 32",
                    "tile_sync 1 64 2 32 32", "tile_sync 1 64 1 64 32", "tile_sync 1 64 1 32 16"):
            other = " 100 1 ".join(key.rsplit(" ", 1)) + " 9 0"
            self.assert_rows(
                "BenchmarkIntraSM", section("t", LATENCY, base),
                section("t", LATENCY, other, base.replace("100", "150")), 1, "B", "150")
            self.assertEqual(self.errors[-1], "compare.py: 0 rows only in A, 1 only in B")
        self.write(self.b, BenchmarkIntraSM=section("u", LATENCY, base))
        self.refused("no row in common")

    def test_comments_between_rows(self):
        text = (latency(100, 0) + "# tile_sync of 2: nothing waits\n" +
                "tile_sync\t1\t64\t1\t32\t7\t1\t2\t9\t0\n# skipped: tile 4\n" +
                latency(9, 0, "other") + section("odd", "method rep m(none)", "x 1 2"))
        self.assert_rows("TestRepeat", text, text, 0, "section A",
                         "warp latency 100", "warp latency 7", "other 9")
        self.assertIn("TestRepeat.tsv, line 11: a section without a column", self.errors[0])

    def test_only_rows_that_differ(self):
        code, rows = self.compare("BenchmarkIntraSM", block_latencies(10, 10, 10, 50, 10, 10),
                                  block_latencies(10, 10, 12, 50, 9, 10, 8))
        self.assertEqual((code, [(row["thrd"], row["verdict"]) for row in rows]),
                         (1, [("3", "slower"), ("4", "unclear"), ("5", "faster")]))
        self.assertEqual(self.errors, [
            "compare.py: 6 rows compared at a threshold of 2%: 3 same (50.0%), 1 faster (16.7%), "
            "1 slower (16.7%), 1 unclear (16.7%)", "compare.py: 0 rows only in A, 1 only in B"])

    def test_comments(self):
        self.write(self.a, TestRepeat=section("t", REPEAT, "x 1 1 1 1 1 1 1 1 0"))
        self.write(self.b, BenchmarkInterSM_cuda11=block_latencies(1, 2))
        code, _ = self.compare("ImplicitBarrier", block_latencies(1, 2), block_latencies(1))
        self.assertEqual(self.output, [
            f"# A: {self.a}, commit of_first, H200 x 2",
            f"# B: {self.b}, commit of_second, H200 x 2", "\t".join(COLUMNS),
            "# only in A: ImplicitBarrier.tsv\tblock latency\tblocksync\t1\t64\t1\t2\t32\tnan",
            "# only in A: TestRepeat.tsv, all 1 rows",
            "# only in B: BenchmarkInterSM.cuda11.tsv, all 2 rows"])
        self.assertEqual((code, self.errors[1:]),
                         (0, ["compare.py: 2 rows only in A, 2 only in B"]))

    def test_environment(self):
        self.write(self.a, BenchmarkIntraSM=latency(1, 0))
        self.write(self.b, gpu="V100", BenchmarkIntraSM=latency(1, 0))
        done = self.execute(self.a, self.b)
        self.assertEqual((done.returncode, done.stderr.splitlines()[0]),
                         (0, "compare.py: warning: the GPUs differ: A H200, B V100"))
        (self.b / "environment.tsv").unlink()
        self.assertIn(f"# B: {self.b}, commit unknown, unknown x unknown\n",
                      self.execute(self.a, self.b).stdout)

    def test_output_that_cannot_be_written(self):
        self.compare("TestRepeat", latency(1, 0), latency(2, 0))
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "w") as closed:
            done = self.execute(self.a, self.b, stdout=closed)
        self.assertEqual((done.returncode, done.stderr.splitlines()), (1, self.errors))
        with open("/dev/full", "w") as full:
            done = self.execute(self.a, self.a, stdout=full)
        self.assertEqual((done.returncode, "cannot write: No space" in done.stderr), (2, True))

    def test_bad_usage(self):
        self.write(self.a, BenchmarkIntraSM=latency(1, 0))
        self.write(self.b)
        self.refused("nothing to compare")
        self.refused("arguments are required", self.a)
        self.refused("absent is not a folder", self.a, self.folder / "absent")
        self.refused("environment.tsv is not a folder", self.a / "environment.tsv", self.a)
        (self.b / "environment.tsv").unlink()
        self.refused("second is not a results folder")
        for value in ("x", "-1", "nan", "inf", ""):
            self.refused("--threshold: invalid percentage", self.a, self.a, "--threshold", value)
        self.refused("unrecognized arguments: --al", self.a, self.a, "--al")
        (self.b / "BenchmarkIntraSM.tsv").mkdir()
        self.refused("cannot read %s" % (self.b / "BenchmarkIntraSM.tsv"))
        self.assertIn("Exit codes: 0", self.execute("--help").stdout)

    def test_unparsable(self):
        good = latency(1, 0)
        self.write(self.a, BenchmarkIntraSM=good)
        for text, message in (
                (good + "l\t1\n", "line 4: 2 cells in 10 columns"),
                (good.replace("64", "many"), "line 3: rep is 'many', not a number"),
                (good.replace("\t9\t", "\t\t"), "line 3: n is '', not a number"),
                (good[:-1], "line 3: the last line is not whole"),
                (good + good.splitlines()[2] + "\n", "line 4: the same point as in a row above"),
                (good.replace("thrd", "blk"), "line 2: a column name stands twice"),
                ("tile_sync\t1\n" + good, "line 1: a row above any header"),
                (good + good.split("\n", 1)[1], "line 4: no title above this header")):
            self.write(self.b, BenchmarkIntraSM=text)
            for folders in ((self.a, self.b), (self.b, self.a)):
                self.refused("%s, %s" % (self.b / "BenchmarkIntraSM.tsv", message), *folders)


if __name__ == "__main__":
    unittest.main()
