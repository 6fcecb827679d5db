// SPDX-License-Identifier: MIT
// The scoped memory operations of PTX (sm_70 and later) on words that other
// threads use at the same time: `global::Gpu::load_acquire(at)` is
// ld.acquire.gpu.global. The namespace says where the word may be: `generic`
// anywhere, `global` in global memory alone, where other instructions are
// compiled. The struct is the scope: for whom the operation is made. Words have
// 4 or 8 bytes.
#pragma once

#include <cuda_runtime.h>

namespace peer_grid {

// Functions of both words; `instruction` is all but the type.
#define PEER_GRID_LOAD(function, instruction)               \
  __device__ static unsigned function(const unsigned* at) { \
    unsigned value;                                         \
    asm volatile(instruction ".u32 %0, [%1];"               \
                 : "=r"(value)                              \
                 : "l"(at)                                  \
                 : "memory");                               \
    return value;                                           \
  }                                                         \
  __device__ static unsigned long long function(            \
      const unsigned long long* at) {                       \
    unsigned long long value;                               \
    asm volatile(instruction ".u64 %0, [%1];"               \
                 : "=l"(value)                              \
                 : "l"(at)                                  \
                 : "memory");                               \
    return value;                                           \
  }
#define PEER_GRID_STORE(function, instruction)                      \
  __device__ static void function(unsigned* at, unsigned value) {   \
    asm volatile(instruction ".u32 [%0], %1;" ::"l"(at), "r"(value) \
                 : "memory");                                       \
  }                                                                 \
  __device__ static void function(unsigned long long* at,           \
                                  unsigned long long value) {       \
    asm volatile(instruction ".u64 [%0], %1;" ::"l"(at), "l"(value) \
                 : "memory");                                       \
  }
// Returns the value before.
#define PEER_GRID_ADD(function, instruction)                          \
  __device__ static unsigned function(unsigned* at, unsigned value) { \
    unsigned old;                                                     \
    asm volatile(instruction ".u32 %0, [%1], %2;"                     \
                 : "=r"(old)                                          \
                 : "l"(at), "r"(value)                                \
                 : "memory");                                         \
    return old;                                                       \
  }
// Stores `value` where `expected` is; returns what was there.
#define PEER_GRID_SWAP(function, instruction)                          \
  __device__ static unsigned function(unsigned* at, unsigned expected, \
                                      unsigned value) {                \
    unsigned old;                                                      \
    asm volatile(instruction ".b32 %0, [%1], %2, %3;"                  \
                 : "=r"(old)                                           \
                 : "l"(at), "r"(expected), "r"(value)                  \
                 : "memory");                                          \
    return old;                                                        \
  }
#define PEER_GRID_FENCE(function, instruction)  \
  __device__ static void function() {           \
    asm volatile(instruction ";" ::: "memory"); \
  }
#define PEER_GRID_SCOPE(Scope, scope, space)                            \
  struct Scope {                                                        \
    PEER_GRID_LOAD(load_relaxed, "ld.relaxed" scope space)              \
    PEER_GRID_LOAD(load_acquire, "ld.acquire" scope space)              \
    PEER_GRID_STORE(store_relaxed, "st.relaxed" scope space)            \
    PEER_GRID_STORE(store_release, "st.release" scope space)            \
    PEER_GRID_STORE(add_relaxed, "red.relaxed" scope space ".add")      \
    PEER_GRID_STORE(add_release, "red.release" scope space ".add")      \
    PEER_GRID_ADD(fetch_add_relaxed, "atom.relaxed" scope space ".add") \
    PEER_GRID_ADD(fetch_add_acq_rel, "atom.acq_rel" scope space ".add") \
    PEER_GRID_SWAP(swap_relaxed, "atom.relaxed" scope space ".cas")     \
    PEER_GRID_SWAP(swap_acq_rel, "atom.acq_rel" scope space ".cas")     \
    PEER_GRID_FENCE(fence_acq_rel, "fence.acq_rel" scope)               \
    PEER_GRID_FENCE(fence_sc, "fence.sc" scope)                         \
  };

namespace generic {
PEER_GRID_SCOPE(Gpu, ".gpu", "")
PEER_GRID_SCOPE(System, ".sys", "")
}  // namespace generic

namespace global {
PEER_GRID_SCOPE(Block, ".cta", ".global")
PEER_GRID_SCOPE(Cluster, ".cluster", ".global")
PEER_GRID_SCOPE(Gpu, ".gpu", ".global")
PEER_GRID_SCOPE(System, ".sys", ".global")
}  // namespace global

#undef PEER_GRID_LOAD
#undef PEER_GRID_STORE
#undef PEER_GRID_ADD
#undef PEER_GRID_SWAP
#undef PEER_GRID_FENCE
#undef PEER_GRID_SCOPE

}  // namespace peer_grid
