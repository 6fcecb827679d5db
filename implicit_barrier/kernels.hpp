// Empty kernels, and kernels that last. C++ sources launch them by address.
#pragma once

#include <cuda_runtime.h>

namespace syncbench::implicit_barrier {

/// Length of one sleep instruction; the study's workload is a multiple of it.
inline constexpr unsigned kSleepNs = 1000;

/// First compute capability with a sleep instruction, times 10.
inline constexpr int kSleepVersion = 70;

/// In host memory, seen by all GPUs.
struct GateFlags {
  volatile unsigned open;
  volatile unsigned expired;
};

/// How long a held stream waits to be let go: far longer than queueing takes.
inline constexpr long long kHoldLimitNs = 500000000;

/// Ends when `gate` is open.
__global__ void hold_kernel(GateFlags* gate);

/// A record is written so long before a spin ends, so that no store delays the
/// kernel's end. The noted end is too early by that.
inline constexpr long long kRecordLeadCycles = 2000;

/// When a block's first thread began and was about to end, by its GPU's timer.
/// `begin` is 0 but in the first block, which begins first.
struct BlockTimes {
  long long begin;
  long long end;
};

/// Where noting kernels write, on each GPU: block b of the n-th kernel since
/// its counts were set to 0 at times[n * blocks + b].
struct NotedKernels {
  BlockTimes* times;
  unsigned* counts;  ///< of each block
};
void note_times_at(const NotedKernels& noted);

/// Shows the order of a series of kernels: each block reads what another block,
/// on any GPU, wrote in the kernel before; of all in turn.
struct Links {
  unsigned* words;   ///< two for each block, 0 at first
  unsigned* counts;  ///< of each block: the kernels so far
  unsigned* wrong;   ///< of each block: words that are not of the kernel before
  unsigned first;    ///< of the blocks of this kernel
  unsigned blocks;   ///< of all kernels that meet
};

/// One block of each link writes so late.
inline constexpr long long kLinkDelayCycles = 5000;

/// The kernels that sections launch. A launch method may have its own, which do
/// the same for the same arguments.
struct UnitKernels {
  const void* null;  ///< empty: what remains is the launch
  /// (int units, long long cycles): every warp spins `units` times for `cycles`
  /// of its SM's clock, one after the other: the unit of work. Two fused
  /// kernels of n units are one of 2n, the same instructions.
  const void* spin;
  /// (int units, long long sleeps): the study's unit of work, every warp sleeps
  /// `units` times `sleeps` times kSleepNs. It ends on the grid of the
  /// instruction, where there is one.
  const void* sleep;
  /// Spins as `spin` and notes its times. Without a spin it ends by writing.
  const void* noting;
  const void* link;  ///< (Links)
};
using UnitKernel = const void* UnitKernels::*;

const UnitKernels& unit_kernels();

/// When a kernel lets the next one begin: before it waits for the one before,
/// after that, when it ends, or at once without any wait (a control, which
/// orders nothing).
enum class Trigger { kFirst, kAfterWait, kNever, kNoWait };

/// The kernels above, for programmatic launches.
const UnitKernels& programmatic_kernels(Trigger trigger);

}  // namespace syncbench::implicit_barrier
