#!/usr/bin/env python3
"""Which of the races of Pitfalls compute-sanitizer sees.

Runs racecheck and synccheck over each race of one GPU, wrong and right, at one try.
stdout: a tab-separated table of the number of findings; nan where a tool did not finish.
Exit codes: 0 all ran; 1 something is missing or did not finish; 2 bad usage; 3 no usable
GPU.
"""

import concurrent.futures
import os
import re
import subprocess
import time
from pathlib import Path

from parts import command_line, environment
import sanitize

TOOLS = ("racecheck", "synccheck")
SECONDS = 60
running = set()


def findings(sanitizer, tool, executable, race, form):
    """The cell of the table."""
    # Launches that wait: no other kernel runs beside the race.
    alone = dict(os.environ, CUDA_LAUNCH_BLOCKING="1",
                 SYNCBENCH_PITFALL=f"{race}:{form}:1:1:{os.getpid()}")
    process = subprocess.Popen([sanitizer, "--tool", tool, executable, "--samples", "1"], env=alone,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               start_new_session=True)
    running.add(process)
    try:
        text = process.communicate(timeout=SECONDS)[0]
    except subprocess.TimeoutExpired:
        sanitize.end(process)  # the program under the tool, too
        process.communicate()
        return "nan"
    finally:
        running.discard(process)
    counts = re.findall(r"(?m)SUMMARY: (\d+) (?:hazard|error)s?\b(?! were)", text)
    # Some findings end the kernel with an error.
    ended = re.search(r"(?m)^(?:result|error)\t", text)
    return counts[0] if counts and ended else "nan"


def end_all(cells):
    """Those that have not begun, and the processes of the others."""
    for cell in cells:
        cell.cancel()
    while not all(cell.done() for cell in cells):
        for process in list(running):
            sanitize.end(process)
        time.sleep(0.05)


def work():
    parser = command_line.Parser(description=__doc__)
    parser.add_argument("--build-dir", type=Path, metavar="DIR",
                        default=Path(__file__).resolve().parent.parent / "build",
                        help="where Pitfalls is (default: build/)")
    executable = parser.parse_args().build_dir / "Pitfalls"
    if not os.access(executable, os.X_OK):
        raise SystemExit(f"sanitize_pitfalls.py: {executable} is not built")
    devices = subprocess.run([executable, "--devices"], stdout=subprocess.PIPE)
    if devices.returncode:
        return 3 if devices.returncode == 3 else 1
    sanitizer = sanitize.find_sanitizer()
    rows = [(name, form) for name, group in environment.groups_of(executable).items()
            if group == "race" for form in ("wrong", "right") if "peer" not in name]
    print("\t".join(("method", "form", *TOOLS)), flush=True)
    complete = True
    with concurrent.futures.ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        found = [[pool.submit(findings, sanitizer, tool, executable, *row) for tool in TOOLS]
                 for row in rows]
        try:
            for row, cells in zip(rows, found):
                cells = [cell.result() for cell in cells]
                print("\t".join((*row, *cells)), flush=True)
                complete = complete and "nan" not in cells
        finally:
            end_all(sum(found, []))
    return 0 if complete else 1


if __name__ == "__main__":
    command_line.main(work, "sanitize_pitfalls.py")
