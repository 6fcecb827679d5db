// What the threads of a grid do to sum an array: each its share, then those of
// a block by shuffles. The two kernels of a sum whose barrier is the end of the
// first (study, Figure 14), grids, and how kernels that sum are launched.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "common/check.hpp"
#include "common/devices.hpp"
#include "common/full_sm.cuh"
#include "common/launch.hpp"

namespace syncbench::reduction {

/// Loads of 16 bytes that a thread has in flight, to hide the memory's latency.
inline constexpr int kLoadsInFlight = 4;

/// What one load brings.
template <class T>
struct alignas(16) Packet {
  static constexpr int kSize = 16 / sizeof(T);
  T values[kSize];
};

/// Calls `take(packet)` for the share of thread number `thread` of `threads` in
/// `count` packets, and for zeros behind them. Not unrolled further: what the
/// compiler does for that takes longer than a short array.
template <class T, class Take>
__device__ __forceinline__ void for_each_packet(const Packet<T>* packets,
                                                long long count,
                                                long long thread,
                                                long long threads, Take take) {
#pragma unroll 1
  for (long long i = thread; i < count; i += kLoadsInFlight * threads) {
    Packet<T> batch[kLoadsInFlight] = {};
#pragma unroll
    for (int k = 0; k < kLoadsInFlight; ++k) {
      if (i + k * threads < count) batch[k] = packets[i + k * threads];
    }
#pragma unroll
    for (int k = 0; k < kLoadsInFlight; ++k) take(batch[k]);
  }
}

/// The number of the calling thread in its grid, and how many there are.
__device__ inline long long thread_of_grid() {
  return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline long long threads_of_grid() {
  return static_cast<long long>(gridDim.x) * blockDim.x;
}

/// The share of the calling thread in the sum of `count` elements at `data`,
/// which may begin and end between two packets.
template <class T>
__device__ __forceinline__ T share_of_thread(const T* data, long long count) {
  constexpr int kSize = Packet<T>::kSize;
  const int misaligned =
      static_cast<int>(reinterpret_cast<std::uintptr_t>(data) % 16 / sizeof(T));
  const long long head = min(misaligned == 0 ? 0LL : kSize - misaligned, count);
  const long long packets = (count - head) / kSize;
  const long long body_end = head + packets * kSize;
  const long long thread = thread_of_grid();
  T sums[kSize] = {};
  for_each_packet(reinterpret_cast<const Packet<T>*>(data + head), packets,
                  thread, threads_of_grid(), [&](const Packet<T>& packet) {
                    for (int j = 0; j < kSize; ++j) sums[j] += packet.values[j];
                  });
  if (thread < head) sums[0] += data[thread];
  if (thread < count - body_end) sums[0] += data[body_end + thread];
#pragma unroll
  for (int half = kSize / 2; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) sums[j] += sums[j + half];
  }
  return sums[0];
}

/// The sum of the values of a whole warp, in its lane 0.
template <class T>
__device__ __forceinline__ T sum_of_warp(T value) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    value += __shfl_down_sync(0xffffffffu, value, lanes);
  }
  return value;
}

/// The sum of the values of all threads of a block of whole warps, in thread 0.
/// Its shared memory may be used again behind the next barrier of the block.
template <class T>
__device__ T sum_of_block(T value) {
  __shared__ T of_warp[32];
  value = sum_of_warp(value);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x >= 32) return value;
  value = threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : T(0);
  return sum_of_warp(value);
}

/// The sum of `count` partial sums by one block, in its thread 0. Another block
/// may have written them just before.
template <class T>
__device__ T sum_of_partials(const T* partials, int count) {
  T sum = 0;
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    sum += __ldcg(partials + i);
  }
  return sum_of_block(sum);
}

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
