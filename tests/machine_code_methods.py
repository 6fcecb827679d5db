"""What the machine code of each method has to contain, and how it is judged."""
import bisect
import math
import re
from typing import NamedTuple

import machine_code_paths as paths
from machine_code import NEVER, Instruction

NOTHING = "nothing: NOP or less"
# Not free: MATCH.ANY and REDUX.OR of sm_80, for one, belong to the check.
CHECK_ONLY = "nothing: WARPSYNC only if the warp has diverged"
CONVERGENCE_CHECK = re.compile(r"BRA\.(CONV|DIV)\b")


def replace(region, instruction, **changes):
    return [i._replace(**changes) if i is instruction else i for i in region]


def insert_jump(region, before, target, opcode="BRA", guard="P0"):
    address = before.address - 1
    jump = Instruction(address, guard, opcode, "", target)
    return [j for i in region for j in ([jump, i] if i is before else [i])]


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
        # sm_70 pads with shuffles that never execute.
        return (instruction.guard not in NEVER
                and self.pattern.match(instruction.text))

    def judge(self, region, repeats):
        work = list(filter(self.works, region))
        fault = self._fault(region, work, repeats)
        return Verdict(self.name, str(len(work)), fault or "ok")

    def _fault(self, region, work, repeats):
        if any(i.guard for i in work):
            return "FAIL: under a condition"
        if any(not self.works(i) for i in paths.strays(region)):
            return "FAIL: a way out"
        if len(work) != self.paths * repeats:
            return f"FAIL: not {self.paths * repeats}"
        if paths.inside(work, paths.loops(region)):
            return "FAIL: in a loop"
        executed = paths.fewest_and_most(region, self.works)
        if executed != (repeats, repeats):
            return f"FAIL: {executed[0]} to {executed[1]} are executed"
        for branches in (False, True) if self.chain else ():
            if not paths.is_chain(region, self.works, branches):
                return "FAIL: not a chain"
        return None

    def faults(self, region, repeats):
        work = list(filter(self.works, region))
        first, last = work[0], work[-1]
        yield "lost", [i for i in region if i is not first]
        yield "doubled", [j for i in region for j in ([i, i] if i is last else [i])]
        yield "disabled", replace(region, last, guard="!PT")
        yield "doubled at times", [j for i in region for j in (
            [i, i._replace(guard="P0")] if i is last else [i])]
        yield "skipped", insert_jump(region, region[1], last.address + 1)
        yield "left", insert_jump(region, region[1], region[-1].address + 16)
        yield "left by register", insert_jump(region, region[1], None, "BRX")
        yield "looped", insert_jump(region, region[-1], first.address)
        if self.chain and repeats > 1:
            yield "unchained", replace(
                region, last, operands=re.sub(r"\bR\d+", "R254", last.operands))


def without_check_barriers(region):
    """Without the WARPSYNC by which CUDA 12.2 begins a test for convergence: its
    mask is that of the lanes that are active."""
    active = None
    kept = []
    for instruction in region:
        if instruction.opcode == "VOTE.ANY":
            active = instruction.operands.split(",")[0]
        elif (active and instruction.opcode.startswith("WARPSYNC")
              and instruction.operands == active):
            active = None
            continue
        kept.append(instruction)
    return kept


class WarpSync:
    """WARPSYNC, R times; or R NOPs, if the program's --list says so of `listed`."""

    def __init__(self, listed):
        self.listed = listed

    kinds = Exactly("WARPSYNC", r"WARPSYNC\b"), Exactly("NOP", r"NOP\b")

    def judge(self, region, repeats):
        region = without_check_barriers(region)
        sync, nothing = (kind.judge(region, repeats) for kind in self.kinds)
        if sync.count != "0" or nothing.text != "ok":
            return sync
        checks = sum(1 for i in region if CONVERGENCE_CHECK.match(i.opcode))
        return nothing._replace(text=CHECK_ONLY if checks >= repeats else NOTHING)

    @staticmethod
    def is_announced(line, kernel, architecture):
        """Whether this line of --list says that the kernel holds no barrier."""
        from_90 = "barriers only for sm_90 and less than a warp" in line
        return ("to no barrier" in line
                or from_90 and (architecture < 90 or kernel.argument == "32"))

    def faults(self, region, repeats):
        region = without_check_barriers(region)
        used = self.kinds[self.kinds[0].judge(region, repeats).count == "0"]
        return used.faults(region, repeats)


