// What kernels note of themselves, and what follows from it. Host code.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace syncbench::implicit_barrier {

/// When a block's first thread began and was about to end, by its GPU's timer.
/// `begin` is 0 but in the first block, which begins first.
struct BlockTimes {
  long long begin;
  long long end;
};

/// Nanoseconds by the timer of a GPU; means where there are several kernels.
struct NotedTimes {
  double length;  ///< of a kernel, from its begin to the end of its first block
  double period;  ///< from the begin of a kernel to that of the next noted one
  double gap;     ///< from the end of its last block to the begin of that one
};

/// Throws where the timer read `later` after it had read `earlier`, or 0.
inline void check_noted(long long earlier, long long later) {
  if (0 < earlier && earlier <= later) return;
  throw std::runtime_error("a kernel noted " + std::to_string(later) +
                           " ns by the GPU's timer after " +
                           std::to_string(earlier) + ", which cannot be");
}

/// From times[kernel * blocks + block]; a block ends `lead_ns` after its
/// record. Of one kernel, period and gap are nan. Throws where the times cannot
/// be.
inline NotedTimes summarize_times(const std::vector<BlockTimes>& times,
                                  int kernels, int blocks, double lead_ns) {
  double gaps = 0, lengths = 0;
  for (int kernel = 0; kernel < kernels; ++kernel) {
    const BlockTimes* noted = &times[static_cast<std::size_t>(kernel) * blocks];
    check_noted(noted[0].begin, noted[0].end);
    lengths += static_cast<double>(noted[0].end - noted[0].begin) + lead_ns;
    if (kernel + 1 == kernels) break;
    check_noted(noted[0].begin, noted[blocks].begin);
    long long end = 0;
    for (int i = 0; i < blocks; ++i) end = std::max(end, noted[i].end);
    gaps += static_cast<double>(noted[blocks].begin - end) - lead_ns;
  }
  const double steps = kernels - 1;
  const BlockTimes& last =
      times[static_cast<std::size_t>(kernels - 1) * blocks];
  const long long begins = last.begin - times[0].begin;
  return {lengths / kernels, static_cast<double>(begins) / steps, gaps / steps};
}

}  // namespace syncbench::implicit_barrier
