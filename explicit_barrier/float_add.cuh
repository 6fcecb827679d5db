// A chain of dependent float additions: no synchronization, but an operation
// whose latency is known (4 cycles since Volta), which validates the method
// (study, section IX-D and Fig. 19).
#pragma once

#include "explicit_barrier/method.cuh"

namespace syncbench {

struct FloatAdd {
  static constexpr const char* kName = "float_add";
  static constexpr int kRepeats = 512;
  static constexpr int kTile = 32;
  __device__ FloatAdd() : addend(static_cast<float>(blockDim.x)) {}
  __device__ unsigned operator()(unsigned value) const {
    float sum = __uint_as_float(value);
    asm volatile("add.f32 %0, %0, %1;" : "+f"(sum) : "f"(addend));
    return __float_as_uint(sum);
  }
  float addend;
};

}  // namespace syncbench
