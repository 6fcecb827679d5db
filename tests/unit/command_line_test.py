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
from parts import suite  # noqa: E402

EVERY = suite.NAMES
LAUNCHES, *KERNELS, SUMS, STEPS, LIBRARIES = PROGRAMS = EVERY[:-1]
TAKES_GPU_COUNT = [program.name for program in suite.PROGRAMS if program.takes_gpu_count]
# CUDA 13 removed the multi-grid barrier.
HAS_MULTI_GRID = "toolkit=13" not in subprocess.run(
    [os.path.join(BUILD, "BenchmarkInterSM"), "--version"],
    capture_output=True, text=True).stdout
MULTI_GRID = ["multi_grid_sync", "multi_grid_sync_no_peer"] if HAS_MULTI_GRID else []
NO_GPU = dict(os.environ, CUDA_VISIBLE_DEVICES="")


def run(program, *arguments, **options):
    return subprocess.run([os.path.join(BUILD, program), *arguments],
                          stderr=subprocess.PIPE, text=True,
                          **{"stdout": subprocess.PIPE, "env": NO_GPU, **options})


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

    def test_each_method_is_of_a_set(self):
        for program in EVERY:
            sets = {line.split("\t")[5] for line in run(program, "--list").stdout.splitlines()}
            self.assertLessEqual(sets, {"study", "today", "evidence"})
            if program not in (STEPS, LIBRARIES):  # which the study did not have
                self.assertIn("study", sets)

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
        self.assertEqual(
            {name: [program for program in EVERY if name in takes[program]]
             for name in ("--stats", "--processes", "--blocks-per-sm", "--machine-code", "--type",
                          "--min-bytes", "--max-bytes")},
            {"--stats": [*PROGRAMS], "--processes": [LAUNCHES], "--blocks-per-sm": KERNELS[:2],
             "--machine-code": [*KERNELS, SUMS], "--type": [SUMS], "--min-bytes": [SUMS],
             "--max-bytes": [SUMS, STEPS]})

    def test_version_names_commit(self):
        for program in EVERY:
            self.assertRegex(run(program, "--version").stdout,
                             rf"^name={program} version=\d+\.\d+\.\d+ commit=\S+ toolkit=1\d\.\d+\n$")

    def test_list(self):
        launches, in_sm, across_sms, repeated = (
            [line.split("\t")[0] for line in run(program, "--list").stdout.splitlines()]
            for program in (LAUNCHES, *KERNELS))
        self.assertLessEqual({"traditional_launch", "single_omp_traditional_launch"},
                             set(launches))  # the study's
        self.assertLessEqual({"blocksync", "tile_sync", "tile_shufl", "coales_sync",
                              "coales_shufl"}, set(in_sm))
        self.assertLessEqual({"grid_sync", *MULTI_GRID, "peer_grid_sync"}, set(across_sms))
        self.assertEqual(repeated, [name for name in in_sm + across_sms
                                    if name in repeated] + ["float_add"])
        self.assertTrue({"blocksync", "grid_sync", "peer_grid_sync", "threadfence"}.issubset(repeated))
        self.assertEqual(len(set(repeated)), len(repeated))
        for program in ("BenchmarkIntraSM", "BenchmarkInterSM"):
            others = {line.split("\t")[0] for line in run(program, "--list").stdout.splitlines()}
            left_out = sorted(others - set(repeated))
            self.assertTrue(left_out)
            self.expect_error(run("TestRepeat", "--method", left_out[0]), 2,
                              f"{left_out[0]}: TestRepeat does not repeat it; {program} measures it")

    def test_machine_code(self):
        for program in KERNELS:
            result = run(program, "--machine-code", "90")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            header, *rows = result.stdout.splitlines()
            self.assertTrue(rows)
            self.assertEqual({row.count("\t") for row in rows}, {header.count("\t")})
            said = {tuple(row.split("\t")[-3:]) for row in rows}
            self.assertEqual(header.split("\t")[-3:], ["method", "scope", "checked"])
            known = {
                ("float_add", "thread", "1"), ("tile_sync", "warp", "1"),
                ("in_use_none", "warp", "0"), ("blocksync", "block", "1"),
                ("cluster_sync", "cluster", "1"), ("grid_sync", "grid", "1"),
                ("peer_grid_sync", "gpus", "1")}
            listed = {line.split("\t")[0] for line in run(program, "--list").stdout.splitlines()}
            self.assertLessEqual(listed, {name for name, *_ in said})
            # An executable holds no methods but its own.
            self.assertEqual(known & said, {method for method in known if method[0] in listed})

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
