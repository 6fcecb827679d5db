// Sums of values in shared memory by one thread, one warp and one block of
// 1,024 threads, timed by the SM's clock (study, section VII-B).
#pragma once

#include <string>
#include <vector>

#include "common/cuda_resources.hpp"
#include "explicit_barrier/method_entry.hpp"

namespace syncbench::reduction {

using explicit_barrier::WarpRecord;

/// Room for the values: what a block may have on every GPU, less a partial sum
/// for each of 1,024 threads.
inline constexpr int kMostSharedBytes = 40 * 1024;

/// The kernels for values of one type.
struct SharedSumKernels {
  const char* type;  ///< as --type spells it
  int value_bytes;
  const void* loop;                   ///< Figure 10, by any threads of a block
  const void *thread, *warp, *block;  ///< sums by 1, 32 and 1,024 threads
};

/// Of double, as in the study, then float and int.
std::vector<SharedSumKernels> shared_sum_kernels();

/// Runs the kernels of one type on one GPU, the current one. Every sum is
/// compared with the right one; std::runtime_error where they differ.
class SharedSums {
 public:
  SharedSums(const SharedSumKernels& kernels, int device);

  const char* type() const { return kernels_.type; }
  int value_bytes() const { return kernels_.value_bytes; }

  /// Cycles in which `threads` threads add up `bytes` of values `passes` times,
  /// each thread its own share: from the first warp to begin to the last to
  /// end, after one pass more.
  double loop_cycles(int threads, int bytes, int passes);

  /// Cycles from a barrier, when the values are there, until thread 0 has
  /// stored their sum, by its clock; the last of four sums.
  double sum_cycles(int threads, int bytes);

 private:
  void launch(const void* kernel, int threads, void** arguments);
  void check(double sum, int threads, int bytes, int times) const;

  SharedSumKernels kernels_;
  Stream stream_;
  DeviceBuffer<WarpRecord> records_;
  DeviceBuffer<double> sums_;    // of each thread
  DeviceBuffer<double> result_;  // the sum, and the cycles that it took
};

}  // namespace syncbench::reduction
