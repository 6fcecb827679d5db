"""Tests of what pages show of the recorded rows: that scripts renew tables and pictures."""

import shutil
import unittest

from report_chart_checks import rows_of
from report_support import NO_SUMS, ReportCase
from scripts_support import ROOT, ScriptsTest

import readme_pictures  # from scripts/, which scripts_support has put on the path
from reporting.study import FOLDER


class ReadmeTableTest(ReportCase):
    def test_the_table_is_what_the_rows_say(self):
        """In this repository: after a run was recorded, scripts/readme_table.py renews it."""
        done = self.script("readme_table.py", "--check")
        self.assert_refused(done, 2, "cannot read ", "README.md")  # the project has none yet
        readme = self.project / "README.md"
        library = self.project / "explicit_barrier/peer_grid_barrier/README.md"
        library.parent.mkdir(parents=True)
        for page in (readme, library):
            shutil.copyfile(ROOT / page.relative_to(self.project), page)
        done = self.script("readme_table.py", "--check")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        for page, old, new in ((readme, "| 14 |", "| 15 |"), (readme, "14.000 ", "15.000 "),
                               (library, "| 5.65 |", "| 5.66 |")):
            text = page.read_text()
            page.write_text(text.replace(old, new, 1))
            self.assert_refused(self.script("readme_table.py", "--check"), 1,
                                "does not show what results/ has")
            self.assertIn(new, page.read_text())
            self.assertEqual(self.script("readme_table.py").returncode, 0)
            self.assertEqual(page.read_text(), text)
        text = readme.read_text()
        for name in ("machines", "sample"):
            readme.write_text(text.replace(f"<!-- {name} end -->", ""))
            self.assert_refused(self.script("readme_table.py"), 2, "there are no comments")


class ReadmePicturesTest(ScriptsTest):
    def test_they_are_of_the_recorded_rows(self):
        self.assertEqual(readme_pictures.older(), [])
        text = (ROOT / "README.md").read_text()
        for name in readme_pictures.pictured(FOLDER.parent):
            self.assertIn(f'src="docs/figures/{name}"', text)
            self.assertLess((readme_pictures.OUT / name).stat().st_size, 150e3)

    def test_other_rows_are_noticed(self):
        recorded = self.folder / "recorded"
        shutil.copytree(FOLDER.parent, recorded, ignore=NO_SUMS)
        self.assertEqual(readme_pictures.older(recorded=recorded), [])
        path = recorded / "h200x1" / "BenchmarkInterSM.tsv"
        path.write_text(path.read_text().replace("# host waits", "# a line more\n# host waits"))
        self.assertEqual(readme_pictures.older(recorded=recorded), [])
        cell = rows_of("h200x1", "BenchmarkInterSM", "grid latency")[0]["m(avginstru)"]
        path.write_text(path.read_text().replace(f"\t{cell}\t", "\t999.875\t", 1))
        self.assertEqual(readme_pictures.older(recorded=recorded),
                         ["barriers.png", "grid_sync.png"])
        done = self.script("readme_pictures.py", "--check", "--recorded", recorded, "--out",
                           readme_pictures.OUT)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertIn("barriers.png, grid_sync.png; scripts/readme_pictures.py", done.stdout)
        self.assertEqual(readme_pictures.older(self.folder), ["barriers.png", "grid_sync.png"])


if __name__ == "__main__":
    unittest.main()
