"""Tests of how report.py says to cite a run."""

import re
import unittest

from report_support import RECORDED, ReportCase
from scripts_support import ROOT

from parts import tsv  # from scripts/, which scripts_support has put on the path
from reporting import cite


class CiteTest(ReportCase):
    def test_what_is_written(self):
        self.report(*(ROOT / "results" / name for name in RECORDED[:2]))
        written = self.summary["cite"]
        run = tsv.Run(ROOT / "results" / RECORDED[0])
        for key in ("suite_commit", "gpu", "driver", "cuda_toolkit", "cuda_toolkit_before13"):
            self.assertIn(run.environment[key], written["sentences"][RECORDED[0]])
            self.assertIn(run.environment[key], written["bibtex"])
        for text in ("@misc{synchronization-h100x1,", "@misc{synchronization-h200x1,",
                     "@inproceedings{zhang2020,", "version 0.1.0", "year = {2020}",
                     "author = {Zhang, Lingqi and Wahib, Mohamed and Zhang, Haoyu and Matsuoka, "
                     "Satoshi}", "title = {{A Study of Single and Multi-device Synchronization "
                     "Methods in Nvidia GPUs}}"):
            self.assertIn(text, written["bibtex"])
        self.assertEqual(written["bibtex"].count("{"), written["bibtex"].count("}"))
        self.assertIn(f"```bibtex\n{written['bibtex']}```\n", self.page)
        for sentence in written["sentences"].values():
            self.assertIn(f"* {sentence}\n", self.page)
            self.assertIn(f"<li>{sentence}</li>", (self.out / "report.html").read_text())
        run = tsv.Run(self.write_run(self.folder / "run"))  # whose rows do not name a version
        self.assertEqual(cite.version_of(run), (None, "abc"))
        self.assertIn("benchmarks (commit abc), which", cite.sentence(run, cite.Citation()))
        self.assertEqual(cite.bibtex_text("50% & {_}"), r"50\% \& {\_}")

    def test_what_is_damaged_is_refused(self):
        text = (ROOT / "CITATION.cff").read_text()
        path = self.folder / "CITATION.cff"
        for old, new, message in (
                ("    year: 2020\n", "", "nothing says year of the study"),
                ("title: GPU", "titel: GPU", "nothing says title of the suite"),
                ("family-names", "family", "nothing says family-names of the study"),
                ("\nreferences:\n", "\n", "nothing says title of the study")):
            self.assertIn(old, text)
            path.write_text(text.replace(old, new))
            with self.assertRaisesRegex(tsv.TsvError, f"CITATION.cff.*{message}"):
                cite.Citation(path)
        (self.project / "CITATION.cff").unlink()
        self.assert_refused(self.script("report.py", self.write_run(self.folder / "run")), 2,
                            "cannot read ", "CITATION.cff")

    def test_other_spellings(self):
        """Names on lines of their own, texts in quotes."""
        text = (ROOT / "CITATION.cff").read_text()
        path = self.folder / "CITATION.cff"
        path.write_text(re.sub(r"{(family-names: \w+), (given-names: \w+)}", r"\1\n        \2", text)
                        .replace("title: GPU synchronization micro-benchmarks",
                                 'title: "GPU synchronization micro-benchmarks"'))
        self.assertNotIn("{", path.read_text())
        self.assertEqual(vars(cite.Citation(path)), vars(cite.Citation()))


if __name__ == "__main__":
    unittest.main()
