"""Tests of the report that run.sh ends with, and of what its failure changes."""

import unittest

from html_page import Page
from scripts_support import ScriptsTest, write_program

# A report.py that waits for its end as the fakes do.
WAITS = r'''import os, time
with open(os.environ["LOG"] + ".new", "w") as pids:
    pids.write(f"{os.getpid()} {os.getppid()}")
os.rename(os.environ["LOG"] + ".new", os.environ["LOG"] + ".pids")
time.sleep(900)
'''


class ReportOfARunTest(ScriptsTest):
    def results_of(self, done):
        """The results folder, which run.sh names last."""
        folder = self.only_folder()
        self.assertNotIn(".partial", folder.name)
        self.assertTrue((folder / "Pitfalls.tsv").exists())
        self.assertTrue(done.stdout.endswith(f"\nResults: {folder}\n"), done.stdout)
        return folder

    def test_of_what_was_measured(self):
        self.link_study()
        self.write_run(self.project / "results/h200x1")
        done = self.run_sh()
        folder = self.results_of(done)
        self.assertIn(f"\nReport: {folder}/report/report.html\n", done.stdout)
        page = (folder / "report/report.html").read_text()
        Page(page)
        self.assertIn("Compared with the recorded runs of the same kind of GPU: h200x1.", page)
        self.assertIn("BenchmarkInterSM: warning: of some kind", page)  # of stderr.log
        self.assertIn(f"\nreport.py: {folder.name} has no BenchmarkIntraSM.before13.tsv, ",
                      done.stderr)

    def test_that_fails(self):
        """It is said, and neither the rows nor the exit code are other ones."""
        for name, code, reason in (
                ("there is no study", 2, "report.py: cannot read "),
                ("there is no report", 1, "report.py: cannot write ")):
            if code == 1:
                self.link_study()
                report = self.project / "scripts/report.py"
                report.write_text(report.read_text().replace(
                    'options.out = Path(options.folders[0]) / "report"',
                    'options.out = Path(options.folders[0]) / "stderr.log"'))
            done = self.run_sh()
            folder = self.results_of(done)
            self.assertIn("\nReport: none\n", done.stdout, name)
            self.assertIn(reason, done.stderr)
            self.assertTrue(done.stderr.endswith(
                f"\nwarning: there is no report (exit code {code} of report.py); again with: "
                f"{self.project / 'scripts/report.py'} {folder}\n"), done.stderr)
            self.assertFalse((folder / "report").exists())
            folder.rename(self.folder / name)

    def test_that_is_interrupted(self):
        write_program(self.project / "scripts/report.py", WAITS)
        for name in ("INT", "TERM", "HUP"):
            errors = self.interrupt(self.command("run.sh", "--results", self.results), name)
            folder = self.only_folder()
            self.assertTrue(errors.endswith(
                f"\nrun.sh: interrupted; what was measured is in {folder}\n"), errors)
            self.assertTrue((folder / "SHA256SUMS").exists())
            folder.rename(self.folder / name)

    def test_without_a_gpu_it_is_of_the_recorded_runs(self):
        self.gpu.unlink()
        self.link_study()
        for name in ("h200x2", "l4x1", "l4x1_20250101T000000Z"):
            self.write_run(self.project / "results" / name)
        report = self.project / "build/report"
        run = ["--method", "grid_sync"]
        self.assertIn(f"\nReport of the recorded runs: {report}/report.html\n", self.run_sh(*run).stdout)
        page = (report / "report.html").read_text()
        for name, there in (("h200x2", 1), ("l4x1", 1), ("l4x1_20250101T000000Z", 0)):
            self.assertEqual(page.count(f'<h2 id="{name}">'), there)
        (self.project / "CITATION.cff").unlink()
        (report / "report.html").unlink()
        done = self.run_sh(*run)
        self.assertNotIn("Report of", done.stdout)
        self.assertIn("CITATION.cff", done.stderr)
        self.assertIn("\nwarning: there is no report of the recorded runs, see above\n", done.stderr)
        self.assertIn("\nReport: none\n", done.stdout)


if __name__ == "__main__":
    unittest.main()
