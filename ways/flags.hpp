// Barriers between steps of several GPUs that wait for words in memory: those
// of streams by the driver, those of kernels by polling.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "ways/several_gpus.hpp"

namespace syncbench::ways {

/// Each stream writes its step into a word of each other GPU, in host memory or
/// in that GPU's, and waits for those of the others (cuStreamBatchMemOp).
/// CannotMeasure where the driver has no such operations.
std::unique_ptr<EnqueuedBarrier> stream_flags_on_host(
    const std::vector<int>& devices);
/// All GPUs need access to each other's memory.
std::unique_ptr<EnqueuedBarrier> stream_flags_of_peers(
    const std::vector<int>& devices);

/// A kernel a GPU, which writes a word in host memory and polls those of the
/// others.
std::unique_ptr<EnqueuedBarrier> kernel_flags(const std::vector<int>& devices);

/// What these kernels meet by, in memory that all can access.
struct MeetingFlags {
  unsigned* steps;   ///< a word of each GPU, kFlagsApart from the next
  unsigned* failed;  ///< not 0: one has waited for kMeetingLimitNs
  unsigned gpus;
};
/// Words of one GPU are this far from those of the next: a line each.
inline constexpr std::size_t kFlagsApart = 64;
inline constexpr long long kMeetingLimitNs = 500000000;

/// One thread: it writes `step` as the word of GPU `here` and ends when those
/// of all are as large.
__global__ void meeting_kernel(MeetingFlags flags, unsigned here,
                               unsigned step);

}  // namespace syncbench::ways
