"""Machine-code gate: does every timed kernel contain what its row counts?

usage: machine_code_test.py EXECUTABLE...

For every architecture from sm_70 on in each executable and every
timed_kernel<Method, R>, the instruction that does the work, inside the timed
region: R times on every path of a trip. Every verdict is tested: a fault planted
in the same code must change it.
Exit codes: 0 all pass; 1 a failure, or bad usage; 77 no disassembler to be had,
or no code to judge.
"""
import os
import re
import subprocess
import sys

import machine_code
import machine_code_paths
from machine_code_methods import CHECK_ONLY, METHODS, NOTHING, Verdict, WarpSync

LAUNCHED = {"null_kernel", "sleep_kernel", "spin_kernel"}  # of ImplicitBarrier


def judge_timed(kernel, instructions, architecture, listed):
    if kernel.method not in METHODS:
        return Verdict("-", "-", "FAIL: add this method to machine_code_methods.py")
    check = METHODS[kernel.method]
    region = machine_code_paths.timed_region(instructions)
    if not region:
        return Verdict("SR_CLOCK", "-", "FAIL: fewer than two clock reads")
    verdict = check.judge(region, kernel.repeats)
    if verdict.text.startswith("FAIL"):
        return verdict
    for fault, faulty in check.faults(region, kernel.repeats):
        if check.judge(faulty, kernel.repeats).text == verdict.text:
            return verdict._replace(text=f"FAIL: the gate lets pass: {fault}")
    if isinstance(check, WarpSync) and kernel.repeats > 1:
        announced = check.is_announced(listed[check.listed], kernel, architecture)
        if announced != (verdict.text in (NOTHING, CHECK_ONLY)):
            return verdict._replace(text=f"FAIL: {verdict.text}, --list says otherwise")
    return verdict


def judge_null(instructions):
    """The empty kernel: nothing but its end, and the stack pointer's set-up."""
    rest = [i.text for i in instructions
            if not (i.opcode in ("EXIT", "NOP") or i.guard == "!PT"
                    or (i.opcode == "BRA" and i.target == i.address)
                    or re.match(r"(MOV|LDC|IMAD\.MOV\.U32) R1, ", i.text))]
    return Verdict("other than EXIT", str(len(rest)), f"FAIL: {rest[0]}" if rest else "ok")


def judge_sleep(instructions):
    sleeps = [i for i in instructions if i.opcode.startswith("NANOSLEEP")]
    looped = machine_code_paths.inside(sleeps, machine_code_paths.loops(instructions))
    right = len(sleeps) == len(looped) == 1
    return Verdict("NANOSLEEP", str(len(sleeps)), "ok" if right else "FAIL: not 1 in a loop")


def judge_spin(instructions):
    """Of the two clock reads, one is in a loop of its own, both in that of units."""
    clocks = [i for i in instructions if "SR_CLOCK" in i.operands]
    loops = machine_code_paths.loops(instructions)
    depth = sorted(sum(bool(machine_code_paths.inside([clock], [loop]))
                       for loop in loops) for clock in clocks)
    return Verdict("SR_CLOCK", str(len(clocks)),
                   "ok" if depth == [1, 2] else f"FAIL: in loops {depth} deep")


def rows_of(functions, architecture, listed):
    """(method, R, Verdict) of each kernel of one architecture."""
    for symbol, instructions in sorted(functions.items()):
        try:
            kernel = machine_code.kernel_of(symbol)
        except ValueError as error:
            yield symbol, "-", Verdict("-", "-", f"FAIL: {error}")
            kernel = None
        if kernel:
            yield (str(kernel), str(kernel.repeats),
                   judge_timed(kernel, instructions, architecture, listed))
        elif "11null_kernelE" in symbol:
            yield "null_kernel", "-", judge_null(instructions)
        elif "12sleep_kernelE" in symbol:
            yield "sleep_kernel", "-", judge_sleep(instructions)
        elif "11spin_kernelE" in symbol:
            yield "spin_kernel", "-", judge_spin(instructions)


def list_of(executable):
    """method -> what --list says of it"""
    text = subprocess.run([os.path.abspath(executable), "--list"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return dict(line.split("\t") for line in text.splitlines())


def check(executable):
    """Prints the rows of one executable; returns what is wrong with it."""
    code = machine_code.disassemble(executable)
    listed = list_of(executable)
    failures = []
    kernels = {}
    for name, functions in sorted(code.items()):
        architecture = int(re.match(r"sm_(\d+)", name)[1])
        if architecture < 70:
            print(f"{executable}: {name}: not judged, sm_70 and later are", file=sys.stderr)
            continue
        rows = list(rows_of(functions, architecture, listed))
        kernels[name] = sorted(row[:2] for row in rows)
        for method, repeats, verdict in rows:
            print(os.path.basename(executable), name, method, repeats, *verdict, sep="\t")
            if verdict.text.startswith("FAIL"):
                failures.append(f"{name} {method} {repeats}: {verdict.text}")
        if {row[0] for row in rows} < LAUNCHED:
            failures.append(f"{name}: no timed_kernel, nor all of {LAUNCHED}")
    if not kernels:
        raise machine_code.NoDisassembler(f"{executable}: no code that can be judged")
    if len(set(map(tuple, kernels.values()))) > 1:
        failures.append("its architectures have different kernels")
    return failures


def main(executables):
    if not executables or executables[0].startswith("-"):
        sys.exit(__doc__)
    print("executable\tarchitecture\tmethod\tR\tinstruction\tcount\tverdict")
    status = 0
    for executable in executables:
        try:
            failures = check(executable)
        except machine_code.NoDisassembler as error:
            print(error, file=sys.stderr)
            status, failures = status or 77, []
        except ValueError as error:
            failures = [str(error)]
        for failure in failures:
            status = 1
            print(f"{executable}: {failure}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
