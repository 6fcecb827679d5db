// Clocks of the GPU, read on it.
#pragma once

#include <cuda_runtime.h>

namespace syncbench {

/// Cycles of the SM that runs the caller. Volatile and a barrier for the
/// compiler, so that it stays where it is written.
__device__ inline long long read_sm_clock() {
  long long cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  return cycles;
}

/// Warps run on behind a block's barrier, BAR.SYNC.DEFER_BLOCKING, before it
/// ends; so would a read of the clock. They wait at this conditional trap.
/// `none` is not negative.
__device__ inline void wait_for_deferred(int none) {
  asm volatile(
      "{\n .reg .pred p;\n setp.lt.s32 p, %0, 0;\n @p trap;\n}" ::"r"(none));
}

/// Nanoseconds of the GPU's global timer, whose tick may be coarse.
__device__ inline long long read_global_timer() {
  long long nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds)::"memory");
  return nanoseconds;
}

/// Number of the SM that runs the caller.
__device__ inline unsigned read_sm_id() {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  return sm;
}

}  // namespace syncbench
