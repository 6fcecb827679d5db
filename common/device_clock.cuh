// Clocks on the GPU: cycles of one SM, and the rate of that clock.
#pragma once

#include <cuda_runtime.h>

#include "common/check.hpp"
#include "common/cuda_resources.hpp"

namespace syncbench {

/// Cycles of the SM that runs the caller. Volatile and a barrier for the
/// compiler, so that it stays where it is written.
__device__ inline long long read_sm_clock() {
  long long cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  return cycles;
}

/// Nanoseconds of the GPU's global timer; its tick may be as coarse as 1 us.
__device__ inline long long read_global_timer() {
  long long nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds)::"memory");
  return nanoseconds;
}

/// Number of the SM that runs the caller.
__device__ inline unsigned read_sm_id() {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  return sm;
}

/// Spins from one tick of the global timer to the first one at least
/// `duration_ns` later; result[0] gets the cycles, result[1] the nanoseconds.
static __global__ void clock_rate_kernel(long long duration_ns,
                                         long long* result) {
  const long long before = read_global_timer();
  long long first = before;
  while (first == before) first = read_global_timer();
  const long long start = read_sm_clock();
  long long last = first;
  while (last < first + duration_ns) last = read_global_timer();
  result[0] = read_sm_clock() - start;
  result[1] = last - first;
}

/// Measures the SM clock of one GPU. A probe keeps the GPU busy for 0.2 ms.
class SmClockProbe {
 public:
  explicit SmClockProbe(int device)
      : device_(device), result_(device, 2), stream_(device) {}

  /// SM clock in MHz, seen on the device just now.
  double read_mhz() {
    const DeviceGuard guard(device_);
    clock_rate_kernel<<<1, 1, 0, stream_.get()>>>(kDurationNs, result_.get());
    CUDA_CHECK(cudaGetLastError());
    long long result[2];
    CUDA_CHECK(cudaMemcpyAsync(result, result_.get(), sizeof result,
                               cudaMemcpyDeviceToHost, stream_.get()));
    CUDA_CHECK(cudaStreamSynchronize(stream_.get()));
    return 1e3 * static_cast<double>(result[0]) /
           static_cast<double>(result[1]);
  }

 private:
  // 200 us against two reads of about 20 ns each: a few parts in 10,000, and
  // independent of how coarse the timer's tick is.
  static constexpr long long kDurationNs = 200000;

  int device_;
  DeviceBuffer<long long> result_;
  Stream stream_;
};

}  // namespace syncbench
