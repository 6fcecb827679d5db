"""Machine-code test: does every timed kernel contain what its row counts?

usage: machine_code_test.py EXECUTABLE...
       machine_code_test.py EXECUTABLE --method NAME    the kernels of this method alone
       machine_code_test.py --renew EXECUTABLE...       writes their counts into instructions.tsv

For every architecture from sm_70 on in each executable and every
timed_kernel<Method, R>: what the method says of its machine code (--machine-code), between
the two reads of the clock, R times on every path of a trip. And for every late_kernel<Method>
(R is `late`): little but what one operation takes. Where instructions.tsv has the toolkit and
the architecture, each method has its instructions exactly (R is `exact`). None may claim less
than its code shows (R is `proof`). All other kernels that
read the clock: not before the block's barrier has ended (R is `clock`). On stderr: methods of
different names whose code is equal. machine_code_gate_test.py plants faults to see
that they are found.
Exit codes: 0 all pass; 1 a failure, or bad usage; 77 no disassembler to be had,
or no code to judge.
"""
import collections
import os
import re
import subprocess
import sys

import instruction_counts
import machine_code
import machine_code_paths
from machine_code_proofs import Verdict, ExpectedCode, judge, judge_late, passes_as

LAUNCHED = {"null_kernel", "sleep_kernel", "spin_kernel"}  # of ImplicitBarrier


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
    clocks = machine_code_paths.clock_reads(instructions)
    loops = machine_code_paths.loops(instructions)
    depth = sorted(sum(bool(machine_code_paths.inside([clock], [loop]))
                       for loop in loops) for clock in clocks)
    return Verdict("SR_CLOCK", str(len(clocks)),
                   "ok" if depth == [1, 2] else f"FAIL: in loops {depth} deep")


def judge_exact(work, architecture, lines, listed):
    """Of kernels {operations: code}: `listed` are those of instructions.tsv."""
    if work.proof == "missing" or (work.toolkit, architecture) not in {key[:2] for key in listed}:
        return Verdict("-", "-", "not listed")
    expected = listed.get(instruction_counts.key_of(work, architecture), ())
    found = instruction_counts.counts_of(lines)
    return Verdict("exact", found[0], "ok" if found in expected else "FAIL: " + ", not ".join(
        " / ".join(counts) for counts in (found, *(expected or [("any in instructions.tsv",)]))))


def judge_timed(functions, works, wanted, architecture, listed):
    """(type, R, Verdict) of the kernels of all methods or of the one that is wanted, which all
    have to be there."""
    kernels = machine_code.kernels_of(functions)
    for name, work in works.items():
        shorter, lines = None, {}
        if wanted not in (None, work.method):
            continue
        for repeats in work.lines:
            if (name, repeats) not in kernels.timed:
                yield name, repeats, Verdict("-", "-", "FAIL: no such kernel")
                continue
            code = functions[kernels.timed.pop((name, repeats))]
            yield name, repeats, judge(work, code, repeats, shorter)
            if repeats == 1 and name in kernels.late and work.proof != "missing":
                yield name, "late", judge_late(functions[kernels.late[name]], code)
            shorter = repeats, code
            lines[repeats] = code
        if len(lines) == len(work.lines):
            exact = judge_exact(work, architecture, lines, listed)
            yield name, "exact", exact
            if exact.text != "not listed" and (stronger := passes_as(work, lines)):
                yield name, "proof", Verdict(stronger, "-", f"FAIL: said is only {work.proof}")
    for name, repeats in kernels.timed if wanted is None else ():
        yield name, repeats, Verdict("-", "-", "FAIL: --machine-code does not name it")


def judge_launched(functions):
    """(name, R, Verdict) of the kernels of ImplicitBarrier."""
    for name, judge_kernel in (("null_kernel", judge_null), ("sleep_kernel", judge_sleep),
                               ("spin_kernel", judge_spin)):
        for symbol, instructions in sorted(functions.items()):
            if f"{len(name)}{name}INS0_5PlainEE" in symbol:
                yield name, "-", judge_kernel(instructions)


