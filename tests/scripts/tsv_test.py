"""Tests of tsv.py, and of what scripts say of a folder that is damaged or in doubt."""

import unittest

from made_up_rows import ENVIRONMENT, ROWS, ended, section
from scripts_support import ScriptsTest

from parts import tsv  # from scripts/, which scripts_support has put on the path

GOOD = ROWS["BenchmarkInterSM"]
ROW = "2\t1\t9\t4224\t64\t3168.250\t0.250\t100\t0.100\n"  # without its name; the last, line 12
HEAD = """\
# program[name=BenchmarkInterSM version=0.2.0 commit=abc toolkit=13.0 asked_samples=2]
# gpu[index=0 name="NVIDIA H200"]
"""
DAMAGES = (  # what becomes what, and what the message says
    (ROW, ROW[:-1], "line 12: the last line is cut short"),
    (ROW, ROW[:20], "line 12: the last line is cut short"),
    ("3168.250", "3168.25", "line 12, column m(avginstru): '3168.25' has 2 decimals"),
    ("3168.250", "3168", "line 12, column m(avginstru): '3168' has 0 decimals"),
    ("3168.250", "3168.", "line 12, column m(avginstru): '3168.' is not a number"),
    ("3168.250", "3168,250", "line 12, column m(avginstru): '3168,250' is not a number"),
    ("3168.250", "", "line 12, column m(avginstru): '' is not a number"),
    ("3168.250", "inf", "line 12, column m(avginstru): 'inf' is not a number"),
    ("3168.250", "31\xff", "line 12: not text in UTF-8"),
    ("4224\t64\t3", "nan\t64\t3", "line 12, column blk: 'nan' is not a number"),
    ("\t3168.250", "", "line 12: 9 cells, but 10 columns"),
    (ROW, ROW[:-1] + "\t7\n", "line 12: 11 cells, but 10 columns"),
    (ROW, ROW + "\n", "line 13: 1 cells, but 10 columns"),
    ("blk\tthrd", "blk\tblk", "line 2: a column name stands twice"),
    ("# multi-GPU latency: how it was sampled\n", "", "line 7: no title above this header"),
    ("# grid latency", "grid_sync\t1\n#", "line 1: a row above any header"),
    ("# grid latency: how it was sampled\n", "", "line 1: no title above this header"),
    ("avginstru)\ts", "avginstr)\ts", "line 3: the header has no column m(avginstru)"),
    ("]\ngrid_sync\t1", " chosen=blk,rep]\ngrid_sync\t1", "line 3: the header has no column rep"),
    (ROW, ROW + "# section[chosen=blk]\n", "line 13: a second line section[...] of multi-GPU"))


class ReaderTest(unittest.TestCase):
    def test_sections(self):
        for data in (GOOD.encode(), b"\xef\xbb\xbf" + GOOD.encode(),
                     GOOD.replace("\n", "\r\n").encode()):
            grid, multi = tsv.parse(data)
            self.assertEqual((grid.title, grid.how), ("grid latency", "how it was sampled"))
            self.assertEqual(grid.numbers("m(avginstru)"), [1075.5, 8420])
            said, = grid.annotations
            self.assertEqual((grid.rows_of(said), said.text),
                             (grid.rows[:1], "the spread of this row is far"))
            self.assertEqual((len(multi.annotations), len(multi.rows)), (0, 3))
        self.assertEqual(multi.find(method="peer_grid_sync", blk="4224"), multi.rows[2])
        self.assertIsNone(multi.find(method="grid_sync"))
        with self.assertRaisesRegex(tsv.TsvError, "line 11: a second row of method=peer_grid_sync$"):
            multi.find(method="peer_grid_sync")
        odd, = tsv.parse(b"# t\nmethod\tm(a)\n# warning[x]: all\na\tnan\nb\t-0.5\n"
                         b"# warning[x] b: odd: very\nc\tnan\n")
        self.assertEqual([(odd.rows_of(said), said.text) for said in odd.annotations],
                         [([], "all"), (odd.rows[1:2], "odd: very")])

    def test_annotations(self):
        both, = tsv.parse((section("t", "method form m(a)")
                           + 'a\tas allowed\t1\na\texits\t2\nb\texits\t3\n'
                           + '# note[some-tag n=7 x=-1.5] a form="as allowed": text: more\n'
                           + "# note[some-tag n=abc] a: text\n# skipped[s] c form=exits: no\n").encode())
        one, every, none = both.annotations
        self.assertEqual((one.kind, one.tag, one.values, one.method, one.cells, one.text),
                         ("note", "some-tag", {"n": "7", "x": "-1.5"}, "a", {"form": "as allowed"},
                          "text: more"))
        self.assertEqual([both.rows_of(said) for said in both.annotations],
                         [both.rows[:1], both.rows[:2], []])
        self.assertEqual(both.said_of(both.rows[0], "some-tag"), [one, every])
        self.assertEqual((both.said_of(both.rows[2]), one.number("x")), ([], -1.5))
        with self.assertRaisesRegex(tsv.TsvError, "line 7: 'n=abc' is not a number"):
            every.number("n")
        for bad in ("note[]: x", "note[a b]: x", "warning[a] m x: y", "note[a] m:", "note[a"):
            text = section("t", "method m(a)", "a 1") + f"# {bad}\n"
            with self.assertRaisesRegex(tsv.TsvError, "line 4: not an annotation", msg=bad):
                tsv.parse(text.encode())

    def test_what_is_of_the_whole_output(self):
        output = tsv.parse((HEAD + "# warning[clock]: it moved\n" + ended(GOOD)).encode())
        self.assertEqual((output.program("name"), output.program("commit"), output.program("x")),
                         ("BenchmarkInterSM", "abc", None))
        self.assertEqual(output.head("gpu"), [{"index": "0", "name": "NVIDIA H200"}])
        self.assertEqual([said.text for said in output.warnings()],
                         ["it moved", "the spread of this row is far"])
        self.assertEqual(output.end.number("rows"), 5)
        output.check_end("x")

    def test_ends(self):
        whole = HEAD + ended(GOOD)
        for text, message in ((whole.replace("rows=5", "rows=6"), "line 15: 5 rows stand above"),
                              (whole.replace("rows=5", "rows=x"), "line 15: 'rows=x' is not a num"),
                              (whole.replace("peer_grid_sync\t" + ROW, ""), "4 rows stand above, not 5"),
                              (whole + "# note[x]: y\n", "line 16: below the end"),
                              (whole + whole, "line 16: below the end")):
            with self.assertRaisesRegex(tsv.TsvError, message):
                tsv.parse(text.encode())
        lines = whole.splitlines(keepends=True)
        for count in range(1, len(lines)):  # cut at a line's end
            with self.assertRaisesRegex(tsv.TsvError, "some.tsv: the end is missing"):
                tsv.parse("".join(lines[:count]).encode()).check_end("some.tsv")
        for text in ("", "# some comment\n"):
            with self.assertRaisesRegex(tsv.TsvError, "some.tsv: nothing is in it"):
                tsv.parse(text.encode()).check_end("some.tsv")

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


    def test_columns_of_names(self):
        text = section("t", "method type m(a)", "m int 1", "m float 1")
        rows = tsv.parse(text.encode())[0].rows
        self.assertEqual([row["type"] for row in rows], ["int", "float"])
        for bad in ("3.5", "", "in t", "4int"):
            message = f"line 3, column type: '{bad}' is not a name"
            with self.assertRaisesRegex(tsv.TsvError, message):
                tsv.parse(text.replace("int", bad).encode())
        for outcome, parts in (("completed", ("completed", "")), ("error some name", (
                tsv.ERROR, "some name")), ("no progress within 1 s", (tsv.HANGS, "1 s"))):
            row, = tsv.parse(f"# t\nmethod\toutcome\nm\t{outcome}\n".encode())[0].rows
            self.assertEqual(tsv.outcome_of(row["outcome"]), parts)
            with self.assertRaisesRegex(tsv.TsvError, "column outcome: 'x .*' is no outcome"):
                tsv.parse(f"# t\nmethod\toutcome\nm\tx {outcome}\n".encode())


