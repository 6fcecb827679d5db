"""Tests of report.py as a whole, on recorded and on made-up folders."""

import re
import shutil
import unittest

from html_page import Page
from made_up_rows import ENVIRONMENT, ROWS
from report_support import NO_SUMS, ReportCase, copy_of
from scripts_support import ROOT

from reporting.sheets import coded, literal  # scripts_support has put scripts/ on the path


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


if __name__ == "__main__":
    unittest.main()
