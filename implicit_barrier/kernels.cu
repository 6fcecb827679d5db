#include "common/device_clock.cuh"
#include "implicit_barrier/kernels.hpp"

namespace syncbench {

static __device__ BlockTimes* noted_times;

__global__ void null_kernel() {}

__global__ void spin_kernel(int units, long long cycles) {
#pragma unroll 1
  for (int i = 0; i < units; ++i) {
    const long long start = read_sm_clock();
    while (read_sm_clock() - start < cycles) {
    }
  }
}

__global__ void sleep_kernel(int units, long long sleeps) {
#if __CUDA_ARCH__ >= 700
#pragma unroll 1
  for (long long i = units * sleeps; i > 0; --i) __nanosleep(kSleepNs);
#endif
}

__global__ void sleep_grid_kernel(unsigned asked_ns, int count,
                                  long long* cycles) {
#if __CUDA_ARCH__ >= 700
  __nanosleep(asked_ns);
  const long long start = read_sm_clock();
#pragma unroll 1
  for (int i = 0; i < count; ++i) __nanosleep(asked_ns);
  *cycles = read_sm_clock() - start;
#endif
}

__global__ void hold_kernel(GateFlags* gate) {
  const long long start = read_global_timer();
  while (gate->open == 0) {
    if (read_global_timer() - start > kHoldLimitNs) {
      gate->expired = 1;
      return;
    }
  }
}

__global__ void noting_kernel(int units, long long cycles, int number) {
  const long long first = read_sm_clock();
  long long begin = 0;
  if (threadIdx.x == 0 && blockIdx.x == 0) begin = read_global_timer();
  long long start = first;
#pragma unroll 1
  for (int i = 1; i < units; ++i) {
    while (read_sm_clock() - start < cycles) {
    }
    start = read_sm_clock();
  }
  while (read_sm_clock() - start < cycles - kRecordLeadCycles) {
  }
  if (threadIdx.x == 0) {
    noted_times[number * gridDim.x + blockIdx.x] = {begin, read_global_timer()};
  }
  while (read_sm_clock() - start < cycles) {
  }
}

cudaError_t note_times_at(BlockTimes* times) {
  return cudaMemcpyToSymbol(noted_times, &times, sizeof times);
}

}  // namespace syncbench
