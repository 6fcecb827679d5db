// What a barrier costs when one block comes late, as in most programs: from the
// last arrival until another block is out.
#pragma once

#include <utility>
#include <vector>

#include "common/interrupt.hpp"
#include "common/statistics.hpp"
#include "explicit_barrier/timed_launch.hpp"

namespace syncbench {

/// Cycles by which a block is late: until then all others are at the barrier.
inline constexpr int kLateCycles = 20000;

/// Cycles. The first and the last block are late in turn. So an operation takes
/// the wait, and then until the one that will wait next is out: all by the
/// clock of one SM. The two wait as long.
inline Summary measure_late(TimedLaunch& launch, int samples) {
  constexpr int kOperations = 64;
  std::vector<double> cycles;
  for (int i = -1; i < samples; ++i) {  // the first warms up
    check_interrupt();
    launch.run_late(kOperations, kLateCycles);
    const WarpRecord first = launch.records().front();
    if (i < 0) continue;
    cycles.push_back(static_cast<double>(first.end - 2 * first.start) /
                     kOperations);
  }
  return summarize(std::move(cycles));
}

}  // namespace syncbench
