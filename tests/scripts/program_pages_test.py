"""The pages that come from the programs say what the programs say; so do the commands of others.

usage: program_pages_test.py BUILD_DIR    (no GPU is needed)
"""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

BUILD = Path(sys.argv.pop(1)).resolve()
ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/pages/program_pages.py"
PAGES = ("methods.md", "columns.md", "methods.tsv")
sys.path.insert(0, str(ROOT / "scripts"))

from parts.suite import NAMES  # noqa: E402
from pages import program_pages  # noqa: E402
from reporting.sheets import coded, literal  # noqa: E402

# Methods of commands that need a toolkit before CUDA 13, which this build may not be of.
OLDER = {"cub_grid_barrier", "cub_grid_barrier_ordered", "multi_grid_sync",
         "multi_grid_sync_no_peer", "multi_grid"}


def said(program, option):
    return subprocess.run([BUILD / program, option], capture_output=True, text=True,
                          check=True).stdout


def check(docs):
    return subprocess.run([sys.executable, SCRIPT, BUILD, "--check", "--docs", docs],
                          capture_output=True, text=True)


class ProgramPagesTest(unittest.TestCase):
    def test_pages_are_up_to_date(self):
        done = check(ROOT / "docs")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_another_text_is_noticed_and_mended(self):
        with tempfile.TemporaryDirectory() as folder:
            docs = Path(folder)
            for name in PAGES:
                shutil.copyfile(ROOT / "docs" / name, docs / name)
            for name, old in zip(PAGES, ("| `blocksync` |", "| `m(ave_cycle)`, `s(ave_cycle)`",
                                         "BenchmarkIntraSM\tblocksync\tany")):
                text = (docs / name).read_text()
                self.assertIn(old, text)
                (docs / name).write_text(text.replace(old, "| `gone` | x |", 1))
                done = check(docs)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertRegex(done.stderr, rf"^docs/{name}, line \d+: the programs say now: "
                                 rf"{re.escape(old)}")
                subprocess.run([sys.executable, SCRIPT, BUILD, "--docs", docs], check=True)
                self.assertEqual((docs / name).read_text(), text)

    def test_no_text_is_read(self):
        """Each text for people stands as its bytes in the pages, where nothing else differs."""
        def reworded(build, program, option):
            for cells in plain(build, program, option):
                for place in (1, 2) if option == "--list" else (3,):
                    cells[place] = cells[place] and f"x{cells[place].encode().hex()}x"
                yield cells

        plain = program_pages.cells_of
        with mock.patch.object(program_pages, "cells_of", reworded):
            pages = program_pages.pages(BUILD)
        for name, page in pages.items():
            text, count = re.subn("x((?:[0-9a-f]{2})+)x", lambda found: literal(coded(
                bytes.fromhex(found[1]).decode())), page)
            self.assertEqual(text, (ROOT / "docs" / name).read_text())
            self.assertEqual(count > 100, name.endswith(".md"))

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
                    for names in re.findall(r" --method (\S+)", rest):
                        self.assertLessEqual(set(names.split(",")) - {"NAME"}, listed | OLDER)
                        seen += 1
                    if re.match(r" \d", rest):
                        self.assertIn("gpu_count", help_text)
        self.assertGreater(seen, 4)

    def test_options_that_programs_share(self):
        """docs/programs.md says who takes what: each program takes it, and no other does."""
        text = (ROOT / "docs/programs.md").read_text().split("## Options\n")[1].split("\n## ")[0]
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
            for column in columns:
                self.assertRegex(said(program, "--help"), rf"(?m)^    {re.escape(column)} ", line)


if __name__ == "__main__":
    unittest.main()
