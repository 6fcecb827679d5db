"""Tests of report.py as a whole, on recorded and on made-up folders."""

import html
import re
import shutil
import unittest

from html_page import Page
from made_up_rows import ENVIRONMENT, ROWS
from report_support import NO_SUMS, ReportCase
from scripts_support import ROOT

from reporting.sheets import coded, literal  # scripts_support has put scripts/ on the path


def rendered(text):
    """What is seen of a line of Markdown, code in <>; an error where any of it is markup."""
    seen = re.sub("`([^`]*)`", r"\1", text) if text.startswith("`") else text
    code = len(seen) != len(text)
    if code:
        end = text.index("`", 1)
        return f"<{text[1:end]}>" + rendered_alone(text[end + 1:], False)
    return rendered_alone(text, True)


def rendered_alone(text, first):
    plain = re.sub(r"\\([!-/:-@\[-`{-~])", "", text)
    if re.search(r"[`*\[\]|<>~$\\]|(?<![^\W_])_|_(?![^\W_])|&(?!amp;|lt;|gt;)", plain) or (
            first and re.match(r"[-+](?= |$)|-+$|=+$|#|\d+[.)](?= |$)", text)):
        raise AssertionError(f"markup: {text}")
    return html.unescape(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text))


NAMES = ("<script>x</script> & | _", "[x](javascript:y)", "`x`", "![x](y)", "*a* **b** _c_ __d__",
         "~~x~~", "$x$", "&lt;", "\\", "#", "1. x", "10) x", "- x", "+ x", "---", "===", "> x",
         "peer_grid_sync", "C:\\x\\")


class ReportTest(ReportCase):
    def test_tables_of_other_rows_are_removed(self):
        run, table = self.write_run(self.folder / "few"), self.out / "tables/few/table_6.tex"
        for changes in ({}, {"Reduction": None}):
            self.write_run(run, changes)
            self.report(run, recorded=self.folder)
            self.assertEqual(table.exists(), not changes)

    def test_without_the_columns_of_stats(self):
        run = self.folder / "h200x1"
        shutil.copytree(ROOT / "results" / "h200x1", run, ignore=NO_SUMS)
        for path in run.glob("*.tsv"):
            lines, kept = path.read_text().splitlines(), None
            for number, line in enumerate(lines):
                cells = line.split("\t")
                if cells[0] == "method":
                    kept = [place for place, name in enumerate(cells)
                            if not re.match(r"(n|med.*|ci95.*|clock)$", name)]
                if kept and not line.startswith("#"):
                    lines[number] = "\t".join(cells[place] for place in kept)
            path.write_text("\n".join(lines) + "\n")
        self.report(run)
        row = re.search(r"(?m)^\| block \| 32 \| .*", self.page)[0]
        rate = row.split(" | ")[6]  # without a spread, which only those columns have
        self.assertGreater(float(rate), 0)

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
        for name in NAMES:
            self.assertEqual(rendered(literal(name)), name)
            self.assertEqual(rendered(literal(coded("`a_b*`") + name)), f"<a_b*>{name}")
        for name in NAMES[:4]:
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
