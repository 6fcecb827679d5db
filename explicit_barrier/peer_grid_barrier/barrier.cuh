// A barrier of all threads of one kernel on each of several GPUs, over peer
// memory. It replaces the multi-grid barrier of cooperative groups, which CUDA
// 13 removed. Headers only; README.md has a whole program.
//
//   peer_grid::BarrierSet set({0, 1, 2, 3});              // once, on the host
//   const auto barriers = set.for_blocks(132);            // blocks on each GPU
//   kernel<<<cooperative, 132 blocks>>>(barriers[rank], ...);  // on each GPU
//   __global__ void kernel(peer_grid::Barrier barrier, ...) { barrier.sync(); }
//
// What a program has to see to:
//  * Every block has to be resident (cooperative launch), and the kernels of
//    all GPUs have to run at the same time: launch them from one host thread a
//    GPU, or from one thread where no launch can wait for a kernel.
//  * A kernel's first launch on a GPU may load code, which waits for other
//  GPUs:
//    launch it once on each without a sync() before they run together, or set
//    CUDA_MODULE_LOADING=EAGER.
//  * Every block calls sync() the same number of times, with all its threads.
//  * The number of blocks is the same on all GPUs. It may change between
//    launches, and so may the shape of the blocks; nothing is reset.
//  * A set serves one kernel a GPU at a time.
// A block that waits longer than the set's limit ends its kernel with an error;
// BarrierSet::failure() says which block waited for what.
#pragma once

#include <cuda_runtime.h>

#include "peer_grid_barrier/gpu_machine.cuh"
#include "peer_grid_barrier/protocol.hpp"

namespace peer_grid {

/// One GPU's end of the barrier: a kernel argument, passed by value. `Machine`
/// is GpuMachine, or a test's that is derived from it.
template <class Machine>
class BasicBarrier {
 public:
  BasicBarrier() = default;  // of no set, to be assigned to
  BasicBarrier(const End<Machine::kLines>& end, const Machine& machine)
      : protocol_(end), machine_(machine) {}

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

#include "peer_grid_barrier/barrier_set.hpp"
