"""plant_faults.py in a small project: it finds, misses and refuses as it should."""
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[1] / "plant_faults.py"
CODE = "def double(n):\n    return 2 * n\n\n\ndef half(n):\n    return n / 2\n"
TEST = "import sys; sys.path.insert(0, sys.path[0] + '/..')\nimport code_of_it\n" \
       "if code_of_it.double(2) != 4: sys.exit('a wrong double')\n"
FOUND = "    return [-2 * n-]{+3 * n+}\n"


class PlantFaultsTest(unittest.TestCase):
    def plant(self, table, *options):
        folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        (folder / "tests/scripts").mkdir(parents=True)
        shutil.copy(SCRIPT, folder / "tests")
        for name, text in (("code_of_it.py", CODE), ("scripts/code_test.py", TEST),
                           ("faults.txt", "= tests/code_of_it.py\n? code_test ! wrong double\n" + table)):
            (folder / "tests" / name).write_text(text)
        git = ("git", "-C", folder, "-c", "user.name=n", "-c", "user.email=e")
        for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "all")):
            subprocess.run([*git, *words], check=True)
        done = subprocess.run([sys.executable, folder / "tests/plant_faults.py", *options],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
        self.assertEqual((folder / "tests/code_of_it.py").read_text(), CODE)
        return done.returncode, done.stdout

    def test_what_is_found_and_what_not(self):
        code, said = self.plant(FOUND)
        self.assertEqual(code, 0, said)
        self.assertIn("\tcode_test\t", said)
        code, said = self.plant(FOUND + "    return [-n / 2-]{+n / 3+}\n")
        self.assertEqual((code, said.count("\tcode_test\t"), said.count("\tNOT FOUND\t")), (1, 1, 1), said)
        code, said = self.plant("? code_test ! another text\n" + FOUND)
        self.assertEqual(code, 1)
        self.assertIn("NOT FOUND, but it fails:\na wrong double\n", said)
        code, said = self.plant(FOUND, "--changed", "HEAD")
        self.assertEqual((code, said[:9]), (0, "0 faults,"), said)

    def test_wrong_tables(self):
        for table, message in (("    return [-4 * n-]{+3 * n+}\n", "stands 0 times, not once:     return 4"),
                               ("def [-double-]{+x+}(n)\n    return\n", "line 4: no change"),
                               ("    return[--]{+ 1 ++}\n", "stands 2 times"),
                               ("= tests/none\n" + FOUND, "there is no tests/none")):
            code, said = self.plant(table, "--check")
            self.assertEqual(code, 2, said)
            self.assertIn(message, said)


if __name__ == "__main__":
    unittest.main()
