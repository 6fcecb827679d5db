"""What the tests of report.py share: a project that has results/, its outputs, their LaTeX."""

import re
import shutil

from scripts_support import ROOT, ScriptsTest

NO_SUMS = shutil.ignore_patterns("SHA256SUMS")  # for copies that a test changes


def copy_of(name, folder, **environment):
    """A recorded run of another day, with another environment, in this folder."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "results" / name, folder, ignore=NO_SUMS)
    path, environment = folder / "environment.tsv", {"date_utc": "later", **environment}
    lines = [line.split("\t") for line in path.read_text().splitlines()]
    path.write_text("".join(f"{key}\t{environment.get(key, value)}\n" for key, value in lines))
    return folder


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
