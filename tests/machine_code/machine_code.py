"""Reads the machine code of built executables: kernels, instructions."""
import concurrent.futures
import functools
import os
import re
import shutil
import subprocess
import tempfile
from typing import NamedTuple, Optional

# Where test.sh puts them when the toolkit has none.
FETCHED = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir,
                       "build", "fetched", "disassembler", "nvidia", "cu13", "bin")
BYTES = 16  # of an instruction, from sm_70 on
NEVER = ("!PT", "!UPT")  # guards of what is not executed
# Reads of constants (LDC) and of what a thread has put away itself (LDL) are none.
SYNCHRONIZES_OR_READS = r"BAR|ATOM|RED|LD(?!CU?\b|L\b)|UNKNOWN"


class NoDisassembler(Exception):
    """There is no disassembler here."""


class Instruction(NamedTuple):
    address: int
    guard: str  # "P0", "!P0"; empty where it always executes
    opcode: str
    operands: str
    target: Optional[int]  # where a branch or a jump leads, if inside the kernel

    @property
    def is_branch(self):
        """A call inside the kernel is how sm_80 leaves some loops."""
        return self.target is not None and self.opcode.startswith(("BRA", "CALL"))

    @property
    def is_conditional(self):
        return bool(self.guard or re.match(r"!?U?P\d", self.operands))

    @property
    def text(self):
        return f"{self.opcode} {self.operands}".rstrip()


class Kernels(NamedTuple):
    """Of a method inside a kernel: symbols of its kernels."""
    timed: dict  # {(type, repeats): symbol}: timed_kernel or timed_kernel_of_clusters
    late: dict  # {type: symbol}: late_kernel


def names_of(symbols):
    """As C++ writes them."""
    return subprocess.run(["c++filt"], input="\n".join(symbols), check=True,
                          stdout=subprocess.PIPE, text=True).stdout.splitlines()


def kernels_of(symbols):
    """Kernels of the methods among these symbols."""
    kernels = Kernels({}, {})
    for symbol, name in zip(symbols, names_of(symbols)):
        timed = re.match(r"void syncbench::(?:explicit_barrier::)?timed_kernel(?:_of_clusters)?"
                         r"<(.*), (\d+)>\(", name)
        late = re.match(r"void syncbench::(?:explicit_barrier::)?late_kernel<(.*?) ?>\(int, ", name)
        if timed:
            kernels.timed[timed[1], int(timed[2])] = symbol
        elif late:
            kernels.late[late[1]] = symbol
    return kernels


_INSTRUCTION = re.compile(
    r"\s*/\*([0-9a-f]{4,})\*/[\s{]+(?:@(!?U?P\w+)\s+)?([A-Z][\w.]*)\s*(.*?)[\s;}]*$")
_LABEL = re.compile(r"(\S+):$")
_NAMED = re.compile(r"`\(([^)]*)\)")
_IN_ASIDES = re.compile("BPT.TRAP|WARPSYNC|GLOBALTIMER")


def read_functions(listing):
    """Instructions of every function in the text of `nvdisasm -c`, by symbol; without calls
    of other functions that only look at the time, end the kernel or let a warp converge:
    they neither synchronize a block nor read memory. UNKNOWN is what the disassembler leaves
    out, as that of CUDA 11.8 does VIMNMX."""
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
            last = lines[-1][0] if lines else -BYTES
            lines += [(at, "", "UNKNOWN", "") for at in range(last + BYTES, address, BYTES)]
            lines.append((address, found[2] or "", found[3], found[4]))
    asides = {symbol for symbol in functions if _is_aside(symbol, functions)}
    return {symbol: [_with_target(line, labels, id(lines)) for line in lines
                     if asides.isdisjoint(_called(line))]
            for symbol, lines in functions.items()}


def _called(line):
    """The names of what an instruction calls, if it is a call."""
    return _NAMED.findall(line[3]) if line[2].startswith("CALL") else []


def _is_aside(symbol, functions):
    lines = [line for line in functions[symbol] if line[1] not in NEVER]
    if not any(_IN_ASIDES.search(line[2] + line[3]) for line in lines):
        return False  # most functions, and fast
    works = any(re.match(SYNCHRONIZES_OR_READS, line[2]) for line in lines)
    return not works and all(
        name not in functions or (name != symbol and _is_aside(name, functions))
        for line in lines for name in _called(line))


def _with_target(line, labels, function):
    address, guard, opcode, operands = line
    label = _NAMED.search(operands) if "`" in operands else None
    where = labels.get(label[1]) if label else None
    inside = where is not None and where[0] == function
    return Instruction(address, guard, opcode, operands,
                       where[1] if inside else None)


def find_disassembler():
    """The folder of cuobjdump and nvdisasm: on PATH, or the fetched ones. Those beside
    the nvcc that built an executable read all of it; others may be too old or too new."""
    for folder in (os.path.dirname(shutil.which("cuobjdump") or ""), FETCHED):
        if all(shutil.which(name, path=folder) for name in ("cuobjdump", "nvdisasm")):
            return folder
    raise NoDisassembler("no cuobjdump and nvdisasm on PATH, nor fetched: the machine code is "
                         "not checked; scripts/test.sh fetches both")


def extract(executable, folder):
    """(file, architecture, bytes) of each piece of code of an executable, put into a folder."""
    _output([os.path.join(find_disassembler(), "cuobjdump"), "-xelf", "all",
             os.path.abspath(executable)], folder)
    pieces = []
    for name in sorted(os.listdir(folder)):
        architecture = re.search(r"\.(sm_\w+)\.cubin$", name)
        if not architecture:
            raise ValueError(f"{executable}: code of no architecture: {name}")
        with open(os.path.join(folder, name), "rb") as file:
            pieces.append((name, architecture[1], file.read()))
    return pieces


# The names of kernels, or a CS2R of SR_CLOCKLO.
_JUDGED = re.compile(rb"(?s)(timed|null|sleep|spin)_kernel|\x05[\x08-\xf8].{7}\x50")
_read = {}  # functions by the bytes of the code: executables share most of their code


@functools.lru_cache(maxsize=None)  # it is slow
def disassemble(executable):
    """{architecture: {symbol: [Instruction]}} of an executable, without the pieces of code
    that neither name a kernel which is judged nor read the clock: those of array sums are large."""
    executable = os.path.abspath(executable)
    tools = find_disassembler()
    # Extracted code is disassembled much faster than by `cuobjdump -sass`, and
    # calls keep the names of what they call.
    code = {}
    # The disassembler is slow to start: one for each processor at a time.
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        pieces = []  # (architecture, bytes, listing where it is new)
        for name, architecture, content in extract(executable, folder):
            if not _JUDGED.search(content):
                _read[content] = {}
            command = [os.path.join(tools, "nvdisasm"), "-c", name]
            listing = None if content in _read else pool.submit(_output, command, folder)
            pieces.append((architecture, content, listing))
        for architecture, content, listing in pieces:
            if listing:
                _read[content] = read_functions(listing.result())
            code.setdefault(architecture, {}).update(_read[content])
    return code


def _output(command, folder):
    result = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        raise ValueError(f"{' '.join(command)}: {result.stderr.strip()}")
    return result.stdout
