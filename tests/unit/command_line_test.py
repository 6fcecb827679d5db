"""Runs the real executables on what needs no GPU: help, lists, bad arguments.

usage: command_line_test.py BUILD_DIR
"""
import os
import re
import subprocess
import sys
import unittest

BUILD = sys.argv.pop(1)
sys.path.insert(0, os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, "scripts"))
from parts import suite, tsv  # noqa: E402

EVERY = suite.NAMES
KERNELS, SUMS = ("BenchmarkIntraSM", "BenchmarkInterSM", "TestRepeat"), "Reduction"
TAKES_GPU_COUNT = [program.name for program in suite.PROGRAMS if program.takes_gpu_count]
NO_GPU = dict(os.environ, CUDA_VISIBLE_DEVICES="")


def run(program, *arguments, **options):
    return subprocess.run([os.path.join(BUILD, program), *arguments],
                          stderr=subprocess.PIPE, text=True,
                          **{"stdout": subprocess.PIPE, "env": NO_GPU, **options})


def listed(program):
    return {line.split("\t")[0] for line in run(program, "--list").stdout.splitlines()}


class CommandLine(unittest.TestCase):
    def expect_error(self, result, code, text):
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(text, result.stderr)

    def test_help_fits_a_terminal_and_says_codes(self):
        for program in EVERY:
            result = run(program, "--help")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertLessEqual(result.stdout.count("\n"), 60)
            for word in ("usage: " + program, "Exit codes: 0", "--all",
                         *["--stats"] * (program != "Pitfalls")):
                self.assertIn(word, result.stdout)

    def test_help_names_the_options_that_are_taken(self):
        values = {"--method": "nothing"}  # that are wrong; of the others "0"
        takes = {}
        for program in EVERY:
            heads = re.findall(r"^  (?:-h, )?(--\S+)( [A-Z]\S*)?  ", run(program, "--help").stdout,
                               re.M)
            takes[program] = dict(heads)
            self.assertEqual(len(heads), len(takes[program]))
            self.assertLessEqual({"--method", "--samples", "--help"}, set(takes[program]))
        # An option without a value is taken: only what follows it is wrong.
        for program in EVERY:
            for name in set().union(*takes.values()):
                if name not in takes[program]:
                    self.expect_error(run(program, name), 2,
                                      f"error: unknown option '{name}'")
                elif takes[program][name]:
                    self.expect_error(run(program, name), 2, f"option '{name}' needs a value")
                    bad = values.get(name, "0")
                    self.expect_error(run(program, name, bad), 2, f"'{bad}'")
                else:
                    self.expect_error(run(program, name, "--nothing"), 2, "option '--nothing'")

    def test_version_names_commit(self):
        for program in EVERY:
            self.assertRegex(run(program, "--version").stdout,
                             rf"^name={program} version=\d+\.\d+\.\d+ commit=\S+ toolkit=1\d\.\d+\n$")

    def test_what_is_not_repeated(self):
        repeated = listed("TestRepeat")
        for program in ("BenchmarkIntraSM", "BenchmarkInterSM"):
            left_out = sorted(listed(program) - repeated)
            self.assertTrue(left_out)
            self.expect_error(run("TestRepeat", "--method", left_out[0]), 2,
                              f"{left_out[0]}: TestRepeat does not repeat it; {program} measures it")

    def test_machine_code(self):
        """An executable holds no methods but its own."""
        for program in KERNELS:
            result = run(program, "--machine-code", "90")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            said = {row["method"] for row in tsv.read_table(result.stdout.encode(), program)}
            self.assertLessEqual(listed(program), said)
            for method in ("blocksync", "grid_sync"):
                self.assertEqual(method in said, method in listed(program))

    # What each of them refuses is for options_test.cpp and program_test.cpp.
    def test_values_that_are_taken(self):
        for good in (("--type", "int,double"), ("--min-bytes", "7"), ("--min-bytes", "1K"),
                     ("--max-bytes", "64M"), ("--min-bytes", "1G", "--max-bytes", "2G")):
            self.expect_error(run(SUMS, *good), 3, "no usable CUDA device")
        for program in EVERY:
            count = ["1"] * (program in TAKES_GPU_COUNT)
            self.expect_error(run(program, *count, "--samples", "3"), 3, "no usable CUDA device")

    def test_closed_streams(self):
        for program in EVERY:
            self.expect_error(run(program, "--list", stdout=None, preexec_fn=lambda: os.close(1)),
                              1, "cannot write to standard output")
            result = run(program, "--list", preexec_fn=lambda: (os.close(0), os.close(2)))
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertTrue(result.stdout)

    def test_no_gpu(self):
        for program in EVERY:
            for arguments in ((), ("--devices",)):
                result = run(program, *arguments)
                self.expect_error(result, 3, "no usable CUDA device")
                self.assertEqual(result.stdout, "")

    def test_full_disk(self):
        with open("/dev/full", "w") as full:
            for program in EVERY:
                self.expect_error(run(program, "--list", stdout=full), 1,
                                  "No space left")


if __name__ == "__main__":
    unittest.main()
