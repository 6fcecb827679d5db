"""Machine-code gate: does every timed kernel contain what its row counts?

usage: machine_code_test.py EXECUTABLE...

For every architecture in each executable and every timed_kernel<Method, R>, the
instruction that does the work, inside the timed region: R times on every path
of a trip. Every verdict is tested: a fault planted in the same code must change it.
Exit codes: 0 all pass; 1 a failure, or bad usage; 77 no disassembler to be had.
"""
import os
import re
import sys
from typing import NamedTuple

import machine_code

NOTHING = "nothing: NOP or less"
# Not free: MATCH.ANY and REDUX.OR of sm_80, for one, belong to the check.
CHECK_ONLY = "nothing: WARPSYNC only if the warp has diverged"
LAUNCHED = {"null_kernel", "sleep_kernel"}  # of ImplicitBarrier
CONVERGENCE_CHECK = re.compile(r"BRA\.(CONV|DIV)\b")


class Verdict(NamedTuple):
    instruction: str
    count: str
    text: str  # "ok", "nothing: ...", "FAIL: ..."


class Exactly:
    """`pattern`, R times on every path of a trip, never in an inner loop. In a
    chain each reads the result of the one before. Of `paths` ways through one
    operation only one executes."""

    def __init__(self, name, pattern, chain=False, paths=1):
        self.name = name
        self.pattern = re.compile(pattern)
        self.chain = chain
        self.paths = paths

    def works(self, instruction):
        # @!PT never executes: sm_70 pads with such shuffles.
        return not instruction.guard and self.pattern.match(instruction.text)

    def judge(self, region, repeats):
        work = list(filter(self.works, region))
        fault = self._fault(region, work, repeats)
        return Verdict(self.name, str(len(work)), fault or "ok")

    def _fault(self, region, work, repeats):
        if len(work) != self.paths * repeats:
            return f"FAIL: not {self.paths * repeats}"
        if machine_code.inside(work, machine_code.loops(region)):
            return "FAIL: in a loop"
        executed = machine_code.fewest_and_most(region, self.works)
        if executed != (repeats, repeats):
            return f"FAIL: {executed[0]} to {executed[1]} are executed"
        for branches in (False, True) if self.chain else ():
            if not machine_code.is_chain(region, self.works, branches):
                return "FAIL: not a chain"
        return None

    def faults(self, region, repeats):
        work = list(filter(self.works, region))
        first, last = work[0], work[-1]
        yield "lost", [i for i in region if i is not first]
        yield "doubled", [j for i in region for j in ([i, i] if i is last else [i])]
        yield "disabled", machine_code.replace(region, last, guard="!PT")
        yield "skipped", machine_code.insert_branch(
            region, region[1], region[0].address + 1, last.address + 1)
        yield "looped", machine_code.insert_branch(
            region, region[-1], last.address + 1, first.address)
        if self.chain and repeats > 1:
            yield "unchained", machine_code.replace(
                region, last, operands=re.sub(r"\bR\d+", "R254", last.operands))


class WarpSync:
    """WARPSYNC, R times; or R NOPs, in which case the program itself says that
    there is nothing to measure."""

    kinds = Exactly("WARPSYNC", r"WARPSYNC\b"), Exactly("NOP", r"NOP\b")

    def judge(self, region, repeats):
        sync, nothing = (kind.judge(region, repeats) for kind in self.kinds)
        if sync.count != "0" or nothing.text != "ok":
            return sync
        checks = sum(1 for i in region if CONVERGENCE_CHECK.match(i.opcode))
        return nothing._replace(text=CHECK_ONLY if checks >= repeats else NOTHING)

    def faults(self, region, repeats):
        used = self.kinds[self.kinds[0].judge(region, repeats).count == "0"]
        return used.faults(region, repeats)


class Barrier:
    """A barrier over memory: the block gathers, arrives with a release, polls, and
    lets its threads go. A thousand cycles hide a loop: it need not be unrolled."""

    needs = (("BAR", r"BAR\.(SYNC|RED)\b", 2),
             ("ATOM|RED.GPU", r"(ATOM|RED)G?\..*STRONG\.GPU\b", 1),
             ("MEMBAR", r"MEMBAR\..*(GPU|SYS)\b", 1),
             ("polling LD", r"LDG?\..*STRONG\.(GPU|SYS)\b", 1))

    @staticmethod
    def found(region, name, pattern):
        found = [i for i in region
                 if i.guard not in ("!PT", "!UPT") and re.match(pattern, i.opcode)]
        if name.startswith("polling"):
            found = machine_code.inside(found, machine_code.waiting_loops(region))
        return found

    def _unrolled(self, region, repeats):
        arrivals = self.found(region, *self.needs[1][:2])
        return 1 if machine_code.is_repeated(region, arrivals, repeats) else repeats

    def judge(self, region, repeats):
        unrolled = self._unrolled(region, repeats)
        counts = [len(self.found(region, *need[:2])) for need in self.needs]
        short = [f"{name} fewer than {times * unrolled}"
                 for count, (name, _, times) in zip(counts, self.needs)
                 if count < times * unrolled]
        meetings = set(self.found(region, *self.needs[0][:2]))
        executed = machine_code.fewest_and_most(region, meetings.__contains__)
        if executed[0] < 2 * unrolled:
            short.append("a path goes round the barrier")
        names, total = (" + ".join(map(str, them))
                        for them in ((need[0] for need in self.needs), counts))
        total = total if unrolled == repeats else f"{repeats} x ({total})"
        return Verdict(names, total, f"FAIL: {', '.join(short)}" if short else "ok")

    def faults(self, region, repeats):
        unrolled = self._unrolled(region, repeats)
        for name, pattern, times in self.needs:
            lost = set(self.found(region, name, pattern)[times * unrolled - 1:])
            yield f"{name} lost", [i for i in region if i not in lost]
        yield "loops lost", [i for i in region if not i.is_branch]
        yield "skipped", machine_code.insert_branch(
            region, region[1], region[0].address + 1, region[-1].address)


