#include "common/bounded_wait.cuh"
#include "common/check.hpp"
#include "common/device_clock.cuh"
#include "implicit_barrier/kernels.hpp"
#include "implicit_barrier/unit_work.cuh"

namespace syncbench::implicit_barrier {
namespace {

__device__ NotedKernels noted_kernels;

__device__ void note(int units, long long cycles) {
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

// When a kernel lets the next one begin, and waits for the one before: no
// instructions where neither is to be.
template <Trigger kTrigger>
__device__ void wait_for_kernel_before() {
#if __CUDA_ARCH__ >= 900
  if (kTrigger == Trigger::kFirst || kTrigger == Trigger::kNoWait) {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  }
  if (kTrigger != Trigger::kNoWait) {
    asm volatile("griddepcontrol.wait;" ::: "memory");
  }
  if (kTrigger == Trigger::kAfterWait) {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  }
#endif
}

template <Trigger kTrigger>
__global__ void programmatic_null() {
  wait_for_kernel_before<kTrigger>();
}

template <Trigger kTrigger>
__global__ void programmatic_spin(int units, long long cycles) {
  wait_for_kernel_before<kTrigger>();
  spin_units(units, cycles);
}

template <Trigger kTrigger>
__global__ void programmatic_sleep(int units, long long sleeps) {
  wait_for_kernel_before<kTrigger>();
  sleep_units(units, sleeps);
}

template <Trigger kTrigger>
__global__ void programmatic_noting(int units, long long cycles) {
  wait_for_kernel_before<kTrigger>();
  note(units, cycles);
}

template <Trigger kTrigger>
__global__ void programmatic_link(Links links) {
  wait_for_kernel_before<kTrigger>();
  be_link(links);
}

template <Trigger kTrigger>
const UnitKernels kProgrammatic = {address_of(programmatic_null<kTrigger>),
                                   address_of(programmatic_spin<kTrigger>),
                                   address_of(programmatic_sleep<kTrigger>),
                                   address_of(programmatic_noting<kTrigger>),
                                   address_of(programmatic_link<kTrigger>)};

}  // namespace

__global__ void null_kernel() {}

__global__ void spin_kernel(int units, long long cycles) {
  spin_units(units, cycles);
}

__global__ void sleep_kernel(int units, long long sleeps) {
  sleep_units(units, sleeps);
}

__global__ void noting_kernel(int units, long long cycles) {
  note(units, cycles);
}

__global__ void link_kernel(Links links) { be_link(links); }

__global__ void hold_kernel(GateFlags* gate) {
  const bool opened =
      poll_for(kHoldLimitNs, [gate] { return gate->open != 0; });
  if (!opened) gate->expired = 1;
}

const UnitKernels& programmatic_kernels(Trigger trigger) {
  switch (trigger) {
    case Trigger::kFirst:
      return kProgrammatic<Trigger::kFirst>;
    case Trigger::kAfterWait:
      return kProgrammatic<Trigger::kAfterWait>;
    case Trigger::kNever:
      return kProgrammatic<Trigger::kNever>;
    case Trigger::kNoWait:
      return kProgrammatic<Trigger::kNoWait>;
  }
  throw std::logic_error("not a trigger");
}

void note_times_at(const NotedKernels& noted) {
  CUDA_CHECK(cudaMemcpyToSymbol(noted_kernels, &noted, sizeof noted));
  CUDA_CHECK(cudaStreamSynchronize(cudaStreamLegacy));  // it has arrived
}

}  // namespace syncbench::implicit_barrier
