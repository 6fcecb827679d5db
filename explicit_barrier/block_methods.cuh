// Barriers of one thread block (study, section V-B).
#pragma once

#include "explicit_barrier/method.cuh"

namespace syncbench {

/// __syncthreads(): all threads of the block.
struct BlockSync {
  static constexpr const char* kName = "blocksync";
  static constexpr int kRepeats = 64;
  static constexpr int kThroughputRepeats = 8192;
  static constexpr int kTile = 32;
  __device__ unsigned operator()(unsigned value) const {
    __syncthreads();
    return value;
  }
};

using BlockMethods = MethodList<BlockSync>;

}  // namespace syncbench
