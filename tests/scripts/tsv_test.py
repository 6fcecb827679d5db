"""Tests of tsv.py, and of what scripts say of a folder that is damaged, simulated or in doubt."""

import gzip
import itertools
import re
import unittest

from made_up_rows import ENVIRONMENT, ROWS, ended, section
from scripts_support import ScriptsTest

from parts import checksums, tsv  # from scripts/, which scripts_support has put on the path

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
        """What scripts make of good ones is in outputs.golden."""
        both, = tsv.parse((section("t", "method m(a)", "a 1") + "# note[tag n=abc] a: text\n").encode())
        with self.assertRaisesRegex(tsv.TsvError, "line 4: 'n=abc' is not a number"):
            both.annotations[0].number("n")
        for bad in ("note[]: x", "note[a b]: x", "warning[a] m x: y", "note[a] m:", "note[a"):
            text = section("t", "method m(a)", "a 1") + f"# {bad}\n"
            with self.assertRaisesRegex(tsv.TsvError, "line 4: not an annotation", msg=bad):
                tsv.parse(text.encode())

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


LAUNCHES = ROWS["ImplicitBarrier"]
MACHINE = "environment.tsv: the number of GPUs is '"
FOLDERS = (  # file, what becomes what there, and what the message says
    *(("BenchmarkInterSM", "peer_grid_sync\t2\t", f"peer_grid_sync\t{count}\t",
       "BenchmarkInterSM.tsv, line 11, column GPUcount: '") for count in ("3", "10000", "9" * 400)),
    *(("environment", "gpu_count\t2", f"gpu_count\t{count}", MACHINE)
      for count in ("0", "-1", "²", "٢", "10000", "9" * 4301, "2.0", "nan", "")),
    *((file, old, old.replace(old.strip("\t"), cell), f"{file}.tsv, {where}: '{cell[:16]}")
      for cell in ("9" * 309, "9" * 4301, "1" * 16, "1e999", "inf", "NaN", "0x1p3", "1_0", "²")
      for file, old, where in (("BenchmarkInterSM", "1075.500", "line 4, column m(avginstru)"),
                               ("BenchmarkInterSM", "\t132\t", "line 4, column blk"),
                               ("Reduction", "1048576", "line 22, column bytes"),
                               ("BenchmarkIntraSM", "\t1024\t", "line 5, column thrd"))),
    ("environment", "\t132", "\tmany", "environment.tsv: the number of SMs is 'many'"),
    ("environment", "\t132", "", "line 4: 1 cells"),
    ("environment", "value", "other", "must be key and value"),
    ("environment", "gpu_count", "gpu\tNVIDIA H200\ngpu_count", "gpu stands twice"),
    ("environment", "H200", "H100",
     "ImplicitBarrier.tsv: these are rows of NVIDIA H200, and environment.tsv is of "),
    ("BenchmarkInterSM", "\t132\t32", "\t0\t32", "line 4, column blk: '0' is less than 1"),
    ("BenchmarkInterSM", "0.250", "-0.250", "line 4, column s(avginstr): '-0.250' is less"),
    ("Pitfalls", "no_sync\t0\t0", "no_sync\tnan\t0", "line 3, column lane: 'nan' is not a"),
    ("Pitfalls", "no_sync\t0\t0", "<b>\t0\t0", "line 3, column method: '<b>' is not a "),
    ("Reduction", "1048576", "0", "line 22, column bytes: '0' is less than 1"),
    ("TestRepeat", "blocksync\t1\t", "blocksync\t0\t", "line 4, column rep: '0' is less"),
    ("BenchmarkInterSM", "# grid", "# program[name=TestRepeat]\n# grid",
     "these are rows of TestRepeat"))
