"""Does the machine code of a kernel do what its method says? The method's own statement
comes from the program's --machine-code."""
import bisect
import csv
import itertools
import re
from typing import NamedTuple

import machine_code_paths as paths
from machine_code import NEVER

SLACK = 8  # instructions by which the code round a longer line may grow
LATE_SLACK = 16  # and a quarter of the operation, by which late_kernel may


class ExpectedCode(NamedTuple):
    """A line of --machine-code, as ExpectedCode in explicit_barrier/method.cuh explains it."""
    lines: tuple  # operations in a row of its kernels
    in_line: int  # more than so many are rounds of half as many
    proof: str
    count: int
    others: int
    paths: int
    instruction: str
    also: tuple  # of (how many, instruction)
    method: str  # its name in rows
    size: int  # the first of its groups
    scope: str
    toolkit: str  # version of nvcc

    @property
    def a_round(self):
        return self.in_line // 2

    def in_code(self, repeats):
        """How many of the operations the code has."""
        return repeats if repeats <= self.in_line else self.a_round

    @property
    def waits_for_blocks(self):
        """In the kernel itself, not in a function of the library."""
        return self.scope in ("grid", "gpus") and not self.instruction.startswith("CALL")

    @classmethod
    def read(cls, text):
        """{type: ExpectedCode}"""
        rows = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
        return {row["type"]: cls._of(row) for row in rows}

    @classmethod
    def _of(cls, row):
        size = f"{int(row['size']):x}"
        also = [text.replace("SIZE", size).split(" ", 1) for text in row["also"].split(" & ") if text]
        row = {**row, "lines": map(int, row["lines"].split()),
               "instruction": row["instruction"].replace("SIZE", size),
               "also": [(int(count), instruction) for count, instruction in also]}
        return cls(*(kind(row[column]) for column, kind in cls.__annotations__.items()))


class Verdict(NamedTuple):
    instruction: str
    count: str
    text: str  # "ok", "nothing: ...", "FAIL: ..."


def counted(region):
    """Instructions that take a place in the timed region."""
    return [i for i in region if i.opcode != "NOP" and i.guard not in NEVER]


FENCES = [f"MEMBAR.{order}.{scope}" for order in ("ALL", "SC") for scope in ("CTA", "GPU", "SYS")]


def judge(work, instructions, repeats, shorter=None):
    """Of a kernel with `repeats` operations in a row; `shorter`: how many the next shorter one has,
    and its code."""
    for _, pattern in [(1, work.instruction), *work.also]:
        if len(taken := [text for text in FENCES if re.fullmatch(pattern, text)]) > 1:
            return Verdict(pattern, "-", f"FAIL: takes a stronger one too, of {', '.join(taken)}")
    if work.proof == "missing":
        return Verdict("-", "0", "FAIL: not empty" if paths.clock_reads(instructions)
                       else "not on this architecture")
    try:
        region, start = paths.timed_region(instructions)
    except paths.NotTimed as error:
        return Verdict("SR_CLOCK", "-", f"FAIL: {error}")
    if paths.masks_differ(instructions):
        return Verdict("BRA.DIV", "-", "FAIL: masks differ between lanes, other code is executed")
    verdict = PROOFS[work.proof](work, region, start, repeats)
    if work.waits_for_blocks and work.proof != "rate" and PROOFS[work.proof] not in (
            judge_barrier, judge_node, judge_turn, judge_parts):
        lacks = _lacks(region, BARRIER_NEEDS[2:], work.in_code(repeats))
        if lacks:
            return verdict._replace(text=f"FAIL: {lacks[0]}")
    clocks = len(paths.clock_reads(instructions))
    if clocks != 2 and PROOFS[work.proof] is not judge_barrier:
        return Verdict("SR_CLOCK", str(clocks), "FAIL: not 2 clock reads")
    fewer, code = shorter or (repeats, ())
    both_loops = fewer > work.in_line  # the same but for the number of rounds
    if code and (repeats <= work.in_line or both_loops) and verdict.text[:4] != "FAIL":
        added = len(counted(region)) - len(counted(paths.timed_region(code)[0]))
        allowed = 2 if both_loops else (
            (repeats - fewer) * (work.count * work.paths + work.others) + SLACK)
        if added > allowed:
            return verdict._replace(text=f"FAIL: {repeats - fewer} more operations add {added} "
                                         f"instructions, more than {allowed}")
    return verdict


