"""Tests of what the pictures of report.py show, which need no matplotlib."""

import csv
import unittest
from collections import Counter

from html_page import Page
from report_support import RECORDED, ReportCase
from scripts_support import ROOT

KEY = ("panel", "series", "x", "unit")
UNITS = {"figure_4": {"cycles", "warp barriers per cycle"},
         "figure_15": {"GB/s", "percent of read_limit"},
         "figure_16": {"GB/s", "percent of implicit_multi"},
         "figure_18": {"cycles since the first lane's start"},
         **dict.fromkeys(("barriers",), {"nanoseconds"}),
         **dict.fromkeys(("figure_5", "figure_7", "figure_8", "figure_9"), {"microseconds"})}


def read_rows(path):
    """Rows of a chart's file, as dicts."""
    lines = path.read_text().splitlines()
    return list(csv.DictReader(lines[1:], delimiter="\t", quoting=csv.QUOTE_NONE))


class ChartsTest(ReportCase):
    """Of recorded runs, without matplotlib: the tests' python3 knows no installed packages."""

    def report(self, folder):
        done = self.script("report.py", folder, "--out", self.out, "--recorded", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("no pictures, because matplotlib cannot be used"), 1)
        self.errors = done.stderr
        self.text = (self.out / "report.md").read_text()
        self.assertIn("There are no pictures, because matplotlib", self.text)
        self.assertNotIn("![", self.text)
        page = (self.out / "report.html").read_text()
        self.assertEqual(Page(page).pictures, [])
        self.assertIn("There are no pictures, because matplotlib", page)
        self.assertEqual([*self.out.glob("figures/**/*.png"), *self.out.glob("**/*.pdf")], [])
        return sorted(path.stem for path in self.out.glob(f"figures/{folder.name}/*.tsv"))

    def test_recorded_folders(self):
        """Charts are those of what was measured."""
        for name in RECORDED:
            several, names = int(name[-1]) > 1, self.report(ROOT / "results" / name)
            self.assertEqual(names, sorted([
                "figure_4", "figure_5", "figure_7", "figure_8", "barriers", "figure_15", "figure_18",
                *["figure_9", "figure_16"] * several]))
            self.assertNotIn(f"{name} has no ", self.errors)
            for chart in names:
                self.check_keys(chart, read_rows(self.out / "figures" / name / f"{chart}.tsv"))
            self.assertEqual("Of several GPUs, so not for this run: Figure 9, " in self.text, not several)

    def check_keys(self, chart, rows):
        """A line is known by its key; each has one of the chart's units."""
        self.assertEqual([count for count in Counter(
            tuple(row[part] for part in KEY) for row in rows).values() if count > 1], [], chart)
        self.assertEqual({row["unit"] for row in rows}, UNITS.get(chart, {"cycles"}))


if __name__ == "__main__":
    unittest.main()
