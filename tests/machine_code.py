"""Reads the machine code of built executables: kernels, instructions, paths."""
import bisect
import itertools
import math
import os
import re
import subprocess
import tempfile
from typing import NamedTuple, Optional

FINDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir,
                      "scripts", "disassembler.sh")


class NoDisassembler(Exception):
    """No disassembler for this file can be had here; str() says why."""


class Instruction(NamedTuple):
    address: int
    guard: str  # "P0", "!P0"; empty where it always executes
    opcode: str
    operands: str
    target: Optional[int]  # where a branch or a jump leads, if inside the kernel

    @property
    def is_branch(self):
        return self.opcode.startswith("BRA") and self.target is not None

    @property
    def text(self):
        return f"{self.opcode} {self.operands}".rstrip()


class Kernel(NamedTuple):
    method: str  # "TileShuffle"
    argument: str  # "16"; empty for a method that is no template
    repeats: int

    def __str__(self):
        return f"{self.method}<{self.argument}>" if self.argument else self.method


def kernel_of(symbol):
    """What syncbench::timed_kernel<Method, R> a mangled name stands for; None
    for other functions. ValueError where the name cannot be read."""
    template = re.search(r"12timed_kernelI(.*)", symbol)
    if not template:
        return None
    length = re.match(r"NS_(\d+)(.*)", template[1])
    name = length[2][:int(length[1])] if length else ""
    rest = length and re.match(r"(?:ILi(\d+)EE)?ELi(\d+)EE", length[2][len(name):])
    if rest:
        return Kernel(name, rest[1] or "", int(rest[2]))
    raise ValueError(f"not a timed_kernel<Method, R>: {symbol}")


_INSTRUCTION = re.compile(
    r"\s*/\*([0-9a-f]{4,})\*/[\s{]+(?:@(!?U?P\w+)\s+)?([A-Z][\w.]*)\s*(.*?)[\s;}]*$")
_LABEL = re.compile(r"(\S+):$")


def read_functions(listing):
    """Instructions of every function in the text of `nvdisasm -c`, by symbol."""
    functions = {}
    labels = {}
    lines, waiting = [], []  # of the function; labels of the next instruction
    for line in listing.splitlines():
        label = _LABEL.match(line)
        if label and label[1].startswith(".text."):
            lines = functions.setdefault(label[1][len(".text."):], [])
        elif label:
            waiting.append(label[1])
        found = _INSTRUCTION.match(line)
        if found:
            address = int(found[1], 16)
            labels.update((name, (id(lines), address)) for name in waiting)
            waiting = []
            lines.append((address, found[2] or "", found[3], found[4]))
    return {symbol: [_with_target(line, labels, id(lines)) for line in lines]
            for symbol, lines in functions.items()}


def _with_target(line, labels, function):
    address, guard, opcode, operands = line
    label = re.search(r"`\(([^)]*)\)", operands)
    where = labels.get(label[1]) if label else None
    inside = where is not None and where[0] == function
    return Instruction(address, guard, opcode, operands,
                       where[1] if inside else None)


def find_disassembler(executable):
    """The folder of tools that read it; ValueError where it has no machine code."""
    found = subprocess.run(["bash", FINDER, executable], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    if found.returncode == 0:
        return found.stdout.strip()
    message = found.stderr.strip() or f"{FINDER}: exit code {found.returncode}"
    if found.returncode == 1:
        raise NoDisassembler(message)
    raise ValueError(message)


def disassemble(executable):
    """{architecture: {symbol: [Instruction]}} of an executable."""
    executable = os.path.abspath(executable)
    tools = find_disassembler(executable)
    # Extracted code is disassembled much faster than by `cuobjdump -sass`, and
    # calls keep the names of what they call.
    code = {}
    with tempfile.TemporaryDirectory() as folder:
        _output([os.path.join(tools, "cuobjdump"), "-xelf", "all", executable],
                folder)
        for name in sorted(os.listdir(folder)):
            architecture = re.search(r"\.(sm_\w+)\.cubin$", name)
            if not architecture:
                raise ValueError(f"{executable}: code of no architecture: {name}")
            listing = _output([os.path.join(tools, "nvdisasm"), "-c", name], folder)
            code.setdefault(architecture[1], {}).update(read_functions(listing))
    return code


def _output(command, folder):
    result = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        raise ValueError(f"{' '.join(command)}: {result.stderr.strip()}")
    return result.stdout


def timed_region(instructions):
    """From the first to the last read of the SM clock, in address order."""
    clocks = [index for index, instruction in enumerate(instructions)
              if "SR_CLOCK" in instruction.operands]
    if len(clocks) < 2:
        return []
    return instructions[clocks[0]:clocks[-1] + 1]


def _successors(region):
    """For each instruction the indices of those that can follow it in the same
    trip; len(region) at its end, none where only another round of a loop leads there.
    The warp has converged: BRA.CONV skips the code for others, BRA.DIV ignores it."""
    addresses = [instruction.address for instruction in region]
    following = []
    for index, instruction in enumerate(region):
        after = [index + 1]
        if instruction.opcode in ("EXIT", "RET") and not instruction.guard:
            after = []
        elif instruction.is_branch and not instruction.opcode.startswith("BRA.DIV"):
            if not instruction.guard or instruction.opcode.startswith("BRA.CONV"):
                after = []
            if instruction.address < instruction.target <= addresses[-1]:
                after.append(bisect.bisect_left(addresses, instruction.target))
            elif instruction.target <= addresses[0]:
                after.append(len(region))
        following.append(after)
    return following


def fewest_and_most(region, is_work):
    """How many work instructions a trip executes, over all paths through it."""
    results = [(math.inf, -math.inf)] * len(region) + [(0, 0)]
    for index, after in reversed(list(enumerate(_successors(region)))):
        if after:
            own = bool(is_work(region[index]))
            results[index] = (own + min(results[i][0] for i in after),
                              own + max(results[i][1] for i in after))
    return results[0]


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


def is_repeated(region, work, repeats):
    """Whether one loop of `repeats` rounds holds all the work."""
    for span in loops(region):
        body = inside(region, [span])
        if (inside(work, [span]) == work
                and any(re.match(r"(VIADD|IADD3?) (R\d+), \2, 0x1\b", i.text) for i in body)
                and any(re.match(rf"ISETP.*, {repeats:#x},", i.text) for i in body)):
            return True
    return False


def _written(instruction):
    operands = [text.strip() for text in instruction.operands.split(",")]
    if re.fullmatch(r"U?P[\dT]", operands[0]):
        # Others that write a predicate first write nothing else.
        operands = operands[1:] if instruction.opcode.startswith("SHFL") else []
    if operands and re.fullmatch(r"R\d+", operands[0]):
        return operands[0], operands[1:]
    return None, operands


def is_chain(region, is_work, take_branches):
    """Whether each work instruction reads what the one before wrote, directly or
    through others, on the path that takes all branches, or none."""
    carriers = None  # registers that depend on the last work instruction
    following = _successors(region)
    index = 0
    while index < len(region):
        instruction = region[index]
        written, read = _written(instruction)
        read = set(re.findall(r"\bR\d+", " ".join(read)))
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
        index = following[index][-1 if take_branches else 0]
    return True


def replace(region, instruction, **changes):
    return [i._replace(**changes) if i is instruction else i for i in region]


def insert_branch(region, before, address, target):
    branch = Instruction(address, "P0", "BRA", "", target)
    return [j for i in region for j in ([branch, i] if i is before else [i])]
