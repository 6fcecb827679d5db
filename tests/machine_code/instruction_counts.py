"""How many instructions of each kind has an operation of each method?

usage: instruction_counts.py EXECUTABLE ARCHITECTURE OPCODE... >TABLE

OPCODE: as MEMBAR, which counts MEMBAR.SC.GPU too. stdout: for each method what twice as many
operations add, without polls behind the kernel; all paths count.
"""
import sys

import machine_code
import machine_code_paths
from machine_code_test import works_of


def counts(executable, architecture, opcodes):
    """(method, how many of each opcode)"""
    functions = machine_code.disassemble(executable)[f"sm_{architecture}"]
    kernels = machine_code.kernels_of(functions).timed
    for name, work in works_of(executable, architecture).items():
        in_line = min(2, work.in_line)
        regions = [machine_code_paths.timed_region(functions[kernels[name, number]])[0]
                   for number in (in_line // 2, in_line) if number]
        added = [[sum(i.opcode.split(".")[0] == opcode and i.guard not in machine_code.NEVER
                      for i in region) for opcode in opcodes] for region in regions]
        yield work.method, [more - fewer for fewer, more in zip(added[0], added[-1])]


def main(executable, architecture, *opcodes):
    print("method", *opcodes, sep="\t")
    for method, found in dict(counts(executable, int(architecture), opcodes)).items():
        print(method, *found, sep="\t")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
