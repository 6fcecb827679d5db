"""Tests of what pages show of the recorded rows: tables, lines of output, pictures."""

import shutil
import unittest
from pathlib import Path

from report_chart_checks import rows_of as shown_rows_of
from report_headline_test import NAMES, rows_of
from report_support import NO_SUMS, RECORDED, ReportCase, table_below
from scripts_support import ROOT, ScriptsTest

import readme_pictures  # from scripts/, which scripts_support has put on the path
from reporting.study import FOLDER


LIBRARY = Path("explicit_barrier/peer_grid_barrier/README.md")
# What README's rows are of: file, section, cells (blk: for each SM), column; the study's numbers.
IN_SM, ACROSS_SMS, LAUNCHES = "BenchmarkIntraSM", "BenchmarkInterSM", "ImplicitBarrier"
ROWS = (
    (IN_SM, "warp latency", {"method": "tile_sync", "thrd": "32", "tile": "32"}, None),
    (IN_SM, "block latency", {"method": "blocksync", "thrd": "32"}, "22, 218"),
    (IN_SM, "group latency", {"method": "cluster_sync", "blk": "2", "thrd": "32"}, None),
    (ACROSS_SMS, "grid latency", {"method": "grid_sync", "blk": 1, "thrd": "1024"}, None),
    (ACROSS_SMS, "grid latency", {"method": "grid_sync", "blk": 32, "thrd": "64"}, None),
    *((ACROSS_SMS, "multi-GPU latency", {"method": "peer_grid_sync", "blk": 1, "thrd": "1024",
                                         "GPUcount": gpus}, None) for gpus in "24"),
    (LAUNCHES, "sleep kernel", {"method": "traditional_launch", "GPUCount": "1", "blk": 1,
                                "thrd": "1024"}, None))
MEANS = {IN_SM: "m(ave_cycle)", ACROSS_SMS: "m(avginstru)", LAUNCHES: "m(ovh)"}
SMS = 132  # of all recorded machines


def row_of(folder, file, title, cells):
    cells = {column: str(SMS * text) if isinstance(text, int) else text
             for column, text in cells.items()}
    rows = [row for _, row in rows_of(ROOT / "results" / folder, file, title)
            if all(row[column] == text for column, text in cells.items())]
    return rows[0] if rows else None


class ReadmeTableTest(ReportCase):
    def test_values_are_those_of_the_rows(self):
        head, *table = table_below((ROOT / "README.md").read_text(), "<!-- machines: ")
        self.assertEqual(head[2:], [*(f"[{name}](results/{folder}), CUDA 13.0"
                                      for name, folder in zip(NAMES, RECORDED)),
                                    "Study: V100, P100"])
        self.assertEqual(len(table), len(ROWS))
        for cells, (file, title, wanted, study) in zip(table, ROWS):
            self.assertEqual(cells[-1], study or "–", cells[0])
            for folder, text in zip(RECORDED, cells[2:]):
                row = row_of(folder, file, title, wanted)
                if row is None:
                    self.assertEqual(text, "–", (folder, cells[0]))
                elif text != "none":
                    value = float(text.split(" ±")[0].rstrip("!"))
                    places = len(text.split(" ±")[0].rstrip("!").partition(".")[2])
                    spread = float(row.get("s(avginstr)") or row[f"s{MEANS[file][1:]}"])
                    self.assertAlmostEqual(value, float(row[MEANS[file]]),
                                           delta=max(spread / 10, 0.5 * 10 ** -places))
                else:
                    self.assertLess(float(row[MEANS[file]]), 3.5)  # nothing waits

    def test_what_is_said_below_the_table(self):
        table = table_below((ROOT / "README.md").read_text(), "<!-- machines: ")
        values = {cells[0]: [float(text.split(" ±")[0].rstrip("!")) for text in cells[2:-1]]
                  for cells in table[1:] if cells[0].startswith("1 GPU")}
        one, many, launches = values.values()
        for barrier, crowded, launch in zip(one, many, launches):
            self.assertTrue(barrier < launch < crowded)

    def test_sample_is_of_the_recorded_lines(self):
        text = (ROOT / "README.md").read_text().split("<!-- sample: ")[1]
        shown = text.split("```")[1].splitlines()[1:]
        recorded = {" ".join(line.split()) for line in (
            ROOT / "results/h200x1/BenchmarkIntraSM.tsv").read_text().splitlines()}
        self.assertEqual(len(shown), 10)
        self.assertLessEqual({" ".join(line.split()) for line in shown}, recorded)

    def test_barriers_of_several_gpus(self):
        head, *table = table_below((ROOT / LIBRARY).read_text(), "<!-- barriers: ")
        self.assertEqual(head[3:], ["1 GPU", "2 GPUs", "3 GPUs", "4 GPUs"])
        self.assertEqual(len(table), 11)
        for label, toolkit, shape, *cells in table:
            file, title, count = ACROSS_SMS, "multi-GPU latency", "GPUcount"
            if "launch" in label:
                file, title, count = LAUNCHES, "sleep kernel", "GPUCount"
            elif "multi_grid" in label:
                file += ".cuda11"
            self.assertEqual(toolkit, "11.8" if "cuda11" in file else "13.0")
            method = ("multi_grid_sync_no_peer" if "without" in label else
                      "multi_cooperative_launch" if "multi-device" in label else
                      "single_omp_traditional_launch" if "OpenMP" in label else label.strip("`"))
            blocks, threads = shape.split(" per SM x ")
            for gpus, cell in zip("1234", cells):
                row = row_of("h200x4", file, title, {
                    "method": method, "blk": int(blocks), "thrd": threads, count: gpus})
                mean = row and row["m(ovh)" if file == LAUNCHES else "m(avginstru)"]
                self.assertEqual(cell, f"{float(mean) / 1e3:.2f}" if row else "–")

    def test_pages_are_what_the_rows_say(self):
        """In this repository: after a run was recorded, scripts/readme_table.py renews them."""
        done = self.script("readme_table.py", "--check")
        self.assert_refused(done, 2, "cannot read ", "README.md")  # the project has none yet
        readme, library = self.project / "README.md", self.project / LIBRARY
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
        cell = shown_rows_of("h200x1", "BenchmarkInterSM", "grid latency")[0]["m(avginstru)"]
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