BRANCHES = ("BRA", "BRX", "CALL", "BSSY", "BSYNC", "WARPSYNC")  # and where warps meet again
LOCAL = ("LDL", "STL")


def among(region, opcodes):
    return [opcode for i in region for opcode in opcodes if i.opcode.startswith(opcode)]


def between_reads(instructions, first, last):
    """What takes a place between two of the reads of the clock."""
    clocks = paths.clock_reads(instructions)
    return counted([i for i in instructions
                    if clocks[first].address < i.address < clocks[last].address])


def judge_late(instructions, one):
    """Of late_kernel; `one`: the timed kernel of one operation. Between the reads of the clock,
    by CS2R and unconditional, are the same branches as there, or fewer, and few more
    instructions; accesses of local memory only if there are some there."""
    clocks = paths.clock_reads(instructions)
    # A late warp reads it, again in a loop, and then as all others.
    waits = [span for span in paths.loops(instructions)
             if paths.inside(clocks[:3], [span]) == clocks[1:2]]
    if len(clocks) < 4 or not waits:
        return Verdict("SR_CLOCK", str(len(clocks)), "FAIL: not read behind a wait, and at the end")
    region, usual = between_reads(instructions, 2, -1), between_reads(one, 0, -1)
    faults = []
    found, expected = among(region, BRANCHES), iter(among(usual, BRANCHES))
    if not all(opcode in expected for opcode in found):
        faults.append(f"other branches: {' '.join(found)}")
    if among(region, LOCAL) and not among(usual, LOCAL):
        faults.append("a register spilled")
    if any(i.guard or i.opcode != "CS2R" for i in (clocks[2], clocks[-1])):
        faults.append("the clock not always read, or not by CS2R")
    added = len(region) - len(usual)
    fewest, most = -len(usual) // 4, LATE_SLACK + len(usual) // 4
    if not fewest <= added <= most:
        faults.append(f"{added} more instructions, not {fewest} to {most}")
    return Verdict("added", str(added), f"FAIL: {faults[0]}" if faults else "ok")


