"""Tests of the pictures of report.py, which need matplotlib; 77 where it is not there: skipped."""

import os
import re
import struct
import subprocess
import sys
import unittest
from urllib.parse import unquote

from html_page import Page
from scripts_support import ROOT, ScriptsTest

try:
    from reporting import draw
except ImportError as error:
    print(f"skipped: there is no matplotlib ({error})")
    sys.exit(77)

from parts import tsv
from reporting import charts
from reporting.study import Study

PAGE = 5e6  # bytes that a report.html may have


class PicturesTest(ScriptsTest):
    def report(self, out, *arguments, path=None):
        """Runs report.py with this Python, which has matplotlib; path: modules found first."""
        environment = {**os.environ, "PYTHONHASHSEED": str(len(str(out)))}
        if path:
            environment["PYTHONPATH"] = str(path)
        command = [sys.executable, ROOT / "scripts/report.py", *arguments, "--out", out]
        return subprocess.run(command, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding="utf-8", check=False)

    def test_files_and_page(self):
        run = self.write_run(self.folder / "a few (%)")
        out, again = self.folder / "out", self.folder / "once_more"
        for folder in (out, again):
            done = self.report(folder, run)
            self.assertEqual((done.returncode, "pictures" in done.stderr), (0, False), done.stderr)
        pictures = sorted(out.glob("figures/**/*.png"))
        self.assertEqual(len(pictures), 6)  # of 9, for want of rows
        for path in pictures:
            self.check_png(path.read_bytes())
            self.assertEqual(path.with_suffix(".pdf").read_bytes()[:5], b"%PDF-")
            self.assertTrue(path.with_suffix(".tsv").exists())
            self.assertIn(f"{{{path.relative_to(out).with_suffix('.pdf')}}}",
                          path.with_suffix(".tex").read_text())
            # The same rows make the same picture. Places in a PDF may differ by 1e-6 points.
            self.assertEqual(path.read_bytes(), (again / path.relative_to(out)).read_bytes())
        text = (out / "report.html").read_text()
        self.assertLess(len(text), PAGE)
        shown = Page(text).pictures
        self.assertEqual(sorted(data for _, data in shown),
                         sorted(path.read_bytes() for path in pictures))
        for alternative, _ in shown:
            self.assertRegex(alternative, r"^(Heat map|Line chart|Dot chart): .* \d+ values")
        links = re.findall(r"!\[.+?\]\((\S+?)\)\n", (out / "report.md").read_text())
        self.assertEqual(sorted(out / unquote(link) for link in links), pictures)

    def check_png(self, data):
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        width, height = struct.unpack(">II", data[16:24])
        self.assertIn(width, (round(200 * draw.NARROW), round(200 * draw.WIDE)))
        self.assertLess(height, 200 * 9)  # a page
        self.assertNotIn(b"tEXt", data)
        self.assertLess(len(data), 200e3)

    def drawn(self, name, figure):
        """(a recorded run, its chart, the axes of the picture)"""
        run = tsv.Run(ROOT / "results" / name)
        with draw.settings():
            chart, = (chart for chart in charts.charts_of(run, Study()) if chart.name == figure)
            return run, chart, draw.picture_of(chart).axes

    def test_heat_map_has_the_rows_as_the_study_has_them(self):
        """Cells by their place: blocks per SM from the top, threads to the right."""
        run, _, (axes,) = self.drawn("h200x1", "figure_5")
        self.assertEqual(axes.get_title(), "H200, grid_sync (µs)")
        columns = [text.get_text() for text in axes.get_xticklabels()]
        rows = [text.get_text() for text in axes.get_yticklabels()]
        self.assertEqual((columns, rows), (["32", "64", "128", "256", "512", "1024"],
                                           ["1", "2", "4", "8", "16", "32"]))
        self.assertGreater(axes.get_ylim()[0], axes.get_ylim()[1])  # 1 is at the top
        section = run.section("BenchmarkInterSM", "grid latency")
        shown = {text.get_position(): text.get_text() for text in axes.texts}
        self.assertEqual(len(shown), 26)
        for (x, y), text in shown.items():
            row = section.find(method="grid_sync", thrd=columns[int(x)],
                               blk=str(132 * int(rows[int(y)])))
            self.assertLess(abs(float(text) * 1e3 / float(row["m(avginstru)"]) - 1), 0.006)

    def test_error_bars_and_marks(self):
        _, chart, (axes, *_) = self.drawn("h200x2", "figure_9")
        panel = chart.panels[0]
        self.assertEqual(axes.get_ylabel(), "microseconds")
        self.assertEqual(len(axes.containers), len(panel.series))
        for bars, series in zip(axes.containers, panel.series):
            points = sorted(series.points, key=lambda point: point.x)
            line, _, (lengths,) = bars
            self.assertEqual(list(line.get_ydata()), [point.estimate.value for point in points])
            for (low, high), point in zip(lengths.get_segments(), points):
                self.assertAlmostEqual(high[1] - low[1], 2 * point.estimate.spread)

    def test_a_matplotlib_that_cannot_be_used(self):
        modules = self.folder / "modules"
        modules.mkdir()
        (modules / "matplotlib.py").write_text("raise ImportError('it is broken')\n")
        out = self.folder / "out"
        run = self.write_run(self.folder / "run")
        stale = out / "figures/run/figure_5.png"
        stale.parent.mkdir(parents=True)
        stale.touch()
        done = self.report(out, run, path=modules)
        self.assertEqual(done.returncode, 0)
        self.assertIn("report.py: no pictures, because matplotlib cannot be used: it is broken (",
                      done.stderr)
        self.assertEqual(list(out.glob("figures/**/*.p??")), [])  # those of before are gone
        self.assertTrue((out / "figures/run/figure_5.tsv").exists())
        self.assertIn("it is broken", (out / "report.html").read_text())


if __name__ == "__main__":
    unittest.main()
