"""Tests of report.py on recorded and on made-up folders: names of GPUs, which runs are compared,
markup; and of what pages show of results/."""

import math
import re
import shutil
import unittest
from pathlib import Path
from types import SimpleNamespace

from html_page import Page
from made_up_rows import ENVIRONMENT, ROWS
from report_support import NO_SUMS, ReportCase, copy_of
from scripts_support import ROOT, ScriptsTest

# scripts_support has put scripts/ on the path
from pages import write_pages
from parts import means, tsv
from reporting import normal
from reporting.estimates import short_name
from reporting.sheets import coded, literal
from reporting.study import FOLDER


# As Markdown that shows them.
NAMES = {
    "<script>x</script> & | _": r"&lt;script&gt;x&lt;/script&gt; &amp; \| \_",
    "[x](javascript:y)": r"\[x\](javascript:y)", "![x](y)": r"!\[x\](y)", "`x`": r"\`x\`",
    "*a* **b** _c_ __d__": r"\*a\* \*\*b\*\* \_c\_ \_\_d\_\_", "~~x~~": r"\~\~x\~\~",
    "$x$": r"\$x\$", "&lt;": "&amp;lt;", "\\": "\\\\", "#": r"\#", "1. x": r"1\. x", "10) x": r"10\) x",
    "- x": r"\- x", "+ x": r"\+ x", "---": r"\---", "===": r"\===", "> x": "&gt; x",
    "peer_grid_sync": "peer_grid_sync", "C:\\x": r"C:\\x"}


def with_times(text, cell):
    """The same output with this mean and median in every row."""
    lines, places = [], ()
    for line in text.splitlines():
        cells = line.split("\t")
        if cells[0] == "method":
            places = [place for place, name in enumerate(cells) if re.match(r"(m|med)\(", name)]
        elif len(cells) > 1:
            cells = [cell if place in places else old for place, old in enumerate(cells)]
        lines.append("\t".join(cells))
    return "\n".join(lines) + "\n"


class ReportTest(ReportCase):
    def test_times_that_cannot_be(self):
        """They are shown, or said to be so: no traceback."""
        recorded = ROOT / "results/h200x1"
        run = copy_of("h200x1", self.folder / "run")
        for cell in ("0.000", "nan"):
            for path in recorded.glob("[A-Z]*.tsv"):
                (run / path.name).write_text(with_times(path.read_text(), cell))
            self.report(run)
            for script, *folders in (("summary.py", run), ("compare.py", recorded, run)):
                done = self.script(script, *folders)
                self.assertIn(done.returncode, (0, 1), done.stderr)
                self.assertNotIn("Traceback", done.stderr)

    def test_tables_of_other_rows_are_removed(self):
        run, table = self.write_run(self.folder / "few"), self.out / "tables/few/table_6.tex"
        for changes in ({}, {"Reduction": None}):
            self.write_run(run, changes)
            self.report(run, recorded=self.folder)
            self.assertEqual(table.exists(), not changes)

    def test_one_gpu_and_the_default_folder(self):
        run = self.folder / "mine"
        shutil.copytree(ROOT / "results" / "h200x1", run, ignore=NO_SUMS)
        done = self.script("report.py", run)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"\Areport.py: drawing mine\n"
                         r"(report.py: no pictures, because .*\n)?\Z")
        page = (run / "report" / "report.md").read_text()
        self.assertEqual(page.count("no barrier of several GPUs was measured"), 6)
        self.assertIn("same kind of GPU: h200x2, h200x4.\n", page)  # and not with itself

    def test_what_a_folder_says_is_no_markup(self):
        for name, shown in NAMES.items():
            self.assertEqual(literal(name), shown)
        self.assertEqual(literal(coded("`a_b*`") + "*"), r"`a_b*`\*")
        for name in list(NAMES)[:3]:
            warning = f"# warning[x]: this row: {name}\n"
            run = self.write_run(self.folder / "run", {
                "environment": ENVIRONMENT.replace("NVIDIA H200", name),
                "ImplicitBarrier": ROWS["ImplicitBarrier"].replace("NVIDIA H200", name) + warning})
            self.report(run, recorded=self.folder)
            self.assertIn([None, name], Page((self.out / "report.html").read_text()).cells)
            self.check_tex((self.out / "tables/run/table_1.tex").read_text())
            for text in (f"\n{literal(name)} x 2, driver unknown", f"| gpu | {literal(name)} |",
                         f"this row: {literal(name)}"):
                self.assertIn(text, self.page)
            self.assertNotIn("<", self.page.replace("`kernel<<<...>>>()`", ""))


