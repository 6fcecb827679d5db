// How long each SM was at work on a launch, by its own clock.
#pragma once

#include "explicit_barrier/methods.hpp"

namespace syncbench {

inline constexpr int kSmSlots = 1024;  ///< more than any GPU's SM numbers

/// From the first warp to enter to the last to leave, for one SM; unused SMs
/// have end == 0.
struct SmWindow {
  unsigned long long start;
  unsigned long long end;
};

/// Merges `count` warp records into one window an SM, windows[SM number], both
/// in the current GPU's memory; in its default stream.
void merge_windows(const WarpRecord* records, unsigned count,
                   SmWindow* windows);

}  // namespace syncbench
