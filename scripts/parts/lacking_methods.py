#!/usr/bin/env python3
"""Prints those of some methods that no program of a folder of executables has.

usage: lacking_methods.py BUILD NAME[,NAME...]

run.sh asks whether it needs a build with an older toolkit.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from parts import command_line, environment
from parts.suite import NAMES


def lacking(build, methods):
    had = {method for program in NAMES for method in environment.methods_of(build / program)}
    return [method for method in methods if method not in had]


def work():
    build, methods = sys.argv[1:]
    print("".join(method + "\n" for method in lacking(Path(build), methods.split(","))), end="")
    return 0


if __name__ == "__main__":
    command_line.main(work, "run.sh")
