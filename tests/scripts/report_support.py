"""What the tests of report.py share: a project that has results/, its outputs, their LaTeX."""

import re
import shutil

import read_again
from scripts_support import ROOT, ScriptsTest

from parts import tsv  # from scripts/, which scripts_support has put on the path
from reporting import normal
from reporting.part import Part
from reporting.study import Study

NO_SUMS = shutil.ignore_patterns("SHA256SUMS")  # for copies that a test changes
RECORDED = ("h100x1", "h200x1", "h200x2", "h200x4")


def cells_at(path, line):
    """{column: text} of a line of a file, by nothing but its header above."""
    lines = path.read_text().splitlines()
    header = next(text for text in reversed(lines[:line - 1]) if text.startswith("method\t"))
    return dict(zip(header.split("\t"), lines[line - 1].split("\t")))


def rows_of(name, file, title):
    """The rows of a section of a recorded run, as read_again reads them."""
    path = ROOT / "results" / name / f"{file}.tsv"
    files = {path.name: path.read_bytes()} if path.exists() else {}
    return [row for row in read_again.rows_of(files) if row.section == title]


def copy_of(name, folder, **environment):
    """A recorded run of another day, with another environment, in this folder."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "results" / name, folder, ignore=NO_SUMS)
    path, environment = folder / "environment.tsv", {"date_utc": "later", **environment}
    lines = [line.split("\t") for line in path.read_text().splitlines()]
    path.write_text("".join(f"{key}\t{environment.get(key, value)}\n" for key, value in lines))
    return folder


def part_of(path, recorded=ROOT / "results"):
    """What a report says of a run, as class Part."""
    return Part(tsv.Run(path), Study(), normal.recorded_runs(recorded))


def numbers_of(part):
    """(number of the table, its labels, quantity, Estimate) of all that is measured."""
    for table in part.tables:
        for line in table.lines:
            for quantity, estimate in zip(table.quantities, line.estimates):
                if estimate:
                    name = ", ".join(filter(None, (quantity.name, quantity.toolkit)))
                    yield table.number, dict(zip(table.labels, line.labels)), name, estimate


class ReportCase(ScriptsTest):
    def setUp(self):
        super().setUp()
        (self.project / "results").symlink_to(ROOT / "results")
        self.out = self.folder / "out"

    def report(self, folder, code=0, recorded=ROOT / "results", options=()):
        done = self.script("report.py", folder, "--out", self.out, "--recorded", recorded,
                           *options)
        self.assertEqual(done.returncode, code, done.stderr)
        self.errors = done.stderr
        self.assertEqual(done.stdout, f"{self.out / 'report.html'}\n")
        self.page = (self.out / "report.md").read_text()

    def check_tex(self, text):
        """All rows have as many cells as there are columns; every brace and environment ends."""
        self.assertEqual(re.findall(r"\\(?:begin|end)\{(.*?)\}", text)[::3],
                         [re.search(r"begin\{(table\*?)\}", text)[1]] * 2)
        self.assertTrue(text.isascii(), text)
        self.assertIn(", driver ", text)
        plain = re.sub(r"(\\\\)|\\[{}&%$#_]", r"\1", text)
        self.assertEqual(plain.count("{"), plain.count("}"))
        self.assertEqual(plain.count("$") % 2, 0)
        columns = re.search(r"tabular\}\{@\{\}(.*)@\{\}\}", text)[1]
        columns = len(re.sub(r"p\{.*?\}", "p", columns).replace("@{}", ""))
        rows = [line for line in plain.splitlines() if line.endswith(r"\\")]
        self.assertGreater(len(rows), 2)
        for row in rows:
            joined = sum(int(n) - 1 for n in re.findall(r"multicolumn\{(\d+)\}", row))
            self.assertEqual(row.count("&") + 1 + joined, columns, row)
