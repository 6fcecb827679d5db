"""Tests of how report.py says to cite a run."""

import re
import unittest

from report_support import ReportCase
from scripts_support import ROOT

from parts import tsv  # from scripts/, which scripts_support has put on the path
from reporting import cite


class CiteTest(ReportCase):
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
