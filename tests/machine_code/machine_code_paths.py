"""Paths through the code that a kernel times: what is executed, how often."""
import bisect
import collections
import functools
import itertools
import math
import operator
import re

from machine_code import NEVER, SYNCHRONIZES_OR_READS


class NotTimed(Exception):
    """The clock is not read where it should be."""


def clock_reads(instructions):
    """Instructions that read the SM clock."""
    return [i for i in instructions if "SR_CLOCK" in i.operands]


def read_too_early(instructions):
    """Reads of the clock directly behind a barrier of the block that warps run on behind before
    it ends: what looks at memory or branches waits for it."""
    barrier, found = None, []
    for i in instructions:
        if re.match(r"BAR\.\S*DEFER", i.opcode):
            barrier = i
        elif re.match(r"BRA|BPT|CALL|EXIT|RET|LD(?!C)|ST|ATOM|RED|SHFL", i.opcode):
            barrier = None
        elif barrier and "SR_CLOCK" in i.operands:
            found.append(i)
    return found


def timed_region(instructions):
    """The loop of trips, from its head to the last read of the SM clock, in address order;
    without the branches that end in a trap, then there is no row, those to more polls of the
    same kind, and calls of functions that neither synchronize nor read. And the address of the first read, in that
    loop."""
    clocks = [i.address for i in clock_reads(instructions)]
    if len(clocks) < 2:
        raise NotTimed(f"{len(clocks)} clock reads")
    traps = {i.address for i in instructions if i.opcode.startswith("BPT.TRAP")}
    first, last = clocks[0], clocks[-1]  # a barrier may read it too, to wait
    heads = [i.target for i in instructions
             if i.is_branch and i.target <= first < i.address <= last]
    if not heads:
        raise NotTimed("no loop of trips round the first clock read, ended by the last")
    aside = traps | _asides(instructions, last) | _polls_behind(instructions, last)
    return [i for i in instructions if min(heads) <= i.address <= last
            and not (i.is_branch and i.target in aside)], first


def _asides(instructions, last):
    """Where the functions begin that lie behind the kernel and only look at the time or
    end it: neither they nor the functions behind them synchronize or read memory."""
    called = sorted({i.target for i in instructions
                     if i.opcode.startswith("CALL") and i.target and i.target > last})
    return {begin for begin in called if not any(
        re.match(SYNCHRONIZES_OR_READS, i.opcode) for i in instructions if i.address >= begin)}


def _polls_behind(instructions, last):
    """Where polls of an mbarrier begin that lie behind the kernel, for those who have
    polled once in vain: nothing but such polls, what an acquire forgets, and the way back to
    where they came from."""
    found = set()
    addresses = [i.address for i in instructions]
    for branch, following in zip(instructions, instructions[1:]):
        if not branch.target or branch.target <= last or not branch.is_branch:
            continue
        begin = bisect.bisect_left(addresses, branch.target)
        polls = list(itertools.takewhile(
            lambda i: i.opcode.startswith(("SYNCS.PHASECHK", "YIELD", "CCTL.IVALL", "VOTEU.ANY"))
            or (i.is_branch and i.is_conditional and branch.target <= i.target <= i.address),
            itertools.islice(instructions, begin, None)))
        back = instructions[begin + len(polls):begin + len(polls) + 1]
        if polls and back and not back[0].guard and back[0].is_branch and (
                back[0].target == following.address):
            found.add(branch.target)
    return found


def _successors(region):
    """For each instruction the indices of those that can follow it in the same
    trip; len(region) at its end, none where only another round of a loop leads there.
    The warp has converged: BRA.CONV skips the code for others, BRA.DIV ignores it."""
    addresses = [instruction.address for instruction in region]
    leading = {opcode for opcode in {i.opcode for i in region}
               if opcode.startswith(("BRA", "CALL", "EXIT", "RET"))}
    following = []
    for index, instruction in enumerate(region):
        after = [index + 1]
        following.append(after)
        opcode = instruction.opcode
        if opcode not in leading:
            continue
        if opcode in ("EXIT", "RET") and not instruction.guard:
            after.clear()
        elif (instruction.is_branch and instruction.guard not in NEVER
              and not opcode.startswith("BRA.DIV")):
            if not instruction.is_conditional or opcode.startswith("BRA.CONV"):
                after.clear()
            if instruction.address < instruction.target <= addresses[-1]:
                after.append(bisect.bisect_left(addresses, instruction.target))
            elif instruction.target <= addresses[0]:
                after.append(len(region))
    return following


def strays(region):
    """Jumps and ends that a converged warp meets and that lead out of the trip, or
    nobody knows where: the region does not say what is executed then."""
    reached, following = {0}, _successors(region)
    for index, after in enumerate(following):  # no successor comes before its index
        if index in reached:
            reached.update(after)
    return [i for index, i in enumerate(region) if index in reached
            and i.guard not in NEVER and not i.opcode.startswith("BRA.DIV")
            and i.opcode.startswith(("BRA", "BRX", "JM", "CALL", "RET", "EXIT"))
            and (not i.is_branch or i.target > region[-1].address)]


def fewest_and_most(region, is_work):
    """How many work instructions a trip executes, over all paths through it."""
    fewest = [math.inf] * len(region) + [0]
    most = [-math.inf] * len(region) + [0]
    following = _successors(region)
    for index in range(len(region) - 1, -1, -1):
        after = following[index]
        if after:
            own = bool(is_work(region[index]))
            # One successor, or two: straight on and where a branch leads.
            one, other = after[0], after[-1]
            fewest[index] = own + min(fewest[one], fewest[other])
            most[index] = own + max(most[one], most[other])
    return fewest[0], most[0]