METHODS = {
    "BlockSync": Exactly("BAR", r"BAR\.(SYNC|RED)\b"),
    "TileSync": WarpSync(),
    "TileShuffle": Exactly("SHFL", r"SHFL\.DOWN\b", chain=True),
    "CoalescedSync": WarpSync(),
    # Each operation asks whether all 32 lanes take part: then SHFL.DOWN, else a
    # search for the lane and SHFL.IDX. Every path has R shuffles, both have 2 R.
    "CoalescedShuffle": Exactly("SHFL.DOWN|IDX", r"SHFL\.(DOWN|IDX)\b", True, 2),
    "FloatAdd": Exactly("FADD", r"FADD\b", chain=True),
    "GridSync": Barrier(),
    "PeerGridSync": Barrier(),
    # The barrier is in the driver's part of the library.
    "MultiGridSync": Exactly("CALL cudaCGSynchronize", r"CALL\..*\bcudaCGSynchronize\b"),
}


def judge_timed(kernel, instructions):
    if kernel.method not in METHODS:
        return Verdict("-", "-", f"FAIL: unknown method, add it to METHODS in {__file__}")
    check = METHODS[kernel.method]
    region = machine_code.timed_region(instructions)
    if not region:
        return Verdict("SR_CLOCK", "-", "FAIL: fewer than two clock reads")
    verdict = check.judge(region, kernel.repeats)
    if verdict.text.startswith("FAIL"):
        return verdict
    for fault, faulty in check.faults(region, kernel.repeats):
        if check.judge(faulty, kernel.repeats).text == verdict.text:
            return verdict._replace(text=f"FAIL: the gate lets pass: {fault}")
    return verdict


def judge_null(instructions):
    """The empty kernel: nothing but its end, and the stack pointer's set-up."""
    rest = [i.text for i in instructions
            if not (i.opcode in ("EXIT", "NOP") or i.guard == "!PT"
                    or (i.opcode == "BRA" and i.target == i.address)
                    or re.match(r"(MOV|LDC|IMAD\.MOV\.U32) R1, ", i.text))]
    return Verdict("other than EXIT", str(len(rest)), f"FAIL: {rest[0]}" if rest else "ok")


def judge_sleep(instructions, architecture):
    sleeps = [i for i in instructions if i.opcode.startswith("NANOSLEEP")]
    if int(re.match(r"sm_(\d+)", architecture)[1]) < 70:
        return Verdict("NANOSLEEP", str(len(sleeps)), "nothing: before sm_70")
    looped = machine_code.inside(sleeps, machine_code.loops(instructions))
    right = len(sleeps) == len(looped) == 1
    return Verdict("NANOSLEEP", str(len(sleeps)), "ok" if right else "FAIL: not 1 in a loop")


def rows_of(architecture, functions):
    """(method, R, Verdict) of each kernel of one architecture."""
    for symbol, instructions in sorted(functions.items()):
        try:
            kernel = machine_code.kernel_of(symbol)
        except ValueError as error:
            yield symbol, "-", Verdict("-", "-", f"FAIL: {error}")
            kernel = None
        if kernel:
            yield str(kernel), str(kernel.repeats), judge_timed(kernel, instructions)
        elif "11null_kernelE" in symbol:
            yield "null_kernel", "-", judge_null(instructions)
        elif "12sleep_kernelE" in symbol:
            yield "sleep_kernel", "-", judge_sleep(instructions, architecture)


def check(executable):
    """Prints the rows of one executable; returns what is wrong with it."""
    code = machine_code.disassemble(executable)
    failures = []
    kernels = {}
    for architecture, functions in sorted(code.items()):
        rows = list(rows_of(architecture, functions))
        kernels[architecture] = sorted(row[:2] for row in rows)
        for method, repeats, verdict in rows:
            print(os.path.basename(executable), architecture, method, repeats, *verdict,
                  sep="\t")
            if verdict.text.startswith("FAIL"):
                failures.append(f"{architecture} {method} {repeats}: {verdict.text}")
        names = {row[0] for row in rows}
        if names < LAUNCHED:
            failures.append(f"{architecture}: no timed_kernel, nor both of {LAUNCHED}")
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
