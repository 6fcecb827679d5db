#!/usr/bin/env python3
"""Says whether this tree does what another commit does, on simulated GPUs and in machine code.

usage: golden.py [--no-noise] [--only PART] [--programs NAME[,NAME...]] BASE

Builds BASE (a commit) and this tree in build/golden, without a compiler cache, and compares
  rows   what the programs print on 1, 2 and 3 simulated GPUs and on 4 of which only some reach
         each other's memory, with their exit codes: all bytes but the commit; and which CUDA
         calls they make, by process and GPU, in whatever order
  code   the instructions, registers and constants of all kernels; also those of the newest toolkit
         before CUDA 13 that is found (CUDA_BEFORE13_HOME names one)
A call more or less shifts all later noise: --no-noise is for a change of calls, sections or
methods; without it (noise=0.01) not even the order of kernels may change.

Exit codes: 0 all the same; 1 something differs; 2 bad usage, or something cannot be built or run.
"""
import argparse
import collections
import concurrent.futures
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "machine_code"))
import kernel_hashes  # noqa: E402
from machine_code import NoDisassembler  # noqa: E402

CACHE = ROOT / "build" / "golden"
PROGRAMS = ("Stencil", "ImplicitBarrier", "BenchmarkInterSM", "Pitfalls", "BenchmarkIntraSM",
            "Reduction", "TestRepeat", "Libraries")  # the longest first
NODES = ("gpus=1", "gpus=2",
         # A slow host, a slow GPU and a clock that falls: what only warnings and notes say.
         "gpus=3 call_traditional=40000 slow_gpu=1 slow_by=1.3 halve_at=0.5",
         "gpus=4 peer=halves")
SAMPLES = ("--samples", "2", "--stats")
# Arguments and node of what is fast: texts, and ways to end with each exit code.
SHORT = (("--list", ""), ("--columns", ""), ("--help", ""), ("--machine-code 90", ""),
         ("--method no_such_method", ""), ("9", ""), ("", "gpus=0"), ("--samples 2", "fail_at=300"),
         ("--samples 2 --method peer_grid_sync,multi_cooperative_launch", "gpus=1"))
# What another commit or folder changes.
MASKS = ((re.compile(r"\bcommit=[\w-]+"), "commit=COMMIT"),
         (re.compile(r"[\w./-]+\.(?:cpp|cuh?|hpp):\d+"), "FILE:LINE"))
LIMIT_S = 900
SHOWN = 10  # lines or names of what differs
WIDEST = 160


class Stop(Exception):
    """Why nothing can be compared."""


# Builds.

def output_of(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", **options)
    if done.returncode != 0:
        raise Stop(f"{' '.join(map(str, command))}:\n{done.stdout[-3000:]}")
    return done.stdout.strip()


def check_out(base):
    """The sources of a commit. Only files that differ from those of the last one are written, so
    that its builds go on from there."""
    commit = output_of("git", "rev-parse", "--verify", f"{base}^{{commit}}", cwd=ROOT)
    folder = CACHE / "base" / "source"
    if not folder.exists():
        output_of("git", "clone", "-q", "--shared", "--no-checkout", ROOT, folder)
    output_of("git", "checkout", "-q", "--force", "--detach", commit, cwd=folder)
    return folder


def toolkits():
    """{kind: (release, nvcc, its host compiler)} of both kinds that are found."""
    found = {}
    for kind, function in (("13", "find_nvcc"), ("before13", "find_older_nvcc")):
        words = output_of(
            "bash", "-c", "source scripts/parts/lib.sh; source scripts/parts/toolchain.sh; "
            f'nvcc=$({function}); [[ -z $nvcc ]] || '
            'echo "$(release_of "$nvcc") $nvcc $(host_compiler_of "$nvcc")"', cwd=ROOT)
        if words:
            found[kind] = words.split()
    if "13" not in found:
        raise Stop("no nvcc is found")
    return found


def build(source, folder, toolkit, targets):
    """Builds what is not up to date."""
    _, nvcc, host = toolkit
    environment = {name: value for name, value in os.environ.items()
                   if not name.endswith("_COMPILER_LAUNCHER")}
    environment = {"CUDAARCHS": "90", **environment, "CUDACXX": nvcc, "CUDAHOSTCXX": host,
                   "CCACHE_DISABLE": "1"}
    ninja = ["-G", "Ninja"] if shutil.which("ninja") else []
    output_of("cmake", "-S", source, "-B", folder, *ninja, "-DCMAKE_BUILD_TYPE=Release",
              "-DBUILD_TESTING=OFF", *["-DNVSHMEM_INCLUDE_DIR="] * (targets == ["all"]),
              env=environment)
    output_of("cmake", "--build", folder, "--parallel", str(os.cpu_count()), "--target", *targets,
              env=environment)
    return folder


# Rows and calls.

Run = collections.namedtuple("Run", "code out err calls")


def run(folder, program, arguments, scenario):
    """What a simulated program does; calls: {(process, GPU, name): how many}."""
    with tempfile.TemporaryDirectory() as temporary:
        calls = Path(temporary) / "calls"
        calls.touch()
        done = subprocess.run(
            [folder / program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            timeout=LIMIT_S, cwd=temporary, encoding="utf-8", errors="replace",
            env={**os.environ, "LD_LIBRARY_PATH": str(folder),
                 "STAND_IN": f"{scenario} calls={calls}"})
        with open(calls, encoding="utf-8") as lines:
            counts = collections.Counter(tuple(line.split("\t", 4)[1:4]) for line in lines)
    texts = [done.stdout, done.stderr]
    for pattern, text in MASKS:
        texts = [pattern.sub(text, part) for part in texts]
    return Run(done.returncode, *texts, counts)


def runs_of(folder, programs, noise):
    """(program, arguments, scenario), those of rows first, with what its --help knows."""
    rows = []
    for program in programs:
        text = run(folder, program, ["--help"], "").out
        options = [option for option in ("--all", "--processes 2")
                   if re.search(rf"^ +{option.split()[0]} ", text, re.MULTILINE)]
        takes_count = "[gpu_count]" in text
        for node in NODES if takes_count else NODES[:2]:
            count = [node[len("gpus=")]] * takes_count
            arguments = (*count, *SAMPLES, *" ".join(options).split())
            rows.append((program, arguments, f"{node}{noise}"))
    return rows + [(program, tuple(arguments.split()), node)
                   for program in programs for arguments, node in SHORT]


# What differs, of which kind; text: what and how much, for people.
Difference = collections.namedtuple("Difference", "kind text")


def some(kind, items):
    """A Difference that counts what differs and shows the first; none where nothing does."""
    items = list(items)
    if items:
        rest = " ..." if len(items) > SHOWN else ""
        yield Difference(kind, f"{len(items)}: "
                         + " | ".join(item[:WIDEST] for item in items[:SHOWN]) + rest)


def text_differences(kind, old, new):
    """A Difference that shows the first lines of a diff; none where all bytes are the same."""
    lines = list(difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True),
                                      "BASE", "here", n=0))
    if lines:
        yield Difference(kind, f"{len(lines)} lines of a diff\n" + "".join(
            f"        {line.rstrip()[:WIDEST]}\n" for line in lines[2:2 + SHOWN]).rstrip())


