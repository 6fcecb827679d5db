"""The multi-GPU barrier as a library: the README's example, built as a project of its
own from an install prefix and run where there is a GPU; its example for MPI compiles; the license
is with it; its memory orders are those that the model takes for granted; and the places where tests
hold threads up cost the shipped barrier nothing.

usage: barrier_library_test.py NVCC HOST_COMPILER ARCHITECTURES
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

LIBRARY = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
                       "explicit_barrier", "peer_grid_barrier")
MPI = """#pragma once
enum MPI_Datatype { MPI_BYTE };
enum MPI_Comm { MPI_COMM_WORLD };
int MPI_Allgather(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
"""
# What peer_grid_model_test takes each function of gpu_machine.cuh for.
INSTRUCTIONS = {
    "load": "ld.relaxed.gpu", "add_release": "red.release.gpu.add",
    "completes": "atom.acq_rel.gpu.add", "fence_gpu": "fence.acq_rel.gpu",
    "fence_system": "fence.acq_rel.sys", "store_system": "st.relaxed.sys",
    "load_acquire_gpu": "ld.acquire.gpu", "load_acquire_system": "ld.acquire.sys"}
KERNEL = """#include "peer_grid_barrier/barrier.cuh"
__global__ void kernel(peer_grid::BarrierEnd end, int rounds) {
  peer_grid::Barrier barrier(end);
  for (int round = 0; round < rounds; ++round) barrier.sync();
}
"""


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


class Library(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.prefix = self.path("prefix")
        run("cmake", "-S", LIBRARY, "-B", self.path("library"))
        run("cmake", "--install", self.path("library"), "--prefix", self.prefix)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, text, *names):
        os.makedirs(os.path.dirname(self.path(*names)), exist_ok=True)
        with open(self.path(*names), "w", encoding="utf-8") as file:
            file.write(text)

    def test_example_of_the_readme(self):
        readme = read(LIBRARY, "README.md")
        blocks = dict(re.findall(r"```(cmake|cuda)\n(.*?)```", readme, re.DOTALL))
        self.write(blocks["cmake"], "example", "CMakeLists.txt")
        self.write(blocks["cuda"], "example", "ring.cu")
        run("cmake", "-S", self.path("example"), "-B", self.path("build"),
            f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_CUDA_COMPILER={NVCC}",
            f"-DCMAKE_CUDA_HOST_COMPILER={HOST_COMPILER}",
            f"-DCMAKE_CXX_COMPILER={HOST_COMPILER}",
            f"-DCMAKE_CUDA_ARCHITECTURES={ARCHITECTURES}")
        run("cmake", "--build", self.path("build"))
        done = subprocess.run([self.path("build", "ring")], capture_output=True,
                              text=True, timeout=600)
        if re.search("no CUDA-capable device|driver version is insufficient|"
                     "no peer access|of different kinds|older than compute", done.stderr):
            self.skipTest("built; no GPU to run it on")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertRegex(done.stdout, r"^\d+ GPUs, 0 wrong\n$")

    def test_license(self):
        self.assertEqual(read(self.prefix, "share", "doc", "peer_grid_barrier", "LICENSE"),
                         read(LIBRARY, "..", "..", "LICENSE"))
        headers = os.path.join(self.prefix, "include", "peer_grid_barrier")
        self.assertIn("barrier.cuh", os.listdir(headers))
        for name in os.listdir(headers):
            self.assertRegex(read(headers, name), "^// SPDX-License-Identifier: MIT\n", name)

    def test_example_of_processes(self):
        example, = re.findall(r"```cpp\n(.*?)```", read(LIBRARY, "README.md"), re.DOTALL)
        self.write(MPI, "stub", "mpi.h")  # not every machine has one
        self.write(example, "processes.cu")
        run(NVCC, "-ccbin", HOST_COMPILER, "-std=c++17", "-arch=sm_80", "-c",
            f"-I{os.path.join(self.prefix, 'include')}", f"-I{self.path('stub')}",
            self.path("processes.cu"), "-o", self.path("processes.o"))

    def test_memory_orders(self):
        gpu = read(LIBRARY, "gpu_machine.cuh")
        words = read(LIBRARY, "scoped_memory.cuh")
        parts = {name: (first, last) for name, first, last in re.findall(
            r'PEER_GRID_\w+\((\w+), "([\w.]+)" scope(?: space)?(?: "([\w.]+)")?\)', words)}
        scopes = dict(re.findall(r'PEER_GRID_SCOPE\((\w+), "([\w.]+)", ""\)', words))
        found = {}
        for call in re.finditer(r"generic::(\w+)::(\w+)\(", gpu):
            function = re.findall(r"(\w+)\([^()]*\) (?:const )?\{", gpu[:call.start()])[-1]
            first, last = parts[call[2]]
            found[function] = first + scopes[call[1]] + last
        self.assertEqual(found, INSTRUCTIONS)
        self.assertEqual(re.findall(r'asm volatile\("(\w+)', gpu), ["mov"], "other instructions")
        for text in ("sync_block() { __syncthreads(); }",
                     "sync_warp() { __syncwarp(warp_mask()); }",
                     "wait([at, done] { return done(load_acquire_gpu(at)); }, why);",
                     "wait([at, done] { return done(load_acquire_system(at)); }, why);"):
            self.assertIn(text, gpu)

    def ptx(self, include):
        self.write(KERNEL, "kernel.cu")
        run(NVCC, "-ccbin", HOST_COMPILER, "-std=c++17", "-ptx", "-arch=sm_80", f"-I{include}",
            self.path("kernel.cu"), "-o", self.path("kernel.ptx"))
        return read(self.path("kernel.ptx"))

    def without(self, pattern, replacement):
        """A copy of the headers in which `pattern` is replaced; its include folder."""
        found = 0
        for name in os.listdir(os.path.join(self.prefix, "include", "peer_grid_barrier")):
            text = read(self.prefix, "include", "peer_grid_barrier", name)
            text, count = re.subn(pattern, replacement, text)
            found += count
            self.write(text, "changed", "peer_grid_barrier", name)
        self.assertGreaterEqual(found, 1)
        return self.path("changed")

    def test_steps_for_tests_cost_nothing(self):
        shipped = self.ptx(os.path.join(self.prefix, "include"))
        steps = r"(machine\.at\(Step::\w+\)|if \(polls > 0\) at\(Step::\w+\));"
        self.assertEqual(self.ptx(self.without(steps, "")), shipped)
        # The comparison can tell.
        self.assertNotEqual(self.ptx(self.without(steps, "__nanosleep(1);")), shipped)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    NVCC, HOST_COMPILER, ARCHITECTURES = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
