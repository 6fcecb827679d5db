// A step of a chain of dependent steps.
#pragma once

#include "common/bounded_wait.cuh"
#include "implicit_barrier/steps.hpp"
#include "implicit_barrier/unit_work.cuh"

namespace syncbench::implicit_barrier {

__device__ inline unsigned other_block() {
  return (blockIdx.x + gridDim.x / 2) % gridDim.x;
}

// `polls`: the word that is read says itself that it is there.
__device__ inline void do_step(const StepData& data, int step, bool polls) {
  const unsigned blocks = gridDim.x;
  unsigned seen = 0;
  if (data.reads) {
    const volatile unsigned* word = &data.words[step * blocks + other_block()];
    seen = *word;
    for (unsigned i = 0; polls && seen == 0 && i < kMostPolls; ++i) {
      seen = *word;
    }
  }
  spin_units(1, data.cycles);
  if (data.late > 0 && step % blocks == blockIdx.x) spin_units(1, data.late);
  if (!data.reads) return;
  __syncthreads();
  if (threadIdx.x == 0) {
    volatile unsigned* words = data.words;
    words[(step + 1) * blocks + blockIdx.x] = seen + 1;
  }
}

/// One step, whose number it is given.
template <class Before>
__global__ void step_kernel(StepData data, int step) {
  Before::begin();
  do_step(data, step, false);
}

}  // namespace syncbench::implicit_barrier
