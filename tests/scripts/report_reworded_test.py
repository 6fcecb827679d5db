"""No script reads what programs say in words: with all of it reworded, nothing else differs."""

import json
import re
import shutil
import unittest

from report_support import NO_SUMS, ReportCase
from scripts_support import ROOT

# Behind an annotation, also in stderr.log; behind a title; of stderr.log all else, too.
TEXT = re.compile(r"(?m)^((?:# |[\w.]+: )[a-z]+\[[^]\n]*\][^:\n]*): (.*)")
TITLE = re.compile(r"(?m)^(# [^\n:\[\]]+): (.*)(?=\nmethod\t)")
LOGGED = re.compile(r"(?m)^([\w.]+: warning): (.*)")
OTHER = "other words"


class RewordedTest(ReportCase):
    def outputs(self, run):
        """What the scripts make of a folder, without the texts."""
        self.report(run, recorded=self.folder)
        texts = {path.relative_to(self.out): path.read_text() for path in self.out.rglob("*")
                 if path.suffix in (".tsv", ".tex")}

        def without_texts(found):
            if isinstance(found, dict):
                return {key: len(value) if key in ("remarks", "warnings") else without_texts(value)
                        for key, value in found.items()}
            return list(map(without_texts, found)) if isinstance(found, list) else found
        texts["report.json"] = json.dumps(without_texts(self.summary))
        shown = self.script("summary.py", run).stdout
        head, warned = shown.split("\nWarnings of the run", 1)
        texts["summary.py"] = head + re.sub(": .*", "", warned)
        return texts

    def test_nothing_is_lost(self):
        for name in ("h200x2", "h100x1"):
            run = self.folder / name
            shutil.copytree(ROOT / "results" / name, run, ignore=NO_SUMS)
            plain = self.outputs(run)
            texts = set()
            for path in (*run.glob("*.tsv"), run / "stderr.log"):
                other = OTHER + " of a log" * (path.suffix == ".log")
                for pattern in (TEXT, TITLE, LOGGED):
                    said = path.read_text()
                    texts |= {text for _, text in pattern.findall(said)}
                    path.write_text(pattern.sub(rf"\1: {other}", said))
            self.assertGreater(len(texts), 100)
            reworded = self.outputs(run)
            self.assertEqual(plain.keys(), reworded.keys())
            for file, shown in plain.items():
                for text in texts:  # in notes, for people
                    for form in (text.replace("%", r"\%"), json.dumps(text)[1:-1]):
                        shown = shown.replace(form, OTHER)
                self.assertEqual(shown, reworded[file], file)
            shutil.rmtree(run)


if __name__ == "__main__":
    unittest.main()
