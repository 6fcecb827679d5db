"""Tests of simulated rows: no script takes them for measured ones, and with --simulated all that
is written of them says what they are."""

import re
import shutil
import unittest
from pathlib import Path

import in_process
from in_process import READERS, ReadersCase
from made_up_rows import ENVIRONMENT, ROWS
from scripts_support import ROOT

from parts import tsv  # from scripts/, which scripts_support has put on the path

FIRST = "# simulated: no GPU has run this\n"
SIMULATED = {file: FIRST + text for file, text in ROWS.items()}


class SimulatedTest(ReadersCase):
    def read(self, *arguments, **options):
        return super().read(*arguments, recorded="recorded", **options)

    def setUp(self):
        super().setUp()
        (self.folder / "recorded").mkdir()
        self.write_run(self.folder / "recorded" / "h200x2", {
            "environment": ENVIRONMENT + "note\tanother\n"})
        self.mine = self.write_run(self.folder / "mine", SIMULATED)
        self.measured = self.write_run(self.folder / "measured")

    def test_refused_unless_asked_for(self):
        for file in (*ROWS, "environment", "notes"):
            text = FIRST + {**ROWS, "environment": ENVIRONMENT}.get(file, "a\tb\n")
            for run in (self.mine, self.write_run(self.folder / "one", {file: text})):
                for reader in READERS:
                    self.assert_refused(self.read(reader, run), 2, ".tsv: simulated rows, not "
                                        "measured on a GPU; --simulated reads them")
            if file in ROWS:  # half of a folder is no run at all
                for reader in READERS:
                    self.assert_refused(self.read(reader, run, "--simulated"), 2,
                                        f"{file}.tsv: simulated rows, but those of ")
        self.assertFalse(self.out.exists())
        for bom in (b"", b"\xef\xbb\xbf"):
            run = self.write_run(self.folder / "one", {
                "TestRepeat": bom + SIMULATED["TestRepeat"].encode()}, only=True)
            with self.assertRaisesRegex(tsv.TsvError, "simulated rows"):
                tsv.Run(run)

    def test_never_beside_measured_rows(self):
        for pair in ((self.mine, self.measured), (self.measured, self.mine)):
            self.assert_refused(self.read("compare.py", pair[0], "--simulated", other=pair[1]), 2,
                                "mine is simulated, ", "measured was measured")
            self.assert_refused(in_process.call(
                "summary.py", *pair, "--simulated", "--short"), 2, "cannot be compared")
        # A recorded run is a measured one, whatever is asked for.
        self.write_run(self.folder / "recorded" / "h200x2", SIMULATED)
        done = self.read("report.py", self.mine, "--simulated")
        self.assert_refused(done, 2, "simulated rows, not measured on a GPU\n")
        results = self.project / "results"
        results.unlink()
        shutil.copytree(ROOT / "results", results)
        for run in filter(Path.is_dir, results.glob("h*")):
            (run / "SHA256SUMS").unlink()
            for path in run.glob("[A-Z]*.tsv"):
                path.write_text(FIRST + path.read_text())
        for page in ("README.md", "explicit_barrier/peer_grid_barrier/README.md"):
            (self.project / page).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / page, self.project / page)
        self.assert_refused(self.script("pages/write_pages.py", "--check"), 2, "simulated rows, not measured")

    def test_measured_rows_are_shown_as_ever(self):
        for reader in READERS:
            one, other = (self.read(reader, self.measured, *options)
                          for options in ((), ("--simulated",)))
            self.assertEqual(one, other)
            self.assertNotIn("simulated", one.stdout)

    def check_every_file(self):
        """All that is written; without what is of the recorded runs or the study alone."""
        for path in (path for path in self.out.rglob("*") if path.is_file()):
            if path.suffix in (".png", ".pdf"):
                continue
            text = path.read_text()
            if path.suffix == ".tsv":
                self.assertTrue(text.startswith(tsv.SIMULATED), path)
            elif path.suffix == ".tex":
                self.assertRegex(text, r"\\caption\{simulated, not measured: ", path)
                self.assertNotRegex(text, "measured: .*simulated, not measured: ")
        page = (self.out / "report.md").read_text()
        self.assertTrue(page.startswith("# simulated, not measured: "))
        for caption in re.findall(r"(?m)^\*\*.*", page):
            self.assertRegex(caption, r"^\*\*(Table [IV]+( [ab])?\.\*\* |Figure \d+\.\*\* |Chart\.\*\* )?"
                             "simulated, not measured: ")
        for head in re.findall(r"(?m)^###? (?!How to cite).*", page):
            self.assertIn(" simulated, not measured: ", head)
        page = (self.out / "report.html").read_text()
        for tag in ("title", "h1", "figcaption", "h2", "h3"):
            found = [text for text in re.findall(rf"<{tag}[ >].*?</{tag}>", page)
                     if "How to cite" not in text]
            self.assertTrue(found, tag)
            for text in found:
                self.assertIn("simulated, not measured: ", text)
        self.assertIn("Simulated, not measured, with the ", page)

    def test_report(self):
        done = self.read("report.py", self.mine, "--simulated")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_every_file()
        page = (self.out / "report.md").read_text()
        self.assertIn("* a simulated run is not judged", page)
        self.assertNotIn("h200x2", page)  # a recorded one


if __name__ == "__main__":
    unittest.main()
