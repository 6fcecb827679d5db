// SPDX-License-Identifier: MIT
// A barrier of all threads of one kernel on each of several GPUs, over peer
// memory. It replaces the multi-grid barrier of cooperative groups, which CUDA
// 13 removed. Headers for .cu files; README.md has a whole program.
//
//   peer_grid::BarrierSet set({0, 1, 2, 3});      // once, on the host
//   const auto ends = set.for_blocks(132);        // blocks on each GPU
//   kernel<<<cooperative, 132>>>(ends.at(rank));  // on each GPU
//
//   __global__ void kernel(peer_grid::BarrierEnd end) {
//     peer_grid::Barrier barrier(end);
//     barrier.sync();
//   }
//
// What a program has to see to:
//  * Every block has to be resident (cooperative launch), and the kernels of
//    all GPUs have to run at the same time: launch them from one host thread a
//    GPU, or from one thread where no launch can wait for a kernel.
//  * A kernel's first launch on a GPU may load code, for which the driver waits
//    for the other GPUs. Launch it once on each GPU without a sync() before
//    they run together, or set CUDA_MODULE_LOADING=EAGER.
//  * A thread makes one Barrier for the whole kernel, best at its start, and
//    hands it on by reference. Every block calls sync() the same number of
//    times, with all its threads. In a programmatic launch make it behind
//    griddepcontrol.wait.
//  * The number of blocks is the same on all GPUs. It may change between
//    launches, and so may the shape of the blocks; nothing is reset.
//  * Each GPU's kernel gets the end of its own rank: ends.at(i) on devices[i].
//    Nothing notices another.
//  * A set serves one kernel a GPU at a time. Where sets share GPUs, each GPU
//    runs their kernels in the same order: launch them in that order, in one
//    stream a GPU. Two streams promise neither an order nor room for both, and
//    kernels can then wait for each other until the limit ends them.
//  * Who waits for a GPU waits for the work that is queued there before the
//    kernel, too. The set's limit has to be longer than that takes.
//  * Destroying a set, or assigning to it, waits for all work of its GPUs. That
//    work must not wait for the thread that does so.
// A block that waits longer than the set's limit ends its kernel with an error;
// BarrierSet::failure() says which GPU waited for what.
#pragma once

#include <cuda_runtime.h>

#include "peer_grid_barrier/barrier_set.cuh"
#include "peer_grid_barrier/gpu_machine.cuh"
#include "peer_grid_barrier/protocol.hpp"

namespace peer_grid {

/// A thread's barrier. It counts, so that a copy would be left behind.
/// `Machine` is GpuMachine, or a test's.
template <class Machine>
class BasicBarrier {
 public:
  using End = BasicBarrierEnd<Machine>;  ///< what its kernel is given

  __device__ explicit BasicBarrier(const End& end)
      : protocol_(end.end), machine_(end.machine) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
    if (machine_.thread() < 32) protocol_.learn(machine_);
#endif
  }
  BasicBarrier(const BasicBarrier&) = delete;
  BasicBarrier& operator=(const BasicBarrier&) = delete;

  /// The barrier. Called by all threads of all blocks on all GPUs of the set.
  __device__ void sync() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
    __trap();  // the set refuses such GPUs: they lack scoped memory order
#else
    protocol_.sync(machine_);
#endif
  }

 private:
  Protocol<Machine> protocol_;
  Machine machine_;
};

using Barrier = BasicBarrier<GpuMachine>;

}  // namespace peer_grid
