// The two kernels of a sum whose barrier is the end of the first (study, Figure
// 14), their grids, and how kernels that sum are launched.
#pragma once

#include <algorithm>
#include <type_traits>

#include "common/check.hpp"
#include "common/devices.hpp"
#include "common/full_sm.cuh"
#include "common/launch.hpp"
#include "reduction/array_sum.cuh"

namespace syncbench::reduction {

inline constexpr int kSumThreads = 512;  ///< of a block

/// How many blocks of kSumThreads threads sum an array. The numbers were chosen
/// on an H200 and may not be the best of another GPU.
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

  /// For `bytes`, of a kernel after which the blocks' sums are added up: fewer
  /// blocks, because each makes a sum to add.
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

/// partials[b]: the share of block b.
template <class T>
__global__ void __launch_bounds__(kSumThreads, 2 * kFullBlocksPerSm)
    partial_sums(const T* data, long long count, T* partials) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
  const T sum = sum_of_block(share_of_thread(data, count));
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

/// One block. A programmatic launch may start it before the kernel that writes
/// the partial sums has ended; it then waits for that end.
template <class T>
__global__ void __launch_bounds__(kSumThreads)
    sum_partials(const T* partials, int count, T* sum) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  const T total = sum_of_partials(partials, count);
  if (threadIdx.x == 0) *sum = total;
}

/// Launches `kernel` with the arguments `given`, which are of its types.
template <class... Arguments>
cudaError_t launch_sum(void (*kernel)(Arguments...), int blocks, int threads,
                       cudaStream_t stream, const LaunchAttributes& attributes,
                       std::common_type_t<Arguments>... given) {
  void* arguments[] = {&given...};
  KernelCall call;
  call.kernel = reinterpret_cast<const void*>(kernel);
  call.grid = dim3(blocks);
  call.block = dim3(threads);
  call.arguments = arguments;
  return launch(call, stream, attributes);
}

}  // namespace syncbench::reduction