CONTENTS = (  # of BenchmarkInterSM.tsv, and what the message says
    (GOOD.encode("utf-16"), "line 1: not text in UTF-8 (byte 1)"),
    (GOOD.encode("utf-16-le"), "line 13: the last line is cut short"),
    (gzip.compress(GOOD.encode()), "not text in UTF-8"), (bytes(999), "line 1: the last line is"),
    (GOOD.replace("\n", "\r"), "the last line is cut short"),
    (GOOD.replace("grid_sync\t1", "grid\x1bsync\t1", 1), "(character 5)"),
    (GOOD.replace("\t", ","), "line 2: its columns are not separated by tabs"),
    (GOOD + GOOD, "line 14: a section grid latency stands twice"),
    (GOOD + GOOD[GOOD.index("peer"):].split("\n")[0] + "\n",
     "line 13: the same point twice, as in line 10"))


class FolderTest(ScriptsTest):
    def readers(self, run, *options):
        """Done of each script that reads a run."""
        for command in (["summary.py", run], ["compare.py", run, run],
                        ["report.py", run, "--recorded", self.folder / "recorded",
                         "--out", self.folder / "out"]):
            yield self.script(*command, *options)

    def assert_no_run(self, message, *changes, **options):
        with self.assertRaisesRegex(tsv.TsvError, re.escape(message)):
            tsv.Run(self.write_run(self.folder / "run", *changes, **options))

    def test_damaged_folders(self):
        for file, old, new, message in FOLDERS:
            text = {**ROWS, "environment": ENVIRONMENT}[file]
            self.assertIn(old, text)
            self.assert_no_run(message, {file: text.replace(old, new, 1)})
        for content, message in CONTENTS:
            self.assert_no_run(message, {"BenchmarkInterSM": content})
        self.assert_no_run("No such file", {"environment": None})
        for name in ("BenchmarkInterSM.tsv", "environment.tsv", "stderr.log"):
            run = self.write_run(self.folder / "run", {name[:-4]: None})
            (run / name).mkdir()
            with self.assertRaisesRegex(tsv.TsvError, "cannot read .* no file of 64 MiB or less"):
                tsv.Run(run)
        for name in ("a\nb", "a\x1b[31mb", "a\u202eb", "a\udcffb"):
            with self.assertRaisesRegex(tsv.TsvError, "name has a character that cannot be shown"):
                tsv.Run(self.write_run(self.folder / name))

    def test_all_readers_refuse(self):
        """No number is shown, in whichever file the damage is."""
        self.link_study()
        for file, text, message in (
                ("BenchmarkInterSM", HEAD + GOOD, "the end is missing"),
                ("BenchmarkInterSM", "", "nothing is in it"),
                ("ImplicitBarrier", LAUNCHES.replace("7202.000", ""), "line 7, col"),
                ("environment", ENVIRONMENT.replace("132", "many"), "number of SMs is 'many'")):
            for done in self.readers(self.write_run(self.folder / "run", {file: text})):
                self.assert_refused(done, 2, f"{file}.tsv", message)
        for folder, message in ((self.folder / "absent", "absent is not a folder"),
                                (self.project, "is not a results folder")):
            for done in self.readers(folder):
                self.assert_refused(done, 2, message)
        self.assertFalse((self.folder / "out").exists())

    def test_what_may_be_read(self):
        """Another end of lines, a BOM, as many GPUs as there can be, a long title. In a run that
        was interrupted, files that are cut at a line's end, or empty."""
        many = {"environment": ENVIRONMENT.replace("gpu_count\t2", "gpu_count\t9999"),
                "BenchmarkInterSM": GOOD.replace("peer_grid_sync\t2\t", "peer_grid_sync\t9999\t")}
        for changes in ({"BenchmarkInterSM": b"\xef\xbb\xbf" + GOOD.encode()}, many, {
                "BenchmarkInterSM": GOOD.replace("\n", "\r\n")}, {
                "BenchmarkInterSM": GOOD.replace("1 per SM x 32", "9" * 5000)}):
            done = self.script("summary.py", self.write_run(self.folder / "run", changes))
            self.assertEqual(done.returncode, 0, done.stderr)
        for text, message in ((HEAD + GOOD, "the end is missing"), ("", "nothing is in it")):
            partial = self.write_run(self.folder / "run.partial", {"BenchmarkInterSM": text})
            shown = self.script("summary.py", partial)
            self.assertEqual(shown.returncode, 0, shown.stderr)
            self.assertNotIn("all rows are there", shown.stdout)
            with self.assertRaisesRegex(tsv.TsvError, message):
                tsv.Run(partial, whole=True)

    def test_simulated_rows(self):
        """No script takes them for measured ones."""
        self.link_study()
        rows = {file: f"{tsv.SIMULATED}\n{text}" for file, text in ROWS.items()}
        measured = self.write_run(self.folder / "measured")
        for file in (*ROWS, "environment", "notes"):
            text = {**ROWS, "environment": ENVIRONMENT}.get(file, "a\tb\n")
            for bom in ("", "\ufeff"):
                self.assert_no_run("simulated rows, not measured",
                                   {file: f"{bom}{tsv.SIMULATED}\n{text}"})
            if file in ROWS:  # half of a folder is no run at all
                with self.assertRaisesRegex(tsv.TsvError, "simulated rows, but those of "):
                    tsv.Run(self.folder / "run", simulated=True)
        mine = self.write_run(self.folder / "mine", rows)
        for done in self.readers(mine):
            self.assert_refused(done, 2, "not measured on a GPU; --simulated reads them")
        for done in self.readers(mine, "--simulated"):
            self.assertEqual(done.returncode, 0, done.stderr)
        for script, pair in itertools.product(("compare.py", "summary.py"), (
                (mine, measured), (measured, mine))):
            self.assert_refused(self.script(script, *pair, "--simulated", *["--short"] * (
                script == "summary.py")), 2, "mine is simulated, ", "measured was measured")
        # A recorded run is a measured one, whatever is asked for.
        (self.folder / "recorded").mkdir()
        self.write_run(self.folder / "recorded/h200x2", rows)
        *_, report = self.readers(mine, "--simulated")
        self.assert_refused(report, 2, "simulated rows, not measured on a GPU\n")


