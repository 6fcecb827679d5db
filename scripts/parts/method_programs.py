#!/usr/bin/env python3
"""Prints the programs that some methods need: `NAME`, or `NAME older` of a toolkit before CUDA 13.

usage: method_programs.py NAME[,NAME...]    ("quick": those of run.sh --quick)

run.sh asks before it builds. The list is docs/methods.tsv, which scripts/pages/program_pages.py writes.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from parts import command_line, tsv
from parts.command_line import Stop
from parts.suite import NAMES

TABLE = Path(__file__).resolve().parents[2] / "docs/methods.tsv"
DEVICES = NAMES[0]  # measure.py asks it for the GPUs
# The rows that tell most, of each kind of barrier.
QUICK = ("traditional_launch", "blocksync", "tile_sync", "cluster_sync", "grid_sync",
         "peer_grid_sync", "read_limit")


def needed(methods):
    """[(program, whether that of the older toolkit)]"""
    rows = tsv.read_table(tsv.read_bytes(TABLE), TABLE)
    found = {(DEVICES, False)}
    for method in methods:
        mine = [row for row in rows if row["method"] == method]
        if not mine:
            raise Stop(2, f"no program has a method '{method}' (docs/methods.md has all)")
        found.update((row["program"], row["toolkit"] == "older") for row in mine)
    return sorted(found, key=lambda one: (one[1], NAMES.index(one[0])))


def work():
    names = sys.argv[1] if len(sys.argv) == 2 else ""
    for program, older in needed(QUICK if names == "quick" else names.split(",")):
        print(program + " older" * older)
    return 0


if __name__ == "__main__":
    command_line.main(work, "run.sh")
