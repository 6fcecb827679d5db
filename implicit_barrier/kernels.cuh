// Kernels that do nothing, or nothing for a while.
#pragma once

#include <cuda_runtime.h>

namespace syncbench {

/// The empty kernel: what remains is the launch.
static __global__ void null_kernel() {}

/// Length of one sleep instruction; a workload is a multiple of it.
inline constexpr unsigned kSleepNs = 1000;

/// First compute capability with a sleep instruction, times 10.
inline constexpr int kSleepVersion = 70;

/// Every warp sleeps `count` times kSleepNs, one after the other. Fusing two
/// kernels of n sleeps into one of 2n runs the same instructions.
static __global__ void sleep_kernel(int count) {
#if __CUDA_ARCH__ >= 700
#pragma unroll 1
  for (int i = 0; i < count; ++i) __nanosleep(kSleepNs);
#endif
}

}  // namespace syncbench
