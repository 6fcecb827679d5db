// The one kernel that times any in-kernel method.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

#include "common/check.hpp"
#include "common/device_clock.cuh"
#include "explicit_barrier/method.cuh"

namespace syncbench {

/// What a warp saw: SM clock before its first timed operation and after its
/// last, and the SM it ran on.
struct WarpRecord {
  long long start;
  long long end;
  unsigned sm;
};

/// Cycles from the last warp to enter to the first to leave, for the warps of
/// one block.
inline double latency_window(const std::vector<WarpRecord>& records) {
  long long last_start = records[0].start;
  long long first_end = records[0].end;
  for (const WarpRecord& record : records) {
    last_start = std::max(last_start, record.start);
    first_end = std::min(first_end, record.end);
  }
  return static_cast<double>(first_end - last_start);
}

/// Mean over the warps of the cycles from first to last, each by the clock of
/// its own SM.
inline double mean_own_time(const std::vector<WarpRecord>& records) {
  double sum = 0;
  for (const WarpRecord& record : records) {
    sum += static_cast<double>(record.end - record.start);
  }
  return sum / static_cast<double>(records.size());
}

#if defined(__CUDA_ARCH__) &&                                                \
    (__CUDA_ARCH__ == 600 || __CUDA_ARCH__ == 700 || __CUDA_ARCH__ == 800 || \
     __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000 || __CUDA_ARCH__ == 1030)
inline constexpr int kFullBlocksPerSm = 2;  // SMs of 2,048 threads
#else
inline constexpr int kFullBlocksPerSm = 1;
#endif

/// kRepeats (a power of two) operations, one after the other without a loop;
/// beyond kMostInLine a loop with one operation a trip.
template <int kRepeats, class Method>
__device__ __forceinline__ unsigned repeat(Method& method, unsigned value) {
  static_assert(kRepeats > 0 && (kRepeats & (kRepeats - 1)) == 0);
  if constexpr (kRepeats == 1) {
    return method(value);
  } else if constexpr (kRepeats > kMostInLine<Method>) {
#pragma unroll 1
    for (int i = 0; i < kRepeats; ++i) value = method(value);
    return value;
  } else {  // halves: #pragma unroll gives up on what becomes long
    value = repeat<kRepeats / 2>(method, value);
    return repeat<kRepeats / 2>(method, value);
  }
}

/// Makes `trips` >= 1 trips round the body of kRepeats operations and records
/// the clock before trip `first_timed` and after the last one. Trips that are
/// not timed bring the body into the instruction cache.
template <class Method, int kRepeats>
__device__ __forceinline__ unsigned time_trips(
    const MethodParameter<Method>& parameter, int trips, int first_timed,
    unsigned value, WarpRecord& record) {
  Method method = make_method<Method>(parameter);
#pragma unroll 1
  for (int trip = 0; trip < trips; ++trip) {
    asm volatile("" : "+r"(trip));  // else the loop may be split at first_timed
    if (trip == first_timed) record.start = read_sm_clock();
    value = repeat<kRepeats>(method, value);
  }
  record.end = read_sm_clock();
  return value;
}

/// Writes one record a warp of the grid. In methods that use it, only the first
/// `active_lanes` (1..32) of each warp take part. `sink` is written by no
/// launch, but the compiler cannot know, so every result stays alive.
template <class Method, int kRepeats>
__global__ void __launch_bounds__(1024, kFullBlocksPerSm)
    timed_kernel(int trips, int first_timed, unsigned active_lanes,
                 WarpRecord* records, unsigned* sink,
                 MethodParameter<Method> parameter) {
  const unsigned lane = threadIdx.x % 32;
  // Differs between lanes and is unknown to the compiler.
  unsigned value = threadIdx.x + active_lanes;
  WarpRecord record = {};
  if constexpr (kUsesActiveLanes<Method>) {
    if (lane < active_lanes) {
      value = time_trips<Method, kRepeats>(parameter, trips, first_timed, value,
                                           record);
    }
  } else {
    value = time_trips<Method, kRepeats>(parameter, trips, first_timed, value,
                                         record);
  }
  if (value == 0xffffffffu) *sink = value;
  if (lane == 0) {
    const unsigned warps_per_block = (blockDim.x + 31) / 32;
    record.sm = read_sm_id();
    records[blockIdx.x * warps_per_block + threadIdx.x / 32] = record;
  }
}

/// Most blocks of `threads` threads of a method's kernel that one SM of the
/// current GPU holds at once.
template <class Method, int kRepeats = Method::kRepeats>
int blocks_that_fit(int threads) {
  int blocks = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, timed_kernel<Method, kRepeats>, threads, 0));
  return blocks;
}

}  // namespace syncbench
