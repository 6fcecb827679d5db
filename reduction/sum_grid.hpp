// The grids that sum an array.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>

#include "common/check.hpp"
#include "common/devices.hpp"

namespace syncbench {

inline constexpr int kSumThreads = 512;  ///< of a block

/// How many blocks of kSumThreads threads sum an array fastest, as tried on an
/// H200 with 1 to 32 blocks for each SM.
///  * Short arrays: so many that each thread makes two loads of 16 bytes, up to
///    what an SM holds at the same time.
///  * Long ones: more than that, which run in waves and so even out the SMs'
///    pace, as long as each thread has 64 loads.
class SumGrid {
 public:
  explicit SumGrid(const Gpu& gpu) : sms_(gpu.sm_count) {
    int threads = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(
        &threads, cudaDevAttrMaxThreadsPerMultiProcessor, gpu.index));
    resident_ = threads / kSumThreads;
  }

  /// For `bytes`, of a kernel after which the blocks' sums are added up: more
  /// than 16 blocks for each SM take that longer than they gain.
  int blocks(long long bytes) const { return sms_ * waves(bytes, 16); }

  /// Of a kernel without sums.
  int most_blocks(long long bytes) const { return sms_ * waves(bytes, 32); }

  /// Of a kernel whose blocks have to be there all at once, where an SM holds
  /// `fit` of them.
  int resident_blocks(long long bytes, int fit) const {
    return sms_ * std::max(1, std::min(resident(bytes), fit));
  }

 private:
  long long loads(long long bytes) const {  // of a thread, one block an SM
    return bytes / sms_ / (16 * kSumThreads);
  }
  int resident(long long bytes) const {
    return static_cast<int>(std::min<long long>(loads(bytes) / 2, resident_));
  }
  int waves(long long bytes, int most) const {
    return static_cast<int>(std::clamp<long long>(
        std::max<long long>(resident(bytes), loads(bytes) / 64), 1, most));
  }

  int sms_;
  int resident_ = 0;  // blocks that an SM holds
};

}  // namespace syncbench