class ScriptsOfOneRunTest(ScriptsTest):
    def test_damaged_folders(self):
        """No number is shown, in whichever file the damage is."""
        run, launches = self.folder / "run", ROWS["ImplicitBarrier"]
        damages = [("BenchmarkInterSM", GOOD.replace(old, new).encode("latin-1"), message)
                   for old, new, message in DAMAGES[::4]]
        for file, text, message in (
                *damages, ("ImplicitBarrier", launches.replace("7202.000", ""), "line 7, col"),
                ("ImplicitBarrier", launches.replace("m(ovh)", "m(o)"), "line 4: the header has no column m(ovh)"),
                ("BenchmarkIntraSM", ROWS["BenchmarkIntraSM"].replace("64.0", "64,0"), "line 5"),
                ("TestRepeat", ROWS["TestRepeat"][:-3], "line 4: the last line"),
                ("environment", ENVIRONMENT.replace("\t132", ""), "line 4: 1 cells"),
                ("environment", ENVIRONMENT.replace("132", "many"), "number of SMs is 'many'"),
                ("environment", ENVIRONMENT.replace("value", "other"), "must be key and value"),
                ("environment", None, "No such file")):
            self.write_run(run, {file: text})
            for command in (["summary.py", run], ["compare.py", run, run]):
                self.assert_refused(self.script(*command), 2, f"{file}.tsv", message)
        for folder, message in ((self.folder / "absent", "absent is not a folder"),
                                (self.project, "is not a results folder")):
            for arguments in (["summary.py"], ["compare.py", folder]):
                self.assert_refused(self.script(*arguments, folder), 2, message)

    def test_ends_in_folders(self):
        """A cut or an empty file is refused, but in a run that was interrupted."""
        cut, run = HEAD + GOOD, self.folder / "run"
        report = ["report.py", run, "--recorded", self.folder, "--out", self.folder / "out"]
        self.link_study()
        for text, message in ((cut, "the end is missing"), ("", "nothing is in it")):
            self.write_run(run, {"BenchmarkInterSM": text})
            for command in (["summary.py", run], ["compare.py", run, run], report):
                self.assert_refused(self.script(*command), 2, "BenchmarkInterSM.tsv: ", message)
            partial = self.write_run(self.folder / "run.partial", {"BenchmarkInterSM": text})
            shown = self.script("summary.py", partial)
            self.assertEqual(shown.returncode, 0, shown.stderr)
            self.assertNotIn("all rows are there", shown.stdout)
            with self.assertRaisesRegex(tsv.TsvError, message):
                tsv.Run(partial, whole=True)

    def test_output_that_cannot_be_written(self):
        summary = self.command("summary.py", self.write_run(self.folder / "run"))
        for where, message in ((">/dev/full", "No space left"), (">&-", "output is closed")):
            done = self.execute(["bash", "-c", f'exec "$@" {where}', "-", *summary])
            self.assert_refused(done, 1, "summary.py: cannot write: ", message)


if __name__ == "__main__":
    unittest.main()
