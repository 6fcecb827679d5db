"""in_turns.py finds what is slower in made-up executables, and nothing in the same ones."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Its rows have a level of the process, noise, and an outlier now and then. Beside it stands a file
# that counts its runs, so that each differs and all are the same every time.
PROGRAM = '''#!{python}
import pathlib, random
count = pathlib.Path(__file__).resolve().parents[1] / "count"
runs = int(count.read_text() or 0) + 1
count.write_text(str(runs))
draw = random.Random(runs)
print("# program[name=Made version=1 commit=0 toolkit=13.0 samples=2]")
for section in ("steady", "levels", "noisy"):
    print(f"# {{section}}: made up\\nmethod\\trep\\tblk\\tthrd\\tm(ovh)\\ts(ovh)")
    print("# section[main=ovh chosen=rep]")
    level = 1 + draw.gauss(0, 0.003)
    for method in ("one", "two", "three"):
        for blk in range(1, 41):
            value = (1000 + blk) * level * (1 + draw.gauss(0, 0.002))
            if section == "levels" and draw.random() < 0.3:
                value *= 1.2
            if section == "noisy":
                value *= 1 + draw.gauss(0, 0.02) + 2 * (draw.random() < 0.02)
            value *= {factor}
            print(f"{{method}}\\t{{draw.randint(2, 9)}}\\t{{blk}}\\t32\\t{{value:.3f}}\\t1.000")
print("# end[rows=360]")
'''


class InTurns(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "count").write_text("")

    def compare(self, factor, *arguments):
        """A program whose rows are so many times as long, with the one that they are made of."""
        for name, text in (("old", "1"), ("new", factor)):
            program = self.folder / name / "Made"
            program.parent.mkdir(exist_ok=True)
            program.write_text(PROGRAM.format(python=sys.executable, factor=text))
            os.chmod(program, 0o755)
        self.done = subprocess.run(
            [sys.executable, ROOT / "tests" / "in_turns.py", "--run", "Made", *arguments,
             self.folder / "old", self.folder / "new"], capture_output=True, text=True)
        return self.done.returncode, {
            line.partition(": ")[2] for line in self.done.stdout.splitlines()
            if line.startswith("MOVED")}

    def test_what_has_moved(self):
        self.assertEqual(self.compare("1"), (0, set()), self.done.stdout)
        for factor, moved, alone in (
                ("1.05 if section == 'noisy' else 1", "median row of Made, noisy", "noisy"),
                ("0.97 if (section, method) == ('steady', 'two') else 1",
                 "median row of Made, steady, two", "two"),
                ("1.015", "the median of all rows", "")):
            (self.folder / "count").write_text("")
            code, found = self.compare(factor)
            self.assertEqual(code, 1)
            self.assertIn(moved, found)
            self.assertFalse([what for what in found if alone not in what], found)
        self.assertEqual(self.compare(
            "3 if (section, method, blk) == ('levels', 'one', 7) else 1", "--turns", "3"),
            (1, {"Made levels one 7 32"}), self.done.stdout)
        self.assertEqual(self.compare("1 / 0")[0], 2)


if __name__ == "__main__":
    unittest.main()
