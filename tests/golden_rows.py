#!/usr/bin/env python3
"""Compares what the simulated programs print with tests/golden/PROGRAM.tsv, a few rows of each.

usage: golden_rows.py [--renew] [FOLDER]

FOLDER has the simulated programs (build/simulated). --renew writes what they print now; `git diff`
shows what that changes. Only TestRepeat has noise, so that a method more or less changes no other
row elsewhere. Commit, compiler, CPUs and the libraries found are masked.

Exit codes: 0 the same, or written; 1 something differs; 77 the programs are not built.
"""
import argparse
import concurrent.futures
import difflib
import os
import re
import sys
from pathlib import Path

import golden

GOLDEN = golden.ROOT / "tests" / "golden"
# {program: arguments on one GPU; those on several, or None where it knows no gpu_count}
COMMANDS = {
    "ImplicitBarrier": ("--processes 2 --method traditional_launch",
                        "--processes 2 --method multi_cooperative_launch,events_to_all"),
    "BenchmarkIntraSM": ("--method blocksync,tile_shufl", None),
    "BenchmarkInterSM": ("--blocks-per-sm 1,2 --method grid_sync",
                         "--blocks-per-sm 1,2 --method peer_grid_sync"),
    "TestRepeat": ("--method blocksync,float_add", None),
    "Reduction": ("--type int --min-bytes 512K --max-bytes 1M --method tile_shuffle,grid_sync",
                  "--type int --min-bytes 512K --max-bytes 1M --method implicit_multi,peer_grid"),
    "Stencil": ("--max-bytes 128K --method traditional_launch,grid_sync",
                "--max-bytes 128K --method single_omp_traditional_launch,peer_grid_sync"),
    "Libraries": ("--method peer_grid_sync", "--method peer_grid_sync"),
    "Pitfalls": ("--method no_sync,vote_ballot,lost_updates", "--method flag_in_peer_memory")}
MASKS = ((re.compile(r" (toolkit|runtime|nvcc|gcc|cpu)=[\w.,-]+"), r" \1=MASKED"),
         (re.compile(r".*(warning\[few-cpus\]|warning: fewer CPUs).*\n"), ""),
         (re.compile(r"# library\[name=(NCCL|NVSHMEM|MPI) .*\n"), ""))
SHOWN = 40  # lines of a difference


def text_of(folder, program):
    """Outputs on 1, 2 and 3 GPUs, each below its command."""
    one, several = COMMANDS[program]
    noise = " noise=0.01" if program == "TestRepeat" else ""
    text = ""
    for gpus in (1, 2, 3) if several else (1,):
        arguments = f"{gpus} " * bool(several) + "--samples 2 " + (several if gpus > 1 else one)
        scenario = f"gpus={gpus} sms=4 l2_kib=256{noise}"
        done = golden.run(folder, program, arguments.split(), scenario)
        text += f'## STAND_IN="{scenario}" {program} {arguments}\n{done.out}'
        text += f"## exit code {done.code}\n{done.err}"
    for pattern, mask in MASKS:
        text = pattern.sub(mask, text)
    return text


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--renew", action="store_true")
    parser.add_argument("folder", nargs="?", type=Path,
                        default=golden.ROOT / "build" / "simulated")
    options = parser.parse_args()
    if not all((options.folder / program).exists() for program in COMMANDS):
        print("the target `simulated` is not built: skipped")
        return 77
    GOLDEN.mkdir(exist_ok=True)
    differs = False
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        texts = pool.map(lambda program: text_of(options.folder.resolve(), program), COMMANDS)
        for program, text in zip(COMMANDS, texts):
            path = GOLDEN / f"{program}.tsv"
            old = path.read_text() if path.exists() else ""
            if options.renew:
                path.write_text(text)
                continue
            lines = list(difflib.unified_diff(old.splitlines(), text.splitlines(), path.name,
                                              "now", n=1, lineterm=""))
            if not lines:
                continue
            differs = True
            print(*lines[:SHOWN], *[f"... {len(lines)} lines"] * (len(lines) > SHOWN), sep="\n")
    if differs:
        print("Where that is as it should be: tests/golden_rows.py --renew")
    return int(differs)


if __name__ == "__main__":
    sys.exit(main())
