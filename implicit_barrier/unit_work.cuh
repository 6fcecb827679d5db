// What the kernels do that launch methods launch.
#pragma once

#include "common/device_clock.cuh"
#include "implicit_barrier/kernels.hpp"

namespace syncbench::implicit_barrier {

__device__ inline void spin_units(int units, long long cycles) {
#pragma unroll 1
  for (int i = 0; i < units; ++i) {
    const long long start = read_sm_clock();
    while (read_sm_clock() - start < cycles) {
    }
  }
}

__device__ inline void sleep_units(int units, long long sleeps) {
#if __CUDA_ARCH__ >= 700
#pragma unroll 1
  for (long long i = units * sleeps; i > 0; --i) __nanosleep(kSleepNs);
#endif
}

// Words of the links are read and written past the L1 cache, whatever a block
// has read before.
__device__ inline void be_link(Links links) {
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

}  // namespace syncbench::implicit_barrier
