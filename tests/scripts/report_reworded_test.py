"""No script reads the texts of annotations: with all of them reworded, nothing else differs."""

import json
import re
import shutil
import unittest

from report_support import NO_SUMS, ReportCase
from scripts_support import ROOT

TEXT = re.compile(r"(?m)^(# (?:warning|skipped|note)\[[^]\n]*\][^:\n]*): (.*)")
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
            (run / "stderr.log").unlink()  # which has the texts, too
            plain = self.outputs(run)
            texts = set()
            for path in run.glob("*.tsv"):
                # What `tile` counts is a text that is shown.
                texts |= {text for head, text in TEXT.findall(path.read_text())
                          if "note[tile]" not in head}
                path.write_text(TEXT.sub(
                    lambda found: found[0] if "note[tile]" in found[1]
                    else f"{found[1]}: {OTHER}", path.read_text()))
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
