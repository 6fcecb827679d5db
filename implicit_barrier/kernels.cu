#include "common/bounded_wait.cuh"
#include "common/check.hpp"
#include "common/device_clock.cuh"
#include "implicit_barrier/kernels.hpp"
#include "implicit_barrier/unit_work.cuh"

namespace syncbench::implicit_barrier {
namespace {

__device__ NotedKernels noted_kernels;

template <class Before>
__global__ void noting_kernel(int units, long long cycles) {
  Before::begin();
  const long long first = read_sm_clock();
  long long begin = 0;
  if (threadIdx.x == 0 && blockIdx.x == 0) begin = read_global_timer();
  unsigned number = 0;
  if (threadIdx.x == 0) number = noted_kernels.counts[blockIdx.x];
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
    noted_kernels.counts[blockIdx.x] = number + 1;
    noted_kernels.times[number * gridDim.x + blockIdx.x] = {
        begin, read_global_timer()};
  }
  while (read_sm_clock() - start < cycles) {
  }
}

template <class Before>
UnitKernels all_kernels() {
  return kernels_behind<Before>(address_of(noting_kernel<Before>));
}

}  // namespace

__global__ void hold_kernel(GateFlags* gate) {
  const bool opened =
      poll_for(kHoldLimitNs, [gate] { return gate->open != 0; });
  if (!opened) gate->expired = 1;
}

const UnitKernels& unit_kernels() {
  static const UnitKernels kernels = all_kernels<Plain>();
  return kernels;
}

const UnitKernels& programmatic_kernels(Trigger trigger) {
  static const UnitKernels kernels[] = {
      // in the order of Trigger
      all_kernels<Programmatic<Trigger::kFirst>>(),
      all_kernels<Programmatic<Trigger::kAfterWait>>(),
      all_kernels<Programmatic<Trigger::kNever>>(),
      all_kernels<Programmatic<Trigger::kNoWait>>()};
  return kernels[static_cast<int>(trigger)];
}

void note_times_at(const NotedKernels& noted) {
  CUDA_CHECK(cudaMemcpyToSymbol(noted_kernels, &noted, sizeof noted));
  CUDA_CHECK(cudaStreamSynchronize(cudaStreamLegacy));  // it has arrived
}

}  // namespace syncbench::implicit_barrier
