// SPDX-License-Identifier: MIT
// The machine that the barrier runs on: a thread of a GPU (sm_70 and later).
#pragma once

#include <cuda_runtime.h>

#include "peer_grid_barrier/protocol.hpp"
#include "peer_grid_barrier/scoped_memory.cuh"

namespace peer_grid {

/// Nothing happens at any step. Tests hold threads up there.
struct NoDelays {
  __device__ static void at(Step) {}
};

/// Tests derive from it and put other operations in the place of these.
template <class Delays = NoDelays>
struct BasicGpuMachine {
  static constexpr unsigned kLines = 32;  // one a lane of the leader's warp

  Failure* failure = nullptr;                  ///< of this GPU, in host memory
  unsigned wait_limit = 0;                     ///< ticks until a block gives up
  static constexpr unsigned kTick = 1u << 20;  ///< nanoseconds, about 1 ms

  __device__ static void at(Step step) { Delays::at(step); }

  __device__ static unsigned thread() { return linear(threadIdx, blockDim); }
  __device__ static unsigned block() { return linear(blockIdx, gridDim); }
  __device__ static unsigned blocks() {
    return gridDim.x * gridDim.y * gridDim.z;
  }
  /// Threads of the first warp.
  __device__ static unsigned lanes() { return __popc(warp_mask()); }

  __device__ static void sync_block() { __syncthreads(); }
  /// For the first warp.
  __device__ static void sync_warp() { __syncwarp(warp_mask()); }

  __device__ static unsigned load(const unsigned* at) {
    return generic::Gpu::load_relaxed(at);
  }

  /// The lap of a counter.
  __device__ static unsigned load_lap(const unsigned* at) {
    return load(at) / kLap;
  }

  __device__ static void add_release(unsigned* at, unsigned value) {
    generic::Gpu::add_release(at, value);
  }

  /// Adds (acquire and release); true when that completes the counter's lap.
  __device__ static bool completes(unsigned* at, unsigned value) {
    return (generic::Gpu::fetch_add_acq_rel(at, value) + value) % kLap == 0;
  }

  __device__ static void fence_gpu() { generic::Gpu::fence_acq_rel(); }

  __device__ static void fence_system() { generic::System::fence_acq_rel(); }

  __device__ static void store_system(unsigned* at, unsigned value) {
    generic::System::store_relaxed(at, value);
  }

  /// Until `done(value)` of what `at` holds, acquired at GPU scope.
  template <class Done>
  __device__ void wait_gpu(const unsigned* at, Done done, Failure why) const {
    wait([at, done] { return done(load_acquire_gpu(at)); }, why);
  }

  /// The same at system scope.
  template <class Done>
  __device__ void wait_system(const unsigned* at, Done done,
                              Failure why) const {
    wait([at, done] { return done(load_acquire_system(at)); }, why);
  }

  /// Lets the arrivals of `blocks` blocks at so many counters land before these
  /// are polled: polls that come sooner slow the arrivals, a first poll that
  /// comes later is late itself. The cycles were chosen on an H200.
  __device__ static void let_arrivals_land(unsigned blocks, unsigned counters) {
    const unsigned cycles =
        counters == 1 ? 110 + blocks * 62 / 64 : blocks * 9 / 64;
    const unsigned arrived = clock();
    while (static_cast<unsigned>(clock()) - arrived < cycles) {
    }
  }

  /// Ends the kernel with an error.
  __device__ void give_up(Failure why) const { end_kernel(failure, why); }

 protected:
  /// Until done(), or wait_limit. The clock is looked at every so many polls
  /// only, so that the limit costs nothing.
  template <class Done>
  __device__ void wait(Done done, Failure why) const {
    constexpr unsigned kPollsPerLook = 1024;
    unsigned start = 0;
    unsigned polls = 0;
    do {
      if (polls > 0) at(Step::kBetweenPolls);
      if (++polls % kPollsPerLook == 0) {
        start = look_at_clock(start, wait_limit, failure, why);
      }
    } while (!done());
  }

 private:
  // The two functions below are called, not inlined, because they are rarely
  // needed and the instruction cache is small.

  static constexpr unsigned kLate = 1;

  // Takes what the look before returned, at first 0, and returns the tick of
  // the first look, or kLate when the limit has passed. The kernel ends one
  // look later, so that a block that was suspended polls before it gives up.
  __device__ static __noinline__ unsigned look_at_clock(unsigned start,
                                                        unsigned limit,
                                                        Failure* failure,
                                                        Failure why) {
    unsigned long long nanoseconds;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
    const auto now = static_cast<unsigned>(nanoseconds / kTick);
    if (start == 0) return now == kLate ? 0 : now;
    if (start == kLate) end_kernel(failure, why);
    return now - start > limit ? kLate : start;
  }

  __device__ static __noinline__ void end_kernel(Failure* failure,
                                                 Failure why) {
    *static_cast<volatile Failure*>(failure) = why;
    __threadfence_system();
    __trap();
  }

  __device__ static unsigned load_acquire_gpu(const unsigned* at) {
    return generic::Gpu::load_acquire(at);
  }

  __device__ static unsigned load_acquire_system(const unsigned* at) {
    return generic::System::load_acquire(at);
  }

  __device__ static unsigned linear(uint3 index, dim3 size) {
    return index.x + size.x * (index.y + size.y * index.z);
  }

  __device__ static unsigned warp_mask() {
    const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    return threads >= 32 ? 0xffffffffu : (1u << threads) - 1;
  }
};

using GpuMachine = BasicGpuMachine<>;
using BarrierEnd = BasicBarrierEnd<GpuMachine>;

}  // namespace peer_grid
