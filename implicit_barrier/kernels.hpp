// Kernels that do nothing, or nothing for a while. Those that last have the
// same first arguments: (int units, long long amount), what a unit is says the
// kernel. C++ sources launch them by their addresses.
#pragma once

#include <cuda_runtime.h>

#include "implicit_barrier/noted_times.hpp"

namespace syncbench {

/// The empty kernel: what remains is the launch.
__global__ void null_kernel();

/// Every warp spins `units` times for `cycles` of its SM's clock, one after the
/// other: the unit of work. Two fused kernels of n units are one of 2n, the
/// same instructions.
__global__ void spin_kernel(int units, long long cycles);

/// Length of one sleep instruction; the study's workload is a multiple of it.
inline constexpr unsigned kSleepNs = 1000;

/// First compute capability with a sleep instruction, times 10.
inline constexpr int kSleepVersion = 70;

/// The study's unit of work: every warp sleeps `units` times `sleeps` times
/// kSleepNs. It ends on the grid of the instruction, where there is one.
__global__ void sleep_kernel(int units, long long sleeps);

/// Cycles that `count` sleeps of `asked_ns` take, behind one that is not timed:
/// it ends where the others begin, on the grid if there is one.
__global__ void sleep_grid_kernel(unsigned asked_ns, int count,
                                  long long* cycles);

/// In host memory, seen by all GPUs.
struct GateFlags {
  volatile unsigned open;
  volatile unsigned expired;
};

/// How long a held stream waits to be let go: far longer than queueing takes.
inline constexpr long long kHoldLimitNs = 500000000;

/// Ends when the gate is open.
__global__ void hold_kernel(GateFlags* gate);

/// The record is written so many cycles before the end of a spin: nothing is on
/// its way when the kernel ends. The end noted is short by them.
inline constexpr long long kRecordLeadCycles = 2000;

/// Spins as spin_kernel and notes its times. Without a spin it ends by writing.
__global__ void noting_kernel(int units, long long cycles, int number);

/// The kernels that sections launch. A launch method may have its own, which do
/// the same for the same arguments.
struct UnitKernels {
  const void *null, *spin, *sleep, *noting;
};
using UnitKernel = const void* UnitKernels::*;

inline const UnitKernels kUnitKernels = {
    reinterpret_cast<const void*>(null_kernel),
    reinterpret_cast<const void*>(spin_kernel),
    reinterpret_cast<const void*>(sleep_kernel),
    reinterpret_cast<const void*>(noting_kernel)};

/// The blocks of noting_kernel n on the current GPU write to
/// times[n * blocks + block].
cudaError_t note_times_at(BlockTimes* times);

}  // namespace syncbench
