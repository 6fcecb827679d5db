// Kernels that sum values in shared memory by one thread, one warp and one
// block of 1,024 threads, by the SM's clock (study, section VII-B).
#pragma once

#include <cuda_runtime_api.h>

#include <vector>

namespace syncbench::reduction {

/// Room for the values: what a block may have on every GPU, less a partial sum
/// for each of 1,024 threads.
inline constexpr int kMostSharedBytes = 40 * 1024;
inline constexpr int kMostSharedThreads = 1024;  ///< of a block

/// What the kernels sum. Small and whole, so that all sums are exact in each of
/// the types.
__host__ __device__ constexpr int shared_value_at(unsigned index) {
  return static_cast<int>(index % 8 + 1);
}

/// The kernels for values of one type. Each sums `unsigned count` values with
/// `unsigned stride` threads.
struct SharedSumKernels {
  const char* type;  ///< as --type spells it
  int value_bytes;
  /// Figure 10, by any threads of a block. Further arguments: passes, of which
  /// one more comes before the clock is read; for a WarpRecord of each warp;
  /// for the sum of each thread, as a double.
  const void* loop;
  /// Sums by 1, 32 and 1,024 threads. Further arguments: trips; for the sum and
  /// the cycles of the last trip, as doubles.
  const void *thread, *warp, *block;
};

/// Of double, as in the study, then float and int.
std::vector<SharedSumKernels> shared_sum_kernels();

}  // namespace syncbench::reduction
