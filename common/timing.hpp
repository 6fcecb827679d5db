// The CPU's clock: the one clock that all SMs and all GPUs have in common.
#pragma once

#include <chrono>

namespace syncbench {

using HostClock = std::chrono::steady_clock;

/// Nanoseconds from `start` to `end`.
inline double elapsed_ns(HostClock::time_point start,
                         HostClock::time_point end) {
  return std::chrono::duration<double, std::nano>(end - start).count();
}

/// Nanoseconds between two adjacent reads of the clock: its own cost, which
/// every interval measured with it contains once (column `clk`).
inline double clock_cost_ns() {
  const auto start = HostClock::now();
  return elapsed_ns(start, HostClock::now());
}

}  // namespace syncbench
