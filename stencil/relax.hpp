// What a time step makes of one cell, where a field begins, and how two fields
// are compared: the same functions on the host and on GPUs.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace syncbench::stencil {

/// A cell of the next step (by Jacobi's method, damped) from itself and its
/// neighbors: before and behind it in its row, in the layers before and after.
/// The weights are powers of two, so products are exact: whether a compiler
/// fuses them with a sum changes no bit. Sums are in the order written here.
__host__ __device__ inline float relaxed(float here, float left, float right,
                                         float before, float after) {
  return 0.5f * here + 0.125f * ((left + right) + (before + after));
}

/// The same in three dimensions, with the neighbors in the rows of its layer.
__host__ __device__ inline float relaxed(float here, float left, float right,
                                         float above, float below, float before,
                                         float after) {
  return 0.25f * here +
         0.125f * (((left + right) + (above + below)) + (before + after));
}

/// Spreads the bits of a number (splitmix64's finalizer; Steele et al. 2014).
__host__ __device__ inline std::uint64_t spread(std::uint64_t bits) {
  bits += 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

/// The value of the cell `index` before the first step: from 0 to below 1. The
/// layer before the first one that is computed begins with index 0.
__host__ __device__ inline float first_value(std::uint64_t index) {
  return static_cast<float>(spread(index) >> 40) * 0x1p-24f;
}

/// What the cell adds to the digest of a field (modulo 2^64). Fields with the
/// same digest are taken to be the same bit for bit.
__host__ __device__ inline std::uint64_t digest_of(std::uint64_t index,
                                                   std::uint32_t bits) {
  return spread(index * 0xd1342543de82ef95 + bits);
}

}  // namespace syncbench::stencil
