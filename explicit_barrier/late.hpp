// What a barrier takes of whom comes last, by SM clocks.
#pragma once

#include <utility>
#include <vector>

#include "common/interrupt.hpp"
#include "common/statistics.hpp"
#include "explicit_barrier/timed_launch.hpp"

namespace syncbench {

/// Cycles from the last arrival until another warp is out, the mean of the
/// operations of a launch.
inline Summary measure_late(TimedLaunch& launch, int samples) {
  constexpr int kOperations = 16;
  std::vector<double> cycles;
  launch.run_late(kOperations);  // warms up
  for (int i = 0; i < samples; ++i) {
    check_interrupt();
    cycles.push_back(launch.run_late(kOperations));
  }
  return summarize(std::move(cycles));
}

}  // namespace syncbench
