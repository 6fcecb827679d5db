// What the kernels do that launch methods launch, each behind what a kind of
// launch needs first: Before::begin().
#pragma once

#include "common/device_clock.cuh"
#include "implicit_barrier/kernels.hpp"

namespace syncbench::implicit_barrier {

/// Of launches that need nothing.
struct Plain {
  static __device__ void begin() {}
};

/// Of programmatic launches: waits for the kernel before and lets the next one
/// begin. No instructions where neither is to be.
template <Trigger kTrigger>
struct Programmatic {
  static __device__ void begin() {
#if __CUDA_ARCH__ >= 900
    if (kTrigger == Trigger::kFirst || kTrigger == Trigger::kNoWait) {
      asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    }
    if (kTrigger != Trigger::kNoWait) {
      asm volatile("griddepcontrol.wait;" ::: "memory");
    }
    if (kTrigger == Trigger::kAfterWait) {
      asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    }
#endif
  }
};

__device__ inline void spin_units(int units, long long cycles) {
#pragma unroll 1
  for (int i = 0; i < units; ++i) {
    const long long start = read_sm_clock();
    while (read_sm_clock() - start < cycles) {
    }
  }
}

template <class Before>
__global__ void null_kernel() {
  Before::begin();
}

template <class Before>
__global__ void spin_kernel(int units, long long cycles) {
  Before::begin();
  spin_units(units, cycles);
}

template <class Before>
__global__ void sleep_kernel(int units, long long sleeps) {
  Before::begin();
#if __CUDA_ARCH__ >= 700
#pragma unroll 1
  for (long long i = units * sleeps; i > 0; --i) __nanosleep(kSleepNs);
#endif
}

// Words of the links are read and written past the L1 cache, whatever a block
// has read before.
template <class Before>
__global__ void link_kernel(Links links) {
  Before::begin();
  if (threadIdx.x != 0) return;
  const unsigned block = links.first + blockIdx.x;
  volatile unsigned* count = &links.counts[block];
  volatile unsigned* words = links.words;
  const unsigned number = *count;
  const unsigned others = max(links.blocks - 1, 1u);
  const unsigned other = (block + 1 + number % others) % links.blocks;
  if (words[(number % 2) * links.blocks + other] != number) {
    ++links.wrong[block];
  }
  if (number % links.blocks == block) spin_units(1, kLinkDelayCycles);
  words[((number + 1) % 2) * links.blocks + block] = number + 1;
  *count = number + 1;
}

template <class... Arguments>
const void* address_of(void (*kernel)(Arguments...)) {
  return reinterpret_cast<const void*>(kernel);
}

/// `noting`: as in UnitKernels.
template <class Before>
UnitKernels kernels_behind(const void* noting) {
  return {address_of(null_kernel<Before>), address_of(spin_kernel<Before>),
          address_of(sleep_kernel<Before>), noting,
          address_of(link_kernel<Before>)};
}

}  // namespace syncbench::implicit_barrier
