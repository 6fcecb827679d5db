"""The machine-code test of all methods, then a test of it: it has to find planted faults.

usage: machine_code_gate_test.py REDUCTION [FAULTY ...]

machine_code_test.py has to accept REDUCTION, which has all methods. In its kernels a
fault is planted by moving, removing or adding instructions; each FAULTY was compiled from
methods with faults in their source. Exit codes: 0 accepted and all found, but for faults that
only a run on a GPU shows (planted_faults_test.py), and docs/method.md has their numbers; 1 not; 77
no disassembler.
"""
import concurrent.futures
import re
import sys
from pathlib import Path

import instruction_counts
import machine_code
import machine_code_test
from machine_code import Instruction
from machine_code_paths import clock_reads, read_too_early
from machine_code_proofs import (
    BRANCHES, ExpectedCode, LATE_SLACK, LOCAL, STRONGER, among, between_reads, judge, judge_late,
    needs_of, parts_of_barrier, passes_as)

IN_A_ROW = 8  # at least, of the kernels in which faults are planted, where some are so long

# Faulty methods that do what the sources say of them. Where instructions.tsv has the toolkit and
# the architecture, their numbers of instructions are wrong, but for those of ONLY_A_RUN.
ONLY_COUNTS = (
    "HalfIsEnough", "HalfGridIsEnough", "WordsSwapped", "LoadsOwn", "StoresOwn", "WordEachLane",
    "FirstBytesOut", "StoresToOneWord", "EveryOtherRound", "FirstAndLast", "WaitsRelaxed",
    "HalvesApart", "MbarrierOfOne", "SamePhase")
ONLY_A_RUN = ("PairsShare",)
PAGE = Path(__file__).resolve().parents[2] / "docs" / "method.md"


def replace(code, instruction, **changes):
    return [i._replace(**changes) if i is instruction else i for i in code]


def insert_jump(code, before, target, opcode="BRA", guard="P0"):
    jump = Instruction(before.address - 1, guard, opcode, "", target)
    return [j for i in code for j in ([jump, i] if i is before else [i])]


def add_behind(code, instructions, text):
    """One more instruction behind each of a set."""
    opcode, operands = text.split(" ", 1)
    return [j for i in code for j in (
        [i, i._replace(address=i.address + 1, opcode=opcode, operands=operands, guard="")]
        if i in instructions else [i])]


def move_behind(code, moved, place):
    rest = [i for i in code if i is not moved]
    at = rest.index(place) + 1
    return [*rest[:at], moved._replace(address=place.address + 1), *rest[at:]]


def clock_faults(code, first, last):
    start, *_, end = clock_reads(code)
    yield "start read behind the operations", move_behind(code, start, last)
    yield "end read before the operations", move_behind(
        code, end, code[code.index(first) - 1])
    yield "one read lost", [i for i in code if i is not end]


def work_faults(work, code, _):
    pattern = "NOP" if work.proof == "nothing" else work.instruction
    works = [i for i in code if re.fullmatch(pattern, i.text)
             and i.guard not in machine_code.NEVER]
    clock = [i.address for i in clock_reads(code)]
    works = [i for i in works if clock[0] < i.address < clock[-1]]
    first, last = works[0], works[-1]
    body = [i for i in code if clock[0] < i.address]
    yield "lost", [i for i in code if i is not first]
    yield "doubled", [j for i in code for j in ([i, i] if i is last else [i])]
    yield "disabled", replace(code, last, guard="!PT")
    yield "doubled at times", [j for i in code for j in (
        [i, i._replace(guard="P0")] if i is last else [i])]
    yield "skipped", insert_jump(code, body[0], last.address + 1)
    yield "left", insert_jump(code, body[0], code[-1].address + 16)
    yield "left by register", insert_jump(code, body[0], None, "BRX")
    yield "looped", insert_jump(code, code[code.index(last) + 1], first.address)
    more = code
    for _ in range(max(2, work.others + 1)):  # one more than the method allows
        more = add_behind(more, set(works), "IMAD R254, R254, R254, RZ")
    yield "more multiplications in each", more
    for _, text in work.also:
        also = [i for i in body if i.address < clock[-1] and re.fullmatch(text, i.text)]
        yield f"{text} lost", [i for i in code if i is not also[-1]]
        yield f"{text} doubled", [j for i in code for j in ([i, i] if i is also[-1] else [i])]
        if first.text != also[-1].text:
            yield f"{text} in place of another", replace(
                code, first, opcode=also[-1].opcode, operands=also[-1].operands)
    if work.proof == "chain":
        yield "unchained", replace(code, last,
                                   operands=re.sub(r"\bR\d+", "R254", last.operands))
    for poll in [i for i in code if i.opcode.startswith("SYNCS.PHASECHK")
                 and i.address > clock[-1]][:1]:
        back = next(i for i in code if i.address > poll.address
                    and i.is_branch and not i.guard)
        yield "polls and more", add_behind(code, [poll], "BAR.SYNC 0x0")
        yield "polls that lead on", replace(code, back, target=last.address)
    yield from clock_faults(code, first, last)


