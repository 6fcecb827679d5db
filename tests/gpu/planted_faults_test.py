"""GPU test: faulty methods are found, by their machine code or by the check before a row.

usage: planted_faults_test.py FAULTY [IDLE]

Both say with --on-gpu what the check finds. Each method of IDLE does nothing. Prints every fault
and how many are found by either. Exit codes: 0 all found; 1 not; 77 no GPU or disassembler.
"""
import csv
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "machine_code"))
import machine_code  # noqa: E402
from machine_code_gate_test import found_by_code  # noqa: E402

RUN_FINDS = ("EveryOtherRound", "FirstAndLast")


def faults_of(executable):
    """[(type, meets, found by its code, verdict of a run)] of what this GPU has."""
    done = subprocess.run([executable, "--on-gpu"], stdout=subprocess.PIPE, text=True)
    if done.returncode == 77:
        sys.exit(77)
    assert done.returncode in (0, 1), done  # 1: a kernel ended with an error
    code = found_by_code(executable)
    rows = {row["type"]: row
            for row in csv.DictReader(done.stdout.splitlines(), delimiter="\t")}
    # One that would wait for ever is not run; has its code to show it?
    not_run = {"meets": "0", "verdict": "nothing"}
    return [(name, row["meets"] == "1", found, row["verdict"]) for name, found in code.items()
            if not (row := rows.get(name, not_run))["verdict"].startswith("skipped")]


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    missed = []
    for executable in sys.argv[1:]:
        try:
            faults = faults_of(executable)
        except machine_code.NoDisassembler as error:
            print(error, file=sys.stderr)
            return 77
        idle = executable == sys.argv[-1] and len(sys.argv) == 3
        for name, meets, by_code, verdict in faults:
            print(f"{name}: code: {by_code or 'right'}, run: {verdict}")
            # An idle barrier is found by a run, whatever its code says; so is one that
            # waits now and then, or for some.
            by_run = meets and idle or any(fault in name for fault in RUN_FINDS)
            if verdict == "nothing" and (by_run or not by_code):
                missed.append(name)
        by_run = sum(verdict != "nothing" for *_, verdict in faults)
        print(f"{os.path.basename(executable)}: {len(faults)} faults, "
              f"{sum(code != '' for _, _, code, _ in faults)} found by their code, {by_run} by a run")
    for name in missed:
        print(f"not found: {name}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
