"""Does the row of the name that was published do what the published source is compiled to?

usage: published_lock_test.py NVCC HOST_COMPILER BENCHMARKINTERSM

xiao_feng_lock, against Figure 5 of Xiao and Feng, IPDPS 2010: what it has of memory and barriers,
in this order, of every architecture in the executable. The row has one barrier more, before thread
0 arrives, and its poll may stand there twice: the first and all others. Figures with another
addition, poll or order have to differ. Exit codes: 0 the same; 1 not, or there is no such row; 77
no disassembler.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import machine_code
import machine_code_paths
import machine_code_test

FIGURE = """__device__ volatile int g_mutex;
__device__ void __gpu_sync(int goalVal) {
  int tid_in_block = threadIdx.x * blockDim.y + threadIdx.y;
  if (tid_in_block == 0) {
    atomicAdd((int*)&g_mutex, 1);
    while (g_mutex != goalVal) {
    }
  }
  __syncthreads();
}
__global__ void barriers(int rounds) {
  for (int round = 1; round <= rounds; ++round) __gpu_sync(round * gridDim.x);
}
"""
ADDITION, POLL = "atomicAdd((int*)&g_mutex, 1)", "g_mutex != goalVal"
OTHERS = {  # what the row may not do
    "an addition that answers": (ADDITION, f"goalVal += {ADDITION} == -1"),
    "an addition of 64 bits": (ADDITION, ADDITION.replace("int", "unsigned long long")),
    "polls of 64 bits": ("volatile int", "volatile long long"),
    "an addition for all GPUs": (ADDITION, ADDITION.replace("Add", "Add_system")),
    "a maximum": (ADDITION, "atomicMax((int*)&g_mutex, goalVal)"),
    "a release": (ADDITION, f"__threadfence(); {ADDITION}"),
    "an acquire": (ADDITION, f"{ADDITION}; while ({POLL}) {{}} __threadfence()"),
    "polls for one GPU": (POLL, """({ int count;
      asm volatile("ld.relaxed.gpu.global.s32 %0, [g_mutex];" : "=r"(count) :: "memory");
      count; }) != goalVal"""),
    "one look": (f"while ({POLL})", f"if ({POLL})"),
    "no look": (f"while ({POLL})", "if (false)")}
OF_MEMORY = r"LD(?!CU?\b|L\b)|ST(?!L\b)|ATOM|RED|BAR|MEMBAR|ERRBAR|CGAERRBAR|CCTL|FENCE"


def steps_of(instructions):
    """Opcodes of memory and barriers; of the same polls in a row, the first."""
    found = [i.text if i.opcode.startswith("BAR") else i.opcode for i in instructions
             if re.match(OF_MEMORY, i.opcode) and i.guard not in machine_code.NEVER]
    return [step for step, before in zip(found, [None, *found])
            if step != before or not step.startswith("LD")]


def steps_of_figure(text, compiler, host_compiler, architecture):
    with tempfile.TemporaryDirectory() as folder:
        source, code = Path(folder, "figure.cu"), Path(folder, "figure.cubin")
        source.write_text(text)
        subprocess.run([compiler, "-ccbin", host_compiler, f"-arch={architecture}", "-cubin", "-o", code,
                        source], check=True,
                       # Its own assembler, whatever stands first here.
                       env=dict(os.environ, PATH=f"{Path(compiler).parent}:{os.environ['PATH']}"))
        listing = subprocess.run([Path(machine_code.find_disassembler(), "nvdisasm"), "-c", code],
                                 check=True, stdout=subprocess.PIPE, text=True).stdout
    (_, instructions), = machine_code.read_functions(listing).items()
    return steps_of(instructions)


def main(compiler, host_compiler, executable):
    failures, judged = [], False
    for architecture, _, work, kernels, _ in machine_code_test.judged_in(executable):
        if work.method != "xiao_feng_lock":
            continue
        judged = True
        barrier, *row = steps_of(machine_code_paths.timed_region(kernels[1])[0])
        figure = steps_of_figure(FIGURE, compiler, host_compiler, architecture)
        print(architecture, "figure:", *figure, "row:", barrier, *row, sep="\t")
        if row != figure or barrier != figure[-1]:
            failures.append(f"{architecture}: xiao_feng_lock is not the published code")
        for name, change in OTHERS.items():
            if steps_of_figure(FIGURE.replace(*change), compiler, host_compiler,
                               architecture) == figure:
                failures.append(f"{architecture}: {name} is taken for the published code")
    if not judged:
        failures.append("there is no code of xiao_feng_lock")
    print(*failures, sep="\n", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    try:
        sys.exit(main(*sys.argv[1:]))
    except machine_code.NoDisassembler as error:
        print(error, file=sys.stderr)
        sys.exit(77)