def barrier_faults(work, code, repeats):
    clock = [i.address for i in clock_reads(code)]
    region = [i for i in code if clock[0] < i.address <= clock[-1]]
    parts = {need.name: parts_of_barrier(region, *need[:2]) for need in needs_of(work)}
    for name, _, times in needs_of(work):
        lost = set(parts[name][max(0, times * work.in_code(repeats) - 1):])
        if times > 0:
            yield f"{name} lost", [i for i in code if i not in lost]
    if work.proof in ("parts", "messages"):
        return
    meetings = parts["BAR"]
    first, second, last = meetings[0], meetings[1], meetings[-1]
    if work.proof == "node":
        arrival = parts["arrival"][-1]
        yield "arrival behind the grid's last barrier", move_behind(code, arrival, last)
        if work.also:
            yield "fence behind the arrival", move_behind(code, parts["MEMBAR"][-1], arrival)
    yield "no arrival", insert_jump(code, code[code.index(first) + 1], second.address, guard="")
    yield "looped", insert_jump(code, code[code.index(last) + 1], first.address)
    yield "doubled", [j for i in code for j in ([i, i] if i is last else [i])]
    yield "skipped", insert_jump(code, region[1], last.address + 1)
    yield "left", insert_jump(code, region[1], code[-1].address + 16)
    yield from clock_faults(code, first, last)


def missed_in(name, work, repeats, code, shorter):
    """The faults that the test lets pass in this kernel; each has to change the verdict."""
    verdict = judge(work, code, repeats, shorter).text
    if verdict.startswith("FAIL"):
        return [f"{name}: {verdict}, without a fault"]
    faults = (barrier_faults if work.proof in ("barrier", "unordered", "node", "parts", "messages")
              else work_faults)
    return [f"{name}: {fault}" for fault, faulty in faults(work, code, repeats)
            if judge(work, faulty, repeats, shorter).text == verdict]


