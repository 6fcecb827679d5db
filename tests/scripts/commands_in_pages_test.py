"""What pages and the report say of the programs is what the programs say.

usage: commands_in_pages_test.py BUILD_DIR    (no GPU is needed)
"""

import re
import subprocess
import sys
import unittest
from pathlib import Path

BUILD = Path(sys.argv.pop(1)).resolve()
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from parts.suite import NAMES  # noqa: E402
from reporting import names  # noqa: E402

# Methods of commands that need a toolkit before CUDA 13, which this build may not be of.
OLDER = {"cub_grid_barrier", "cub_grid_barrier_ordered", "multi_grid_sync",
         "multi_grid_sync_no_peer", "multi_grid"}


def said(program, option):
    return subprocess.run([BUILD / program, option], capture_output=True, text=True,
                          check=True).stdout


class CommandsInPagesTest(unittest.TestCase):
    def test_names_of_methods_in_cuda(self):
        """The report's names are a part of what --list says."""
        listed = {}
        for program in NAMES:
            for line in said(program, "--list").splitlines():
                method, *texts = line.split("\t")[:3]
                listed.setdefault(method, []).append(" ".join(texts).replace(",", ""))
        for method, text in names.CUDA.items():
            self.assertTrue(method in OLDER or any(
                re.sub("[`,]", "", text) in one for one in listed[method]), (method, text))

    def test_commands_in_pages_can_be_run(self):
        """Each `build/PROGRAM ...` names methods and options that the program has."""
        seen = 0
        for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
            for program, rest in re.findall(r"build/([A-Z]\w+)((?: [-\w.,]+)*)", path.read_text()):
                with self.subTest(page=path.name, command=f"{program}{rest}"):
                    help_text = said(program, "--help")
                    for option in re.findall(r" (--[a-z-]+)", rest):
                        self.assertIn(f"  {option} ", help_text.replace("-h, --help", "--help"))
                    listed = {line.split("\t")[0] for line in said(program, "--list").splitlines()}
                    for methods in re.findall(r" --method (\S+)", rest):
                        self.assertLessEqual(set(methods.split(",")) - {"NAME"}, listed | OLDER)
                        seen += 1
                    if re.match(r" \d", rest):
                        self.assertIn("gpu_count", help_text)
        self.assertGreater(seen, 4)

    def test_options_that_programs_share(self):
        """docs/run.md says who takes what: each program takes it, and no other does."""
        text = (ROOT / "docs/run.md").read_text().split("## Options\n")[1].split("\n## ")[0]
        options = set()
        for line in text.splitlines():
            cells = line.strip("|").split("|")
            found = re.findall(r"`([^`]+)`", cells[0])
            options.update(found)
            for option in found:
                takers = re.findall(r"`([^`]+)`", cells[1]) or NAMES
                for program in NAMES:
                    has = re.search(rf"(?m)^  (-h, )?{option}[ \[]", said(program, "--help"),
                                    ) or f", {option} " in said(program, "--help")
                    self.assertEqual(bool(has), program in takers, (program, option))
        everything = {option for program in NAMES for option in re.findall(
            r"(?m)^  (?:-h, )?(--[a-z-]+)", said(program, "--help"))}
        self.assertLessEqual(everything, options)

    def test_columns_in_the_table_of_questions(self):
        """README's columns exist in the program of the same line."""
        lines = [line for line in (ROOT / "README.md").read_text().splitlines()
                 if line.startswith("|") and "`build/" in line]
        self.assertGreater(len(lines), 5)
        for line in lines:
            program = re.search(r"build/(\w+)", line)[1]
            columns = re.findall(r"`([^` ]+)`", line.split("|")[3])
            self.assertTrue(columns, line)
            known = {row.split("\t")[1] for row in said(program, "--columns").splitlines()}
            self.assertLessEqual(set(columns), known, line)


if __name__ == "__main__":
    unittest.main()