def judge_each(work, region, start, repeats):
    """The instruction `count` times an operation on every path of a trip, never in an inner
    loop; under a condition only where lanes are told apart, and no branch leads round it. In
    a chain each reads the result of the one before."""
    pattern = re.compile(work.instruction)
    # sm_70 pads with shuffles that never execute.
    found = [i for i in region if i.guard not in NEVER and pattern.fullmatch(i.text)]
    works = set(found).__contains__
    beside = [(count, text, [i for i in region if i.guard not in NEVER and re.fullmatch(text, i.text)])
              for count, text in work.also]
    every = sum((them for *_, them in beside), found)
    operations = repeats
    if repeats > work.in_line and paths.is_repeated(region, every, repeats // work.a_round):
        operations = work.a_round
    needed = work.count * operations
    wrong = [f"{len(them)} {text}, not {count * operations} on a path" for count, text, them in beside
             if not len(them) == count * operations
             == paths.fewest_and_most(region, set(them).__contains__)[1]]
    executed = paths.fewest_and_most(region, works)
    rounds = [span for span in paths.loops(region) if paths.inside(found, [span])]
    faults = (
        (work.proof not in ("lanes", "rate") and any(i.guard for i in found), "under a condition"),
        (any(not works(i) for i in paths.strays(region)), "a way out"),
        (len(found) != work.paths * needed, f"not {work.paths * needed}"),
        (any(i.address < start for i in every), "before the first clock read"),
        (len(rounds) != (operations < repeats), f"in {len(rounds)} loops"),
        (executed != (needed, needed), f"{executed[0]} to {executed[1]} are executed"),
        (work.proof == "chain" and not paths.is_chain(region, works), "not a chain"),
        (wrong, "; ".join(wrong)),
        (work.scope == "warp" and not paths.moves(region, works, operations),
         "the same place of global memory each time, no PlacesInTurn"))
    texts = [f"FAIL: {text}" for wrong, text in faults if wrong]
    return Verdict(work.instruction, str(len(found)), texts[0] if texts else "ok")


CONVERGENCE_CHECK = re.compile(r"BRA\.(CONV|DIV)\b")


def judge_nothing(work, region, start, repeats):
    """A NOP an operation where the instruction should be, or a test for convergence, which
    is not free: MATCH.ANY and REDUX.OR of sm_80, for one, belong to it. Not counted is the
    instruction by which CUDA 12.2 begins such a test: its mask is that of the active lanes.
    A single barrier is no sequence: it may be there."""
    if repeats == 1:
        single = judge_each(work, region, start, repeats)
        if single.text == "ok":
            return single
    active = None
    for i in region:
        if i.opcode == "VOTE.ANY":
            active = i.operands.split(",")[0]
        elif re.fullmatch(work.instruction, i.text) and not i.guard and i.operands != active:
            if not any(CONVERGENCE_CHECK.match(j.opcode) for j in region):
                return Verdict(work.instruction, "-", "FAIL: --machine-code says nothing is left")
    verdict = judge_each(work._replace(instruction="NOP", proof="each"), region, start, repeats)
    if verdict.text == "ok":
        checks = sum(1 for i in region if CONVERGENCE_CHECK.match(i.opcode))
        verdict = verdict._replace(text="nothing: a test for convergence each"
                                   if checks >= repeats else "nothing: NOP or less")
    return verdict


class Need(NamedTuple):
    """So many instructions that match, at least, for each operation."""
    name: str
    pattern: str
    times: int


BARRIER_NEEDS = (Need("BAR", r"BAR\.(SYNC|RED)\b", 2),
                 Need("ATOM|RED.GPU", r"(ATOM|RED)G?\..*STRONG\.GPU\b", 1),
                 Need("MEMBAR", r"MEMBAR\..*(GPU|SYS)\b", 1),
                 Need("polling LD", r"LDG?\..*STRONG\.(GPU|SYS)\b", 1))


def needs_of(work):
    """The needs of each operation of a barrier. One without order has no fence. Of messages,
    blocks do not meet, and there is a fence if the method says so."""
    meetings, arrival, fence, poll = BARRIER_NEEDS
    if work.instruction:
        arrival = Need("arrival", work.instruction, 1)
    if work.proof == "unordered" or work.proof in ("messages", "node") and not work.also:
        fence = fence._replace(times=0)
    elif work.proof == "node":
        fence = fence._replace(pattern=work.also[0][1])
    if work.proof == "messages":
        meetings = meetings._replace(times=0)
    return meetings, arrival, fence, poll


def parts_of_barrier(region, name, pattern):
    """A block's barriers but 0 are for its own use."""
    opcodes = {opcode for opcode in {i.opcode for i in region} if re.match(pattern, opcode)}
    found = [i for i in region if i.opcode in opcodes and i.guard not in NEVER
             and not (name == "BAR" and i.operands.startswith("0x1"))]
    if name.startswith("polling"):
        found = paths.inside(found, paths.waiting_loops(region))
    return found


def _lacks(region, needs, operations):
    """What there is too little of."""
    return [f"{name} not {times} or more for each of {operations}"
            for name, pattern, times in needs
            if len(parts_of_barrier(region, name, pattern)) < times * operations]


def _operations(region, meetings, first=0):
    """The code from the first BAR to the second of each operation; of those from `first` on."""
    addresses = [i.address for i in region]
    bounds = iter(sorted(i.address for i in meetings)[first:])
    for start, end in zip(bounds, bounds):
        yield region[bisect.bisect_left(addresses, start):bisect.bisect_right(addresses, end)]


def _arrives_once(operation, needs=BARRIER_NEEDS, most=1):
    """`most` arrivals at most on a path, and one there is; a fence before each; and a poll,
    which is compared with what can change."""
    _, arrival, fence, poll = needs
    polls = parts_of_barrier(operation, *poll[:2])
    if not any(paths.compares(paths.inside(operation, [span]), poll)
               for span in paths.waiting_loops(operation) for poll in polls
               if span[0] <= poll.address <= span[1]):
        return False
    arrivals, fences = (parts_of_barrier(operation, *need[:2]) for need in (arrival, fence))
    if not 1 <= paths.fewest_and_most(operation, set(arrivals).__contains__)[1] <= most:
        return False
    return all(paths.fewest_and_most(operation[:operation.index(arrival)],
                                     set(fences).__contains__)[0] >= fence.times
               for arrival in arrivals)


def _misplaced(region, meetings, start):
    """What is wrong with the places of a block's barriers."""
    return ["before the first clock read"] * any(i.address < start for i in meetings) + [
        "a way round the barrier"] * bool(paths.strays(region) or any(i.guard for i in meetings))


def judge_barrier(work, region, start, repeats):
    """A barrier over memory: the block gathers, arrives with a release, polls, and lets its
    threads go."""
    needs = needs_of(work)
    parts = [parts_of_barrier(region, *need[:2]) for need in needs]
    unrolled = repeats
    if repeats > work.in_line and paths.is_repeated(region, parts[1], repeats // work.a_round):
        unrolled = work.a_round
    faults = _lacks(region, needs, unrolled)
    meetings = parts[0]
    executed = paths.fewest_and_most(region, set(meetings).__contains__)
    if executed != (2 * unrolled, 2 * unrolled):
        faults.append(f"{executed[0]} to {executed[1]} BAR are executed")
    faults += _misplaced(region, meetings, start)
    rounds = [span for span in paths.loops(region) if paths.inside(meetings, [span])]
    if len(rounds) != (unrolled < repeats):
        faults.append(f"in {len(rounds)} loops")
    if not all(_arrives_once(operation, needs, work.count)
               for operation in _operations(region, meetings)):
        faults.append("not one arrival after a fence, and a poll for it")
    names, total = (" + ".join(map(str, them))
                    for them in ((need.name for need in needs), map(len, parts)))
    total = total if unrolled == repeats else f"{repeats // unrolled} x ({total})"
    return Verdict(names, total, f"FAIL: {', '.join(faults)}" if faults else "ok")


def judge_node(work, region, start, repeats):
    """A barrier of all blocks of several GPUs: of the grid, of the GPUs, of the grid."""
    needs = needs_of(work)
    meetings = parts_of_barrier(region, *needs[0][:2])
    faults = []
    if not paths.fewest_and_most(region, set(meetings).__contains__) == (4 * repeats,) * 2 == (
            len(meetings),) * 2:
        faults.append(f"not {4 * repeats} BAR on each path")
    faults += _misplaced(region, meetings, start)
    if any(paths.inside(meetings, [span]) for span in paths.loops(region)):
        faults.append("in a loop")
    if not all(map(_arrives_once, _operations(region, meetings))):
        faults.append("the grid: not one arrival after a fence, and a poll for it")
    of_gpus = itertools.islice(_operations(region, meetings, 1), 0, None, 2)
    if not all(_arrives_once(operation, needs) for operation in of_gpus):
        faults.append("the GPUs: not one arrival after the fence, and a poll for it")
    return Verdict("4 BAR + 3 barriers", str(repeats), f"FAIL: {', '.join(faults)}" if faults else "ok")


def judge_turn(work, region, start, repeats):
    """A semaphore: one thread polls, the block meets, it meets again, and one thread lets the
    next block go with a release. So between the second meeting of an operation and the first
    of the next there is one arrival after a fence, and a poll."""
    verdict = judge_each(work._replace(proof="each"), region, start, repeats)
    if verdict.text != "ok":
        return verdict
    lacks = _lacks(region, BARRIER_NEEDS[1:], repeats)
    if lacks:
        return verdict._replace(text=f"FAIL: {lacks[0]}")
    meetings = [i for i in region if re.fullmatch(work.instruction, i.text)]
    if not all(map(_arrives_once, _operations(region, meetings, 1))):
        return verdict._replace(text="FAIL: a turn is not waited for, or not handed over once, "
                                     "after a fence")
    return verdict


def judge_parts(work, region, start, repeats):
    """A barrier over memory, or an exchange: its parts are there."""
    lacks = _lacks(region, needs_of(work), repeats)
    names = " + ".join(need.name for need in needs_of(work) if need.times)
    return Verdict(names, str(repeats), f"FAIL: {', '.join(lacks)}" if lacks else "ok")


PROOFS = {"each": judge_each, "lanes": judge_each, "rate": judge_each, "chain": judge_each, "nothing": judge_nothing,
          "barrier": judge_barrier, "unordered": judge_barrier, "node": judge_node, "parts": judge_parts,
          "messages": judge_parts,
          "turn": judge_turn}
# Of a family the stronger one: a method claims it where its code shows it.
STRONGER = {"lanes": "each", "each": "chain", "unordered": "barrier", "parts": "barrier",
            "messages": "barrier"}


def passes_as(work, lines):
    """The stronger proof that all kernels {operations: code} pass; None if they do not."""
    stronger = STRONGER.get(work.proof)
    if stronger == "chain" and all(work.in_code(repeats) == 1 for repeats in lines):
        return None  # a single operation is always a chain
    works = work._replace(proof=stronger)
    return stronger if stronger and all(
        judge(works, code, repeats).text == "ok" for repeats, code in lines.items()) else None