def late_faults(code, one):
    reads = clock_reads(code)
    comes, is_out = reads[2], reads[-1]
    if not any(i.opcode.startswith(LOCAL) for i in one):
        yield "a register spilled", add_behind(code, {comes}, "STL [R1], R254")
        yield "a spilled register read", add_behind(code, {comes}, "LDL.LU R254, [R1]")
    yield "a branch before", insert_jump(code, code[code.index(comes) + 1], comes.address + 1)
    more = code  # than `one` has: a compiler may have put some of its elsewhere here
    for _ in range(1 + len(among(between_reads(one, 0, -1), BRANCHES))
                   - len(among(between_reads(code, 2, -1), BRANCHES))):
        more = insert_jump(more, is_out, is_out.address)
    yield "a branch behind", more
    yield "warps meet again", add_behind(code, {comes}, "BSYNC B0")
    yield "a slow read", replace(code, comes, opcode="S2UR")
    yield "a conditional read at the end", replace(code, is_out, guard="P0")
    yield "no operation", [i for i in code if not comes.address < i.address < is_out.address]
    yield "end read before the operation", move_behind(
        [i for i in code if i not in reads[3:-1]], is_out, comes)
    yield "no wait", [i for i in code if not (i.is_branch and i.target == reads[1].address)]
    more = code
    for _ in range(2 * LATE_SLACK + len(one) // 4):
        more = add_behind(more, {comes}, "IMAD R254, R254, R254, RZ")
    yield "much more", more


def missed_in_late(name, code, one):
    """As missed_in, of a late_kernel."""
    verdict = judge_late(code, one).text
    if verdict != "ok":
        return [f"{name} late: {verdict}, without a fault"]
    return [f"{name} late: {fault}" for fault, faulty in late_faults(code, one)
            if judge_late(faulty, one).text == "ok"]


def missed_if_planted(executable):
    """What the test misses where faults are planted in the kernels of right methods."""
    to_fault, late_ones, missed = [], [], []
    for architecture, name, work, lines, late in machine_code_test.judged_in(executable):
        # A kernel whose next shorter one is a line, too, or both are loops; else the longest.
        fewer, repeats = next(
            ((fewer, more) for fewer, more in zip(work.lines, work.lines[1:])
             if more >= IN_A_ROW and (fewer > work.in_line) == (more > work.in_line)),
            work.lines[-2:])
        to_fault.append((f"{architecture} {name}", work, repeats, lines[repeats],
                         (fewer, lines[fewer])))
        missed += [f"{architecture} {name}: said is only {weaker}"
                   for weaker, proof in STRONGER.items() if proof == work.proof
                   and not passes_as(work._replace(proof=weaker), lines)]
        if late:
            late_ones.append((f"{architecture} {name}", late, lines[1]))
    assert to_fault and late_ones, f"{executable}: no kernel"
    with concurrent.futures.ProcessPoolExecutor() as pool:  # all processors, for the longest part
        return sum([*pool.map(missed_in, *zip(*to_fault)),
                    *pool.map(missed_in_late, *zip(*late_ones))], missed)


def found_by_code(executable):
    """{type: what finds the fault, "bounds" of the sources, "counts" of instructions.tsv or "" for
    neither} of faulty methods; the worst of its architectures, of the listed ones if there are any."""
    found, listed = {}, instruction_counts.read()
    of_all = list(machine_code_test.judged_in(executable))
    known = {architecture for architecture, _, work, *_ in of_all
             if (work.toolkit, architecture) in {key[:2] for key in listed}}
    for architecture, name, work, lines, _ in of_all:
        how = ""
        if known and architecture not in known:
            continue
        if machine_code_test.judge_exact(work, architecture, lines, listed).text.startswith("FAIL"):
            how = "counts"
        if any(judge(work, line, repeats, shorter).text.startswith("FAIL")
               for (repeats, line), shorter in zip(lines.items(), [None, *lines.items()])):
            how = "bounds"
        found[name] = min(found.get(name, how), how, key=("", "counts", "bounds").index)
    assert found, f"{executable}: no kernel"
    return found


def unexpected(executable):
    """Faults that are not found by what should find them, and numbers of a page that are wrong.
    Counts have to find theirs where a toolkit with all methods is listed."""
    found, kinds = found_by_code(executable), ("", "counts", "bounds")
    listed = ("counts" in found.values()
              and len(found) == len(machine_code_test.works_of(executable, 90)))
    wrong = []
    for name, how in found.items():
        only = [kind for kind, parts in (("counts", ONLY_COUNTS), ("", ONLY_A_RUN))
                if any(f"::{part}" in name for part in parts)]
        needed = only[0] if only else "bounds"
        if kinds.index(how) < kinds.index(needed) and (listed or not only):
            wrong.append(f"{name}: found by {how or 'nothing'}")
    if executable.endswith("faulty_methods") and listed:
        numbers = [list(found.values()).count(how) for how in ("bounds", "counts", "")]
        text = ("Of {} faulty methods, the sources' bounds find {}, exact counts {} more, and only "
                "a run the other {}.".format(len(found), *numbers))
        if text not in " ".join(PAGE.read_text().split()):
            wrong.append(f"{PAGE.name} does not say: {text}")
    return wrong


def missed_patterns():
    """A pattern that takes two strengths of a fence has to be refused; a clock that is read
    directly behind a barrier, and what the disassembler leaves out, to be found."""
    work = ExpectedCode(1, 1, "missing", 1, 0, 1, r"MEMBAR\.\w+\.GPU", (), "", 32, "warp", "")
    if not judge(work, [], 1).text.startswith("FAIL"):
        yield work.instruction
    barrier = Instruction(0, "", "BAR.SYNC.DEFER_BLOCKING", "0x0", None)
    clock = Instruction(32, "", "CS2R", "R2, SR_CLOCKLO", None)
    trap = Instruction(16, "P0", "BRA", "", 64)
    if not read_too_early([barrier, clock]) or read_too_early([barrier, trap, clock]):
        yield "a clock read directly behind a barrier"
    code = machine_code.read_functions(
        ".text.f:\n /*0010*/ CALL.REL.NOINC `(g) ;\n /*0030*/ EXIT ;\n"
        ".text.g:\n /*0000*/ BPT.TRAP 0x1 ;\n /*0020*/ EXIT ;\n")["f"]
    if [i.opcode for i in code] != ["UNKNOWN", "CALL.REL.NOINC", "UNKNOWN", "EXIT"]:
        yield "what the disassembler leaves out"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    status = machine_code_test.main([sys.argv[1]])
    if status:
        return status
    try:
        missed = [*missed_patterns(), *missed_if_planted(sys.argv[1])] + [
            fault for executable in sys.argv[2:] for fault in unexpected(executable)]
    except machine_code.NoDisassembler as error:
        print(error, file=sys.stderr)
        return 77
    for fault in missed:
        print(f"the machine-code test is wrong: {fault}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
