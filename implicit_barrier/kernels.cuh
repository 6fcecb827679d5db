// Kernels that do nothing, or nothing for a while. Those that last have the
// same first arguments: (int units, long long amount), what a unit is says the
// kernel.
#pragma once

#include <cuda_runtime.h>

#include "common/device_clock.cuh"

namespace syncbench {

/// The empty kernel: what remains is the launch.
static __global__ void null_kernel() {}

/// Every warp spins `units` times for `cycles` of its SM's clock, one after the
/// other: the unit of work. Two fused kernels of n units are one of 2n, the
/// same instructions.
static __global__ void spin_kernel(int units, long long cycles) {
#pragma unroll 1
  for (int i = 0; i < units; ++i) {
    const long long start = read_sm_clock();
    while (read_sm_clock() - start < cycles) {
    }
  }
}

/// Length of one sleep instruction; the study's workload is a multiple of it.
inline constexpr unsigned kSleepNs = 1000;

/// First compute capability with a sleep instruction, times 10.
inline constexpr int kSleepVersion = 70;

/// The study's unit of work: every warp sleeps `units` times `sleeps` times
/// kSleepNs. It ends on the grid of the instruction, where there is one.
static __global__ void sleep_kernel(int units, long long sleeps) {
#if __CUDA_ARCH__ >= 700
#pragma unroll 1
  for (long long i = units * sleeps; i > 0; --i) __nanosleep(kSleepNs);
#endif
}

/// Cycles that `count` sleeps of `asked_ns` take, behind one that is not timed:
/// it ends where the others begin, on the grid if there is one.
static __global__ void sleep_grid_kernel(unsigned asked_ns, int count,
                                         long long* cycles) {
#if __CUDA_ARCH__ >= 700
  __nanosleep(asked_ns);
  const long long start = read_sm_clock();
#pragma unroll 1
  for (int i = 0; i < count; ++i) __nanosleep(asked_ns);
  *cycles = read_sm_clock() - start;
#endif
}

}  // namespace syncbench
