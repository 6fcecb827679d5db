#!/usr/bin/env python3
"""Runs compute-sanitizer's four tools over the executables of a build, at one sample.

Those that take a GPU count run on one GPU and, where there are two, on two. racecheck gets the
methods that run inside a kernel and whose results are checked, and of the grids that are swept the
smallest and, where the barrier works in another way then, the largest (shared memory, which it
watches, is a block's own). Arrays are of 1 MiB; sums by NCCL are left out, whose own probes of the
driver memcheck would report. stdout: a tab-separated table of findings, or time-out, or failed. The
logs are kept unless all is clean. Exit codes: 0 no findings; 1 findings, a time-out, a failed run, or
something is missing; 2 bad usage; 3 no usable GPU.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from parts import command_line, environment, suite, tsv

# Libraries would check other people's kernels.
EXECUTABLES = tuple(program.name for program in suite.PROGRAMS
                    if program.has_means and program.name != "Libraries")
# The first runs nothing; without order is a race that is meant.
LEFT_OUT = {"Reduction": ("theory", "nccl"), "Stencil": ("none", "none_tile", "nccl_send_recv",
                                                            "mpi_send_recv")}
RACECHECK_GRIDS = {"BenchmarkIntraSM": "1", "BenchmarkInterSM": "1,32"}
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
OPTIONS = {tool: ("--tool", tool) for tool in TOOLS}
# The programs check every call themselves; some may fail (peer access that is on already).
OPTIONS["memcheck"] += ("--report-api-errors", "no")


def find_sanitizer():
    """On PATH, or in the toolkit's usual places."""
    cuda = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    for name in ("compute-sanitizer", f"{cuda}/bin/compute-sanitizer",
                 f"{cuda}/compute-sanitizer/compute-sanitizer"):
        if shutil.which(name):
            return shutil.which(name)
    raise SystemExit(f"sanitize.py: compute-sanitizer is missing: not on PATH, not in {cuda}")


def findings_in(log, gpus):
    """Their number; None where the tool has not summed up, or where the executable has
    measured no row, on several GPUs none of so many."""
    counts = [int(found) for line in log.splitlines() if "were not printed" not in line
              for found in re.findall(r"(?:ERROR|RACECHECK) SUMMARY: (\d+)", line)]
    number = gpus if gpus == 2 else "[0-9]+"
    row = re.search(rf"(?m)^[a-z_]+\t(?:[a-z]+\t)?{number}\t", log)
    return sum(counts) if counts and row and "Internal Sanitizer Error" not in log else None


def words(tool, executable, gpus):
    """What a tool runs."""
    name = executable.name
    methods = [method for method in environment.methods_of(executable)
               if method not in LEFT_OUT.get(name, ())]
    command = [str(executable), *([str(gpus)] if gpus else []), "--samples", "1",
               *suite.BY_NAME[name].under_tools]
    # Kernels that are only launched share no memory.
    if tool == "racecheck" and name != "ImplicitBarrier":
        if name in RACECHECK_GRIDS:
            command += ["--blocks-per-sm", RACECHECK_GRIDS[name]]
        # A method whose results are not checked shows what happens without its barrier.
        races = {row["method"] for row in environment.described(executable) if row["checked"] == "0"}
        groups = environment.groups_of(executable)
        methods = [method for method in methods
                   if method not in races and (gpus != 2 or groups[method] == "gpus")]
    elif name not in LEFT_OUT:
        return command
    return [*command, "--method", ",".join(methods)]


def check(sanitizer, tool, executable, gpus, log, seconds):
    """The cell of the table: the findings, or time-out or failed."""
    command = words(tool, executable, gpus)
    print(f"{tool}: {' '.join(command)}", file=sys.stderr, flush=True)
    with open(log, "wb") as output:
        process = subprocess.Popen([sanitizer, *OPTIONS[tool], *command], stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True)
    try:
        code = process.wait(seconds)
    except subprocess.TimeoutExpired:
        return "time-out"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # and what it has started
    found = findings_in(log.read_text(errors="replace"), gpus)
    return f"failed({code})" if found is None or (code and not found) else str(found)


def work():
    parser = command_line.Parser(description=__doc__)
    parser.add_argument("executables", nargs="*", metavar="EXE", default=EXECUTABLES,
                        help="(default: all of the suite)")
    parser.add_argument("--build-dir", type=Path, metavar="DIR",
                        default=Path(__file__).resolve().parent.parent / "build",
                        help="where the executables are (default: build/)")
    parser.add_argument("--timeout", type=command_line.count, default=7200, metavar="SECONDS",
                        help="for one run of an executable (default: 7200)")
    options = parser.parse_args()
    executables = [options.build_dir / name for name in options.executables]
    for executable in executables:
        if not os.access(executable, os.X_OK):
            raise SystemExit(f"sanitize.py: {executable} is not built")
    devices = subprocess.run([executables[0], "--devices"], stdout=subprocess.PIPE)
    if devices.returncode:
        return 3 if devices.returncode == 3 else 1
    several = len(tsv.read_table(devices.stdout, "--devices")) > 1
    sanitizer, logs, clean = find_sanitizer(), Path(tempfile.mkdtemp()), True
    print("\t".join(("executable", "GPUs", *TOOLS)))
    for executable in executables:
        takes_gpus = suite.BY_NAME[executable.name].takes_gpu_count
        for gpus in (None,) if not takes_gpus else (1, 2) if several else (1,):
            cells = [check(sanitizer, tool, executable, gpus,
                           logs / f"{executable.name}.{gpus or 1}.{tool}.log", options.timeout)
                     for tool in TOOLS]
            print("\t".join((executable.name, str(gpus or 1), *cells)), flush=True)
            clean = clean and set(cells) == {"0"}
    if clean:
        shutil.rmtree(logs)
        return 0
    print(f"sanitize.py: not clean; the logs are in {logs}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    command_line.main(work, "sanitize.py")