class NameTest(unittest.TestCase):
    def test_short_names(self):
        for gpu, name in (("NVIDIA H200", "H200"), ("NVIDIA H100 80GB HBM3", "H100"),
                          ("Tesla V100-SXM2-16GB", "Tesla V100"), ("NVIDIA A100-PCIE-40GB",
                                                                   "A100"),
                          ("NVIDIA GeForce RTX 4090", "RTX 4090"), ("NVIDIA GB200", "GB200"),
                          ("NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada"),
                          ("NVIDIA GeForce RTX 4090 Laptop GPU", "RTX 4090 Laptop"),
                          ("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
                           "RTX PRO 6000 Max-Q"),
                          ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "RTX PRO 6000")):
            self.assertEqual(short_name(
                SimpleNamespace(environment={"gpu": gpu}, simulated=False)), name)


class NormalTest(ScriptsTest):
    def test_verdicts(self):
        """Of 99 to 105, 2% of whose mean are 2.04; an interval that reaches so far is unclear."""
        recorded = [means.Value(100.0, 1.0, "100"), means.Value(104.0, 1.0, "104")]
        for mean, half, verdict in (
                (96.97, 0, "same"), (107.03, 0, "same"), (96.9, 0, "faster"), (107.1, 0, "slower"),
                (96.0, 2, "unclear"), (108.0, 2, "unclear"), (108.0, math.nan, "slower")):
            found = normal.judge("ave_cycle", means.Value(mean, half, str(mean)), recorded)
            self.assertEqual((found[0], found[1], found[3]), (99, 105, verdict), (mean, half))
        for name, mean, verdict in (("GB/s", 120.0, "faster"), ("diff_thrput", 90.0, "slower")):
            self.assertEqual(normal.judge(name, means.Value(mean, 1.0, ""), recorded)[3], verdict)
        # What is known worse than within 10% is left out.
        wide = [means.Value(-5.0, 2600.0, ""), means.Value(150.0, 15.1, "")]
        here = means.Value(100.0, 0.0, "")
        self.assertEqual(normal.judge("a", here, [*wide, *recorded])[:2], (99, 105))
        self.assertEqual(normal.judge("a", here, wide)[3], "unclear")
        self.assertEqual(normal.judge("a", here, [])[3], "not recorded")

    def a_run(self, name, gpu, sms="132"):
        environment = f"key\tvalue\ngpu\t{gpu}\ngpu_count\t2\nsms\t{sms}\nnote\t{name}\n"
        launches = ROWS["ImplicitBarrier"].replace("NVIDIA H200", gpu)
        return tsv.Run(self.write_run(self.folder / name, {
            "environment": environment, "ImplicitBarrier": launches}))

    def test_which_runs_are_compared(self):
        mine, twin = self.a_run("mine", "A"), self.a_run("ax2", "A")
        far, near = self.a_run("bx1", "B", "80"), self.a_run("cx1", "C", "120")
        again = self.a_run("cx2", "C", "120")
        self.a_run("cx3_20260101", "A")  # somebody's own, and none kept for reference
        recorded = normal.recorded_runs(self.folder)
        self.assertEqual([run.path.name for run in recorded], ["ax2", "bx1", "cx1", "cx2"])
        for runs, expected in (([far, near, twin], [twin]), ([mine, twin], [twin]),
                               ([far, near, again], []), ([mine], []), ([], [])):
            self.assertEqual(normal.references(mine, runs), expected)

    def test_rows_are_matched_by_blocks_per_sm(self):
        small = {"BenchmarkInterSM": ROWS["BenchmarkInterSM"].replace("4224", "3840").replace(
            "\t132\t32", "\t120\t32"), "environment": ENVIRONMENT.replace("132", "120")}
        other = tsv.Run(self.write_run(self.folder / "other", small))
        run = tsv.Run(self.write_run(self.folder / "run"))
        grid = [row for row in normal.judged(run, [other])
                if row.key[0] == "BenchmarkInterSM"]
        self.assertEqual([row.verdict for row in grid], ["same"] * 5)
        self.assertEqual([row.key[5] for row in grid], ["1xSM", "32xSM", "1xSM", "1xSM", "32xSM"])
        alone = normal.judged(run, [])
        self.assertEqual({row.verdict for row in alone}, {"not recorded"})


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
            runs = normal.recorded_runs(recorded)
            return [Path(path).name for path in write_pages.older_pictures(runs)]

        path = recorded / "h200x1" / "BenchmarkInterSM.tsv"
        path.write_text(path.read_text().replace("# host waits", "# a line more\n# host waits"))
        self.assertEqual(older(), [])
        path = recorded / "h200x2" / "BenchmarkInterSM.tsv"
        cell = tsv.read(path)[0].find(method="grid_sync", blk="132", thrd="1024")["m(avginstru)"]
        path.write_text(path.read_text().replace(f"\t{cell}\t", "\t999.875\t", 1))
        self.assertEqual(older(), ["barriers.png", "rows.sha256"])


if __name__ == "__main__":
    unittest.main()