def run_differences(old, new):
    if old.code != new.code:
        yield Difference("exit code", f"{old.code}, here {new.code}")
    yield from text_differences("rows", old.out, new.out)
    yield from text_differences("standard error", old.err, new.err)
    yield from some("calls", (
        f"{name} of GPU {gpu}, process {process}: {old.calls[process, gpu, name]}, here "
        f"{new.calls[process, gpu, name]}"
        for process, gpu, name in sorted(old.calls.keys() | new.calls.keys())
        if old.calls[process, gpu, name] != new.calls[process, gpu, name]))


def compare_rows(folders, programs, noise):
    """(of which run, Difference) of both builds, of which one may know options that are new."""
    both = [runs_of(folder, programs, noise) for folder in folders]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        pairs = [[pool.submit(run, folder, *what) for folder, what in zip(folders, pair)]
                 for pair in zip(*both)]
        for (program, arguments, scenario), pair in zip(both[1], pairs):
            for found in run_differences(*(future.result() for future in pair)):
                yield f"{scenario} {program} {' '.join(arguments)}".strip(), found


# Machine code.

def code_differences(old, new):
    """Of two results of kernels_of()."""
    def sizes(digests):
        return "+".join(str(size) for _, size in sorted(digests))

    yield from some("code of kernels", (
        f"{sizes(old[name])} instructions, here {sizes(new[name])}: {name}"
        for name in old if name in new and old[name] != new[name]))
    gone, come, renamed = collections.defaultdict(list), [], 0
    for name in old.keys() - new.keys():
        gone[frozenset(old[name])].append(name)
    for name in sorted(new.keys() - old.keys()):
        others = gone[frozenset(new[name])]
        if others:
            others.pop()
            renamed += 1
        else:
            come.append(name)
    yield from some("kernels only in BASE", sorted(sum(gone.values(), [])))
    yield from some("kernels only here", come)
    if renamed:
        print(f"{renamed} kernels have other names and the same code")


def compare(base, only, programs, noise, tell):
    """(of which run, Difference) of all; tell(text) says what goes on."""
    sources = {"base": check_out(base), "here": ROOT}
    for kind, toolkit in toolkits().items():
        if kind == "before13" and only == "rows":
            continue
        tell(f"building with CUDA {toolkit[0]}")
        targets = ["all"] if kind == "before13" else ["all", "simulated"]
        folders = [build(source, CACHE / name / toolkit[0], toolkit, targets)
                   for name, source in sources.items()]
        if kind == "13" and only != "code":
            tell("rows and calls")
            yield from compare_rows([folder / "simulated" for folder in folders], programs, noise)
        if only != "rows":
            kernels = [kernel_hashes.of(folder / program for program in programs)
                       for folder in folders]
            tell(f"machine code of CUDA {toolkit[0]}, {len(kernels[1])} kernels")
            yield from ((f"CUDA {toolkit[0]}", found) for found in code_differences(*kernels))


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--no-noise", action="store_true")
    parser.add_argument("--only", choices=("rows", "code"))
    parser.add_argument("--programs", type=lambda text: text.split(","), default=PROGRAMS)
    parser.add_argument("base")
    options = parser.parse_args()
    if not set(options.programs) <= set(PROGRAMS):
        parser.error(f"the programs are {', '.join(PROGRAMS)}")
    began, differs, last = time.monotonic(), 0, None

    def tell(text):
        print(f"{time.monotonic() - began:4.0f} s: {text}", flush=True)

    try:
        for where, found in compare(options.base, options.only, options.programs,
                                    "" if options.no_noise else " noise=0.01", tell):
            print(f"{where}\n" * (where != last) + f"    {found.kind}: {found.text}", flush=True)
            differs, last = differs + 1, where
        lacks = options.only != "rows" and "before13" not in toolkits()
    except (Stop, NoDisassembler, subprocess.TimeoutExpired, OSError) as error:
        print(f"golden.py: {error}", file=sys.stderr)
        return 2
    tell((f"{differs} differences" if differs else "same")
         + "; NOT COMPARED: code of a toolkit before CUDA 13, as none is here" * lacks)
    return 1 if differs else 0


if __name__ == "__main__":
    sys.exit(main())
