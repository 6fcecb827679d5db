"""Tests of tsv.py and of what shows a results folder: summary.py, multi_gpu_barriers.py."""

import unittest

from scripts_support import ENVIRONMENT, ROWS, ScriptsTest

import tsv  # from scripts/, which scripts_support has put on the path

GOOD = ROWS["BenchmarkInterSM"]
ROW = "2\t1\t9\t4224\t64\t3168.250\t0.250\t100\t0.100\n"  # without its name; the last, line 10
DAMAGES = (  # what becomes what, and what the message says
    (ROW, ROW[:-1], "line 10: the last line is cut short"),
    (ROW, ROW[:20], "line 10: the last line is cut short"),
    ("3168.250", "3168.25", "line 10, column m(avginstru): '3168.25' has 2 decimals"),
    ("3168.250", "3168", "line 10, column m(avginstru): '3168' has 0 decimals"),
    ("3168.250", "3168.", "line 10, column m(avginstru): '3168.' is not a number"),
    ("3168.250", "3168,250", "line 10, column m(avginstru): '3168,250' is not a number"),
    ("3168.250", "", "line 10, column m(avginstru): '' is not a number"),
    ("3168.250", "inf", "line 10, column m(avginstru): 'inf' is not a number"),
    ("3168.250", "31\xff", "line 10: not text in UTF-8"),
    ("4224\t64\t3", "nan\t64\t3", "line 10, column blk: 'nan' is not a number"),
    ("\t3168.250", "", "line 10: 9 cells, but 10 columns"),
    (ROW, ROW[:-1] + "\t7\n", "line 10: 11 cells, but 10 columns"),
    (ROW, ROW + "\n", "line 11: 1 cells, but 10 columns"),
    ("blk\tthrd", "blk\tblk", "line 2: a column name stands twice"),
    ("# multi-GPU latency: how it was sampled\n", "", "line 6: no title above this header"),
    ("# grid latency", "grid_sync\t1\n#", "line 1: a row above any header"),
    ("# grid latency: how it was sampled\n", "", "line 1: no title above this header"))


class ReaderTest(unittest.TestCase):
    def test_sections(self):
        for data in (GOOD.encode(), b"\xef\xbb\xbf" + GOOD.encode(),
                     GOOD.replace("\n", "\r\n").encode()):
            grid, multi = tsv.parse(data)
            self.assertEqual((grid.title, grid.how), ("grid latency", "how it was sampled"))
            self.assertEqual(grid.numbers("m(avginstru)"), [1075.5, 8420])
            self.assertEqual(list(grid.warnings(132)),
                             [(grid.rows[0], "the spread of this row is far")])
            self.assertEqual((len(grid.comments), len(multi.comments), len(multi.rows)), (1, 0, 3))
        odd, = tsv.parse(b"# t\nmethod\tm(a)\n# warning: all\na\tnan\nb\t-0.5\n"
                         b"# warning: the row above is odd\nc\tnan\n")
        self.assertEqual(list(odd.warnings(1)),
                         [(None, "all"), (odd.rows[1], "the row above is odd")])

    def test_damages(self):
        for old, new, message in DAMAGES:
            with self.assertRaises(tsv.TsvError) as caught:
                tsv.parse(GOOD.replace(old, new).encode("latin-1"), "some.tsv")
            self.assertEqual(str(caught.exception)[:10 + len(message)], f"some.tsv, {message}")

    def test_tables(self):
        self.assertEqual(tsv.read_table(b"\xef\xbb\xbfa\tb\r\n1\t2\r\n", "t"),
                         [{"a": "1", "b": "2"}])
        for data, message in ((b"a\tb\n1\n", "line 2: 1 cells, but 2"), (b"a\n1", "line 2: the")):
            with self.assertRaisesRegex(tsv.TsvError, message):
                tsv.read_table(data, "t")


class ScriptsOfOneRunTest(ScriptsTest):
    def test_good_folder(self):
        run = self.write_run(self.folder / "run")
        done = self.script("summary.py", run)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for line in (r"NVIDIA H200 x 2, driver unknown, CUDA unknown, commit abc, unknown",
                     r"multi_coop.* 1201 ± 2 +7202 ± 2", r"traditional_launch 132 x 1024 +1081 ± 4 +-",
                     r"single_omp_traditional_launch 1 x 32 +- +nan ± nan",
                     r"blocksync +22\.1 +- +- +- +- +64\.0", r"tile_sync +- +- +- +- +none +-",
                     r"1 +1\.08! +-.*", r"32 +- +8\.42 .*", r"1 +0\.88 +-.*",
                     r"peer_grid_sync 1 x 32 +2\.18", r"peer_grid_sync 32 x 64 +3\.17",
                     r"Warnings of the run: 1", r"BenchmarkInterSM, grid latency, grid_sync, "
                     r"GPUcount 1 blk 132 thrd 32: the spread of this row is far"):
            self.assertRegex(done.stdout, rf"(?m)^ *{line}$")
        table = self.script("multi_gpu_barriers.py", run).stdout.splitlines()
        self.assertEqual([line.split("\t") for line in table][1:], [
            ["1", "1201.000", *["nan"] * 9, "875.500", "nan", "nan"],
            ["2", "7202.000", *["nan"] * 9, "2175.500", "3168.250", "nan"]])

    def test_damaged_folders(self):
        """No figure is shown, in whichever file the damage is."""
        run, launches = self.folder / "run", ROWS["ImplicitBarrier"]
        damages = [("BenchmarkInterSM", GOOD.replace(old, new).encode("latin-1"), message)
                   for old, new, message in DAMAGES[::4]]
        for file, text, message in (
                *damages, ("ImplicitBarrier", launches.replace("7202.000", ""), "line 6, col"),
                ("ImplicitBarrier", launches.replace("m(ovh)", "m(o)"), "is no column m(ovh)"),
                ("BenchmarkIntraSM", ROWS["BenchmarkIntraSM"].replace("64.0", "64,0"), "line 4"),
                ("TestRepeat", ROWS["TestRepeat"][:-3], "line 3: the last line"),
                ("environment", ENVIRONMENT.replace("\t132", ""), "line 4: 1 cells"),
                ("environment", ENVIRONMENT.replace("132", "many"), "number of SMs is 'many'"),
                ("environment", ENVIRONMENT.replace("value", "other"), "must be key and value"),
                ("environment", None, "No such file")):
            self.write_run(run, {file: text})
            for command in (["summary.py", run], ["multi_gpu_barriers.py", run],
                            ["compare.py", run, run])[:2 if "no column" in message else 3]:
                self.assert_refused(self.script(*command), 2, f"{file}.tsv", message)
        for folder, message in ((self.folder / "absent", "absent is not a folder"),
                                (self.project, "is not a results folder")):
            for arguments in (["summary.py"], ["multi_gpu_barriers.py"], ["compare.py", folder]):
                self.assert_refused(self.script(*arguments, folder), 2, message)

    def test_output_that_cannot_be_written(self):
        summary = self.command("summary.py", self.write_run(self.folder / "run"))
        for where, message in ((">/dev/full", "No space left"), (">&-", "output is closed")):
            done = self.execute(["bash", "-c", f'exec "$@" {where}', "-", *summary])
            self.assert_refused(done, 1, "summary.py: cannot write: ", message)


if __name__ == "__main__":
    unittest.main()
