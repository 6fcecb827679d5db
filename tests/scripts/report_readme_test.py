"""Tests of what pages show of results/: tables and pictures."""

import shutil
import unittest
from pathlib import Path

from report_support import NO_SUMS, ReportCase
from scripts_support import ROOT, ScriptsTest

# scripts_support has put scripts/ on the path
from pages import write_pages
from parts import tsv
from reporting.normal import recorded_runs
from reporting.study import FOLDER


class PagesTest(ReportCase):
    def test_they_are_what_the_files_say(self):
        """In this repository: after a run was recorded, write_pages.py renews them."""
        results = self.project / "results"
        results.unlink()
        results.mkdir()
        for path in (path for path in FOLDER.parent.iterdir() if path.name != "evidence"):
            (results / path.name).symlink_to(path)
        names = tuple(write_pages.PAGES)
        pages = {self.project / name: (ROOT / name).read_text() for name in names}
        for page, text in pages.items():
            page.parent.mkdir(parents=True, exist_ok=True)
            self.assertIn("writes this -->\n", text)
            page.write_text(text.replace("writes this -->\n", "writes this -->\n| 0 |\n", 1))
        figures = self.project / write_pages.FIGURES
        figures.parent.mkdir(exist_ok=True)
        figures.symlink_to(ROOT / write_pages.FIGURES)  # no matplotlib draws them anew
        self.assert_refused(self.script("pages/write_pages.py", "--check"), 1,
                            f"not what results/ has: {', '.join(names)}; ")
        for page in pages:
            self.assertIn("| 0 |", page.read_text())
        self.assertEqual(self.script("pages/write_pages.py").returncode, 0)
        self.assertEqual({page: page.read_text() for page in pages}, pages)

class PicturesTest(ScriptsTest):

    def test_other_rows_are_noticed(self):
        recorded = self.folder / "recorded"
        shutil.copytree(FOLDER.parent, recorded, ignore=NO_SUMS)

        def older():
            return [Path(path).name for path in write_pages.older_pictures(recorded_runs(recorded))]

        path = recorded / "h200x1" / "BenchmarkInterSM.tsv"
        path.write_text(path.read_text().replace("# host waits", "# a line more\n# host waits"))
        self.assertEqual(older(), [])
        path = recorded / "h200x2" / "BenchmarkInterSM.tsv"
        cell = tsv.read(path)[0].find(method="grid_sync", blk="132", thrd="1024")["m(avginstru)"]
        path.write_text(path.read_text().replace(f"\t{cell}\t", "\t999.875\t", 1))
        self.assertEqual(older(), ["barriers.png", "rows.sha256"])


if __name__ == "__main__":
    unittest.main()
