"""Tests of the warnings that report.py shows."""

import unittest
from collections import Counter

from report_support import RECORDED
from scripts_support import ROOT, ScriptsTest

from parts import tsv  # from scripts/, which scripts_support has put on the path
from reporting import run_warnings


class KnownTest(ScriptsTest):
    def test_warnings(self):
        """Every comment and every line of the log, once."""
        for name in RECORDED:
            run = tsv.Run(ROOT / "results" / name)
            found = Counter(run_warnings.warned(run))
            self.assertEqual(set(found.values()), {1})
            comments = [line for file in run.files for line in (
                run.path / f"{file}.tsv").read_text().splitlines()
                if line.startswith("# warning[")]
            self.assertEqual(len([one for one in found if one.file != "stderr.log"]),
                             len(comments))
            log = (run.path / "stderr.log").read_text().splitlines()
            heads = {comment[2:].split(": ")[0] for comment in comments}
            self.assertEqual([one.text for one in found if one.file == "stderr.log"], [
                line for line in log if line.split(": ")[1] not in heads])


if __name__ == "__main__":
    unittest.main()
