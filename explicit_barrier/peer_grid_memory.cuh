// What peer_grid_barrier.cuh keeps on each GPU, and the scoped memory
// operations of PTX (sm_70 and later) that it is made of.
#pragma once

#include <cuda_runtime.h>

namespace syncbench {

inline constexpr int kMaxPeers = 16;  ///< GPUs of one barrier

namespace peer_grid {

inline constexpr unsigned kLap = 1u << 16;  // above the blocks of any GPU
inline constexpr unsigned kLines = 32;      // one a lane of the leader's warp

struct alignas(128) Counter {
  unsigned value;
};

/// The epoch that each GPU has announced to the owner of the line.
struct alignas(128) Announcements {
  unsigned epoch[kMaxPeers];
};

/// What one GPU holds, all zero at first. Peers write `announced`, one word of
/// each line; all else is the GPU's own.
struct Memory {
  Counter counter;           // of all blocks
  Counter counters[kLines];  // of every 32nd block
  Announcements announced[kLines];
};

__device__ inline unsigned add_acq_rel_gpu(unsigned* at, unsigned value) {
  unsigned old;
  asm volatile("atom.add.acq_rel.gpu.u32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(at), "r"(value)
               : "memory");
  return old;
}

__device__ inline void add_release_gpu(unsigned* at, unsigned value) {
  asm volatile("red.add.release.gpu.u32 [%0], %1;" ::"l"(at), "r"(value)
               : "memory");
}

__device__ inline unsigned load_relaxed_gpu(const unsigned* at) {
  unsigned value;
  asm volatile("ld.relaxed.gpu.u32 %0, [%1];"
               : "=r"(value)
               : "l"(at)
               : "memory");
  return value;
}

__device__ inline unsigned load_acquire_gpu(const unsigned* at) {
  unsigned value;
  asm volatile("ld.acquire.gpu.u32 %0, [%1];"
               : "=r"(value)
               : "l"(at)
               : "memory");
  return value;
}

__device__ inline unsigned load_acquire_sys(const unsigned* at) {
  unsigned value;
  asm volatile("ld.acquire.sys.u32 %0, [%1];"
               : "=r"(value)
               : "l"(at)
               : "memory");
  return value;
}

__device__ inline void store_relaxed_sys(unsigned* at, unsigned value) {
  asm volatile("st.relaxed.sys.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}

__device__ inline void fence_acq_rel_gpu() {
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

__device__ inline void fence_acq_rel_sys() {
  asm volatile("fence.acq_rel.sys;" ::: "memory");
}

}  // namespace peer_grid

}  // namespace syncbench