class Barrier:
    """A barrier over memory: the block gathers, arrives with a release, polls, and
    lets its threads go. What is too long to be written more than `most_in_line`
    times in a row is a loop beyond that."""

    def __init__(self, most_in_line=math.inf):
        self.most_in_line = most_in_line

    needs = (("BAR", r"BAR\.(SYNC|RED)\b", 2),
             ("ATOM|RED.GPU", r"(ATOM|RED)G?\..*STRONG\.GPU\b", 1),
             ("MEMBAR", r"MEMBAR\..*(GPU|SYS)\b", 1),
             ("polling LD", r"LDG?\..*STRONG\.(GPU|SYS)\b", 1))

    @staticmethod
    def found(region, name, pattern):
        opcodes = {opcode for opcode in {i.opcode for i in region} if re.match(pattern, opcode)}
        found = [i for i in region if i.opcode in opcodes and i.guard not in NEVER]
        if name.startswith("polling"):
            found = paths.inside(found, paths.waiting_loops(region))
        return found

    def _unrolled(self, region, repeats):
        if repeats <= self.most_in_line:
            return repeats
        arrivals = self.found(region, *self.needs[1][:2])
        return 1 if paths.is_repeated(region, arrivals, repeats) else repeats

    @staticmethod
    def _operations(region, meetings):
        """The code from the first BAR to the second of each operation."""
        addresses = [i.address for i in region]
        bounds = iter(sorted(i.address for i in meetings))
        for start, end in zip(bounds, bounds):
            yield region[bisect.bisect_left(addresses, start):bisect.bisect_right(addresses, end)]

    def _arrives_once(self, operation):
        """One arrival at most on a path, and one there is; a fence before each."""
        arrivals, fences = (self.found(operation, *need[:2]) for need in self.needs[1:3])
        if paths.fewest_and_most(operation, set(arrivals).__contains__)[1] != 1:
            return False
        return all(paths.fewest_and_most(operation[:operation.index(arrival)],
                                         set(fences).__contains__)[0] >= 1
                   for arrival in arrivals)

    def judge(self, region, repeats):
        unrolled = self._unrolled(region, repeats)
        counts = [len(self.found(region, *need[:2])) for need in self.needs]
        faults = [f"{name} not {times} or more for each of {unrolled}"
                  for count, (name, _, times) in zip(counts, self.needs)
                  if count < times * unrolled or count % unrolled]
        meetings = self.found(region, *self.needs[0][:2])
        executed = paths.fewest_and_most(region, set(meetings).__contains__)
        if executed != (2 * unrolled, 2 * unrolled):
            faults.append(f"{executed[0]} to {executed[1]} BAR are executed")
        if paths.strays(region) or any(i.guard for i in meetings):
            faults.append("a way round the barrier")
        rounds = [span for span in paths.loops(region) if paths.inside(meetings, [span])]
        if len(rounds) != (unrolled < repeats):
            faults.append(f"in {len(rounds)} loops")
        if not all(map(self._arrives_once, self._operations(region, meetings))):
            faults.append("not one arrival after a fence")
        names, total = (" + ".join(map(str, them))
                        for them in ((need[0] for need in self.needs), counts))
        total = total if unrolled == repeats else f"{repeats} x ({total})"
        return Verdict(names, total, f"FAIL: {', '.join(faults)}" if faults else "ok")

    def faults(self, region, repeats):
        unrolled = self._unrolled(region, repeats)
        for name, pattern, times in self.needs:
            lost = set(self.found(region, name, pattern)[times * unrolled - 1:])
            yield f"{name} lost", [i for i in region if i not in lost]
        first, second, last = (self.found(region, *self.needs[0][:2])[i] for i in (0, 1, -1))
        after = region[region.index(first) + 1]
        yield "no arrival", insert_jump(region, after, second.address, guard="")
        yield "looped", insert_jump(region, region[-1], first.address)
        yield "doubled", [j for i in region for j in ([i, i] if i is last else [i])]
        yield "loops lost", [i for i in region if not i.is_branch]
        yield "skipped", insert_jump(region, region[1], region[-1].address)
        yield "left", insert_jump(region, region[1], region[-1].address + 16)
        if unrolled < repeats:
            yield "other number of rounds", [i._replace(operands=i.operands.replace(
                f" {repeats:#x},", f" {2 * repeats:#x},")) for i in region]


METHODS = {
    "BlockSync": Exactly("BAR", r"BAR\.(SYNC|RED)\b"),
    "TileSync": WarpSync("tile_sync"),
    "TileShuffle": Exactly("SHFL", r"SHFL\.DOWN\b", chain=True),
    "CoalescedSync": WarpSync("coales_sync"),
    # Each operation asks whether all 32 lanes take part: then SHFL.DOWN, else a
    # search for the lane and SHFL.IDX. Every path has R shuffles, both have 2 R.
    "CoalescedShuffle": Exactly("SHFL.DOWN|IDX", r"SHFL\.(DOWN|IDX)\b", True, 2),
    "FloatAdd": Exactly("FADD", r"FADD\b", chain=True),
    "GridSync": Barrier(),
    "PeerGridSync": Barrier(most_in_line=64),
    # The barrier is in the driver's part of the library.
    **dict.fromkeys(("MultiGridSync", "MultiGridSyncNoPeer"), Exactly(
        "CALL cudaCGSynchronize", r"CALL\..*\bcudaCGSynchronize\b")),
}
