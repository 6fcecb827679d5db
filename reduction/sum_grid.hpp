// The grids that sum an array.
#pragma once

#include <algorithm>

namespace syncbench {

inline constexpr int kSumThreads = 512;      ///< of a block
inline constexpr int kResidentBlocks = 4;    ///< that an SM of 2,048 holds
inline constexpr int kMostBlocksPerSm = 16;  ///< of a grid that runs in waves

/// Blocks of kSumThreads, for each SM, that sum `bytes` fastest on an H200: one
/// for every two loads of 16 bytes a thread while they are all resident, then
/// more in waves, which even out the SMs' pace, with at least 64 loads each.
/// `most`: kResidentBlocks where all have to be there at the same time.
inline int sum_blocks_per_sm(long long bytes, int sm_count, int most) {
  const long long loads = bytes / sm_count / (16 * kSumThreads);
  const long long resident = std::min<long long>(loads / 2, kResidentBlocks);
  return static_cast<int>(
      std::clamp<long long>(std::max(resident, loads / 64), 1, most));
}

}  // namespace syncbench
