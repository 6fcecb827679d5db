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
import re
import sys
import tempfile
from pathlib import Path

import golden
from simulated.at_once import AT_ONCE

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
# What else becomes of cases of Pitfalls: arguments, what is planted.
PITFALLS = (
    ("2 --all", ""),
    ("4 --method part_peer_grid_gpus,blocking_peer_grid", ""),
    ("2 --method part_peer_grid_gpus,flag_in_peer_memory", "peer=none"),
    ("1 --method part_cluster_sync", "capability=75 code=75"),
    ("1 --method part_blocksync,part_blocksync_lanes", "lets_pass=::BlockSync>"),
    ("1 --method syncwarp", "lets_pass=::WarpSync>"),
    ("1 --method no_sync,part_no_sync", "holds=::NoSync>"),
    ("1 --method lost_updates,flag_in_shared_memory", "right_is_wrong=LostUpdates"),
    ("2 --method flag_in_peer_memory", "right_is_wrong=exchange<true"),
    ("1 --method vote_ballot", "right_is_wrong=::Vote>"),
    ("1 --method message_passing", "right_is_wrong=::ConsistentFence<"),
    ("2 --method message_passing_to_peer", "right_is_wrong=::AcquireReleaseFence<"),
    ("1 --method message_passing,lost_updates", "race_rate=0"),
    ("1 --method part_mbarrier,lost_updates", "hang=::Mbarrier>"),
    ("1 --method syncwarp,match_any", "hang=::WarpSync>"),
    ("1 --method part_no_sync,lost_updates", "fail_call=HostAlloc fail_at=1 fail_mode=abort"),
    ("2 --method part_syncwarp,part_named_barrier,lost_updates",
     "sick=::NamedBarrier> sick_file=FOLDER/sick"))
LANE = r"\2\d+\t\d+\t\d+\n"  # of the lanes of a method, the first two are shown
MASKS = ((re.compile(rf"((?<=\n)(\w+\t)0\t\d+\t\d+\n{LANE})(?:{LANE})+"), r"\1"),
         (re.compile(r" at /\S+/(\w+/\w+\.\w+):\d+"), r" at \1"),
         (re.compile(r" (toolkit|runtime|nvcc|gcc|cpu)=[\w.,-]+"), r" \1=MASKED"),
         (re.compile(r".*(warning\[few-cpus\]|warning: fewer CPUs).*\n"), ""),
         (re.compile(r"# library\[name=(NCCL|NVSHMEM|MPI) .*\n"), ""))
SHOWN = 40  # lines of a difference


def runs_of(program):
    """(arguments, what is planted) of each run."""
    one, several = COMMANDS[program]
    noise = " noise=0.01" if program == "TestRepeat" else ""
    for gpus in (1, 2, 3) if several else (1,):
        yield (f"{gpus} " * bool(several) + "--samples 2 " + (several if gpus > 1 else one),
               f"gpus={gpus} sms=4 l2_kib=256{noise}")
    for arguments, planted in PITFALLS if program == "Pitfalls" else ():
        yield (f"{arguments} --samples 4",
               f"gpus={arguments[0]} sms=4 race_rate=0.75 {planted}".strip())


def text_of(folder, program, arguments, scenario):
    """The output of a run, below its command."""
    with tempfile.TemporaryDirectory() as temporary:
        done = golden.run(folder, program, arguments.split(),
                          scenario.replace("FOLDER", temporary))
    text = (f'## STAND_IN="{scenario}" {program} {arguments}\n{done.out}'
            f"## exit code {done.code}\n{done.err}")
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
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        texts = {program: [pool.submit(text_of, options.folder.resolve(), program, *run)
                           for run in runs_of(program)] for program in reversed(COMMANDS)}
        for program in COMMANDS:
            text = "".join(future.result() for future in texts[program])
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