def judge_clocks(functions):
    """(name, R, Verdict) of all other kernels that read the clock. Of timed kernels two lengths
    are subtracted, so that what both read too early cancels. Races read it only to pause."""
    for name, code in zip(machine_code.names_of(functions), functions.values()):
        reads = machine_code_paths.clock_reads(code)
        if reads and not re.search(r"\b(timed|late|meeting)_kernel|\btry_race<", name):
            early = machine_code_paths.read_too_early(code)
            yield name.replace("(anonymous namespace)::", "").split("(")[0], "clock", Verdict(
                "SR_CLOCK", str(len(reads)), f"FAIL: {len(early)} directly behind BAR" if early else "ok")


def equal_methods(functions, works):
    """Lists of names of methods, not of one name, whose kernels of one operation are the same."""
    kernels = machine_code.kernels_of(functions).timed
    names = collections.defaultdict(set)
    for name, work in works.items():
        if work.proof != "missing":
            names[tuple((i.guard, re.sub(r"`\S+", "", i.text)) for i in functions[kernels[name, 1]])].add(
                work.method)
    return sorted(sorted(them) for them in names.values() if len(them) > 1)


def works_of(executable, architecture):
    """{type: ExpectedCode}; none where the executable has no methods inside a kernel."""
    result = subprocess.run(
        [os.path.abspath(executable), "--machine-code", str(architecture)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return ExpectedCode.read(result.stdout)


def check(executable, wanted):
    """Prints the rows of one executable, or of one method of it; returns what is wrong with it."""
    failures = []
    judged = 0
    listed = instruction_counts.read()
    for name, functions in sorted(machine_code.disassemble(executable).items()):
        architecture = int(re.match(r"sm_(\d+)", name)[1])
        if architecture < 70:
            print(f"{executable}: {name}: not judged, sm_70 and later are", file=sys.stderr)
            continue
        works = works_of(executable, architecture)
        rows = list(judge_timed(functions, works, wanted, name, listed))
        launched = list(judge_launched(functions))
        if not wanted:
            rows += [*launched, *judge_clocks(functions)]
            for names in equal_methods(functions, works):
                print(f"{executable}: {name}: equal code: {', '.join(names)}", file=sys.stderr)
        judged += 1
        if works and not any(row[1] == "exact" and row[2].text == "ok" for row in rows):
            print(f"{executable}: {name}: not in instructions.tsv; no count is exact, only the "
                  "bounds of the sources hold", file=sys.stderr)
        if wanted and not rows:
            raise ValueError(f"there is no method {wanted}")
        for method, repeats, verdict in rows:
            print(os.path.basename(executable), name, method, repeats, *verdict, sep="\t")
            if verdict.text.startswith("FAIL"):
                failures.append(f"{name} {method} {repeats}: {verdict.text}")
        if not rows or (os.path.basename(executable) == "ImplicitBarrier"
                        and {row[0] for row in launched} < LAUNCHED):
            failures.append(f"{name}: nothing to judge, or not all of {LAUNCHED}")
    if not judged:
        raise machine_code.NoDisassembler(f"{executable}: no code that can be judged")
    return failures


def judged_in(executable):
    """(architecture, type, its ExpectedCode, its kernels {operations: code}, late_kernel or None)
    of each method that there is on an architecture."""
    for architecture, functions in machine_code.disassemble(executable).items():
        number = int(architecture[3:])
        kernels = machine_code.kernels_of(functions)
        for name, work in works_of(executable, number).items():
            if number >= 70 and work.proof != "missing":
                late = kernels.late.get(name)
                yield architecture, name, work, {
                    repeats: functions[kernels.timed[name, repeats]]
                    for repeats in work.lines}, late and functions[late]


def main(executables):
    if executables[:1] == ["--renew"]:
        return instruction_counts.renew([
            (instruction_counts.key_of(work, architecture), instruction_counts.counts_of(lines))
            for executable in executables[1:]
            for architecture, _, work, lines, _ in judged_in(executable)])
    if not executables or executables[0].startswith("-"):
        sys.exit(__doc__)
    executables, wanted = ((executables[:1], executables[2])
                           if executables[1:2] == ["--method"] and len(executables) == 3
                           else (executables, None))
    print("executable\tarchitecture\tmethod\tR\tinstruction\tcount\tverdict")
    status = 0
    for executable in executables:
        try:
            failures = check(executable, wanted)
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