class ChecksumsTest(ScriptsTest):
    def test_what_is_no_list_of_sums(self):
        run = self.write_run(self.folder / "run")
        checksums.write(run)
        self.assertEqual([path.name for path in run.iterdir() if path.name.startswith(".")], [])
        sums = (run / checksums.NAME).read_text()
        rows = (run / "TestRepeat.tsv").read_text()
        for name, text, message in (
                ("TestRepeat.tsv", rows.replace("30.000", "31.000"), "TestRepeat.tsv is not what was "
                 "recorded: its sum is not that of SHA256SUMS"),
                ("TestRepeat.tsv", rows.replace("30.000", "3O.000"),
                 "TestRepeat.tsv, line 4, column m(cycle): '3O.000' is not a number"),
                ("TestRepeat.tsv", None, "TestRepeat.tsv is missing, though SHA256SUMS has it"),
                ("stderr.log", "x\n", "stderr.log is not in SHA256SUMS"),
                (checksums.NAME, sums[:-5], "the last line is cut short"),
                (checksums.NAME, "", "is not in SHA256SUMS"),
                (checksums.NAME, sums.replace("  ", " ", 1), "line 1: not a sum and the name"),
                (checksums.NAME, sums.replace("  ", "  ../", 1), "line 1: not a sum and the name"),
                (checksums.NAME, sums + sums.splitlines(True)[0], "the name of one more")):
            run = self.write_run(self.folder / "run")
            checksums.write(run)
            if text is None:
                (run / name).unlink()
            else:
                (run / name).write_text(text)
            with self.assertRaisesRegex(tsv.TsvError, re.escape(message)):
                tsv.Run(run)


if __name__ == "__main__":
    unittest.main()
