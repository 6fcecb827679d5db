"""The multi-GPU barrier on host threads: ThreadSanitizer sees no race in it, and sees one
wherever a memory order is weakened. The orders are those of the GPU's instructions.

usage: barrier_threads_test.py EXECUTABLE, barrier_threads
"""
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARY = os.path.join(ROOT, "explicit_barrier", "peer_grid_barrier")
HOST = os.path.join(ROOT, "tests", "barrier", "barrier_threads.cpp")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def compare_orders():
    """Each function has the same order on GPUs and here; returns how many there are."""
    gpu = read(os.path.join(LIBRARY, "gpu_machine.cuh"))
    words = read(os.path.join(LIBRARY, "scoped_memory.cuh"))
    parts = {name: (first, last) for name, first, last in re.findall(
        r'PEER_GRID_\w+\((\w+), "([\w.]+)" scope(?: space)?(?: "([\w.]+)")?\)', words)}
    scopes = dict(re.findall(r'PEER_GRID_SCOPE\((\w+), "([\w.]+)", ""\)', words))
    on_gpu = {}
    for found in re.finditer(r"generic::(\w+)::(\w+)\(", gpu):
        function = re.findall(r"(\w+)\([^()]*\) (?:const )?\{", gpu[:found.start()])[-1]
        first, last = parts[found[2]]
        on_gpu[function] = first + scopes[found[1]] + last
    assert re.findall(r'asm volatile\("(\w+)', gpu) == ["mov"], "other instructions"
    orders = read(HOST).split("struct Shipped {")[1].split("};")[0]
    here = {}
    for function, order, instruction in re.findall(
            r"int (\w+) =\s+__ATOMIC_(\w+);\s+// (\w+\.[\w.]+)", orders):
        assert f".{order.lower()}." in instruction, (function, order, instruction)
        here[function] = instruction
    assert here == on_gpu, (here, on_gpu)
    for text in ("sync_block() { __syncthreads(); }",
                 "sync_warp() { __syncwarp(warp_mask()); }",
                 "wait([at, done] { return done(load_acquire_gpu(at)); }, why);",
                 "wait([at, done] { return done(load_acquire_system(at)); }, why);"):
        assert text in gpu, text
    return len(here)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(f"{compare_orders()} instructions have the same order here")
    command = [sys.argv[1]]

    def run(*arguments):
        # The names in a report take time, and nobody reads those that are expected.
        options = f"halt_on_error=1 exitcode=66 symbolize={0 if arguments else 1}"
        return subprocess.run([*command, *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=600,
                              check=False,
                              env=dict(os.environ, TSAN_OPTIONS=options))

    done = run("--list")
    if "FATAL: ThreadSanitizer" in done.stdout:  # addresses too random for it
        command = ["setarch", "-R", sys.argv[1]]
        try:
            done = run("--list")
        except OSError as error:
            done.stdout = str(error)
    if done.returncode == 77:
        print(done.stdout.strip())
        return 77
    if done.returncode != 0:
        print("skipped: ThreadSanitizer does not run here: " + " ".join(done.stdout.split()))
        return 77
    weakened = done.stdout.splitlines()
    assert len(weakened) >= 4, weakened
    done = run()
    assert done.returncode == 0, done.stdout
    print(done.stdout.strip() + ", 0 races")
    unseen = []
    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(run, weakened))
    for name, done in zip(weakened, runs):
        if done.returncode != 66 or "ThreadSanitizer: data race" not in done.stdout:
            unseen.append(f"{name}: exit code {done.returncode}\n{done.stdout}")
    print(f"weakened orders: {len(weakened) - len(unseen)} of {len(weakened)} seen")
    assert not unseen, "\n".join(unseen)
    return 0


if __name__ == "__main__":
    sys.exit(main())