def loops(region):
    """(first, last) address of each loop inside the region; not the trip round
    the region itself."""
    return [(i.target, i.address) for i in region
            if i.is_branch and region[0].address < i.target <= i.address]


def inside(instructions, spans):
    """Those of the instructions that lie in one of the address spans."""
    spans = sorted(spans)
    starts = [first for first, _ in spans]
    ends = [0, *itertools.accumulate((last for _, last in spans), max)]
    return [i for i in instructions
            if i.address <= ends[bisect.bisect_right(starts, i.address)]]


def waiting_loops(region):
    """Loops in which a thread waits for other blocks: its own does not meet."""
    meetings = [i.address for i in region if i.opcode.startswith("BAR.")]
    return [(first, last) for first, last in loops(region)
            if bisect.bisect_left(meetings, first) == bisect.bisect_right(meetings, last)]


def masks_differ(instructions):
    """Whether the lanes' masks decide if a warp leaves for code behind the kernel: R2UR finds
    whether all have the same."""
    equal = set()  # predicates that say so
    for i in instructions:
        if i.opcode.startswith(("BRA.DIV", "BRA.CONV")) and i.guard.lstrip("!") in equal:
            return True
        first = i.operands.split(",")[0]
        if i.opcode == "R2UR":
            equal.add(first)
        else:
            equal.discard(first)
    return False


def compares(loop, poll):
    """Whether a loop compares what it polls with a register or a constant of the launch, not
    with numbers in the code alone."""
    first = _written(poll)
    polled = {first, f"R{int(first[1:]) + 1}"} if ".64" in poll.opcode else {first}
    for i in loop[loop.index(poll) + 1:]:
        written = _written(i)
        read = _REGISTER.findall(i.operands)
        if written:
            read.remove(written)
        if not polled.intersection(read) or i.opcode.startswith(("LD", "ST", "ATOM", "RED")):
            polled.discard(written)
        elif polled.issuperset(read):
            polled.add(written)
        else:
            return True
    return False


def moves(region, works, operations):
    """Whether each operation works in another place of global memory than the one before."""
    changes = collections.Counter()  # of each register
    places = []
    for i in region:
        if works(i) and re.match(r"(ATOMG?|REDG?|STG|LDG|LDGSTS)\b", i.opcode):
            places.append([(place, [changes[name] for name in _REGISTER.findall(place)])
                           for place in re.findall(r"(?<!desc)\[(U?R\d[^]]*)\]", i.operands)])
        changes[_written(i)] += 1
    each = len(places) // operations
    return not each or all(map(operator.ne, places, places[each:]))


def is_repeated(region, work, repeats):
    """Whether one loop of `repeats` rounds holds all the work: a register that
    grows by 1, a uniform one in CUDA 12.4, is compared with `repeats`, or a copy of it, made
    before, with one less."""
    for span in loops(region):
        body = inside(region, [span])
        last = set()  # (register, what it is compared with in the last round)
        for i in body:
            grown = re.match(r"(?:VIADD|U?IADD3?) (U?R\d+), (?:UPT, UPT, |PT, PT, )?\1, 0x1\b",
                             i.text)
            copied = re.match(r"(?:IMAD\.U32|MOV|IMAD\.MOV\.U32) (R\d+), (?:RZ, RZ, )?(UR\d+)$",
                              i.text)
            if copied:
                last.add((copied[1], repeats - 1))
            if grown:
                last.add((grown[1], repeats))
        if inside(work, [span]) == work and any(
                (found[1], int(found[2], 16)) in last for i in body
                if (found := re.match(r"U?ISETP.*, (U?R\d+), (0x[0-9a-f]+),", i.text))):
            return True
    return False


_REGISTER = re.compile(r"\b(U?R\d+|c\[\w+\])")


def _written(instruction):
    """The first register that it writes, a uniform one too."""
    found = re.match(r"(?:U?P\w+, )*(U?R\d+)", instruction.operands)
    only_reads = re.match(r"U?[IFD]SETP|R2P|BRA", instruction.opcode)
    return found[1] if found and not only_reads else None


@functools.lru_cache(maxsize=None)  # operations in a row repeat the same few
def _registers(opcode, operands):
    """Which one is written, and which are read."""
    operands = [text.strip() for text in operands.split(",")]
    if re.fullmatch(r"U?P[\dT]", operands[0]):
        # Others that write a predicate first write nothing else.
        operands = operands[1:] if opcode.startswith(("SHFL", "ATOM")) else []
    written = None
    if operands and re.fullmatch(r"R\d+", operands[0]):
        written, *operands = operands
    return written, frozenset(re.findall(r"\bR\d+", " ".join(operands)))


def is_chain(region, is_work):
    """Whether each work instruction reads what the one before wrote, directly or
    through others, on the path that takes all branches, and on that which takes none."""
    following = _successors(region)
    return all(_is_chain(region, is_work, following, taken) for taken in (0, -1))


def _is_chain(region, is_work, following, taken):
    carriers = None  # registers that depend on the last work instruction
    index = 0
    while index < len(region):
        instruction = region[index]
        written, read = _registers(instruction.opcode, instruction.operands)
        if is_work(instruction):
            if carriers is not None and not carriers & read:
                return False
            carriers = {written}
        elif carriers and written:
            if carriers & read:
                carriers.add(written)
            elif not instruction.guard:
                carriers.discard(written)
        if not following[index]:
            break
        index = following[index][taken]
    return True
