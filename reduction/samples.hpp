// How often a sum is made, and what its samples say.
#pragma once

#include <algorithm>
#include <vector>

#include "common/statistics.hpp"

namespace syncbench {

/// Samples of a sum that takes `once_ns`: as many as were asked for, but of a
/// long one only as many as fit into 50 ms, and at least 10.
inline int sum_samples(double once_ns, int asked_for) {
  const double fit = std::clamp(50e6 / once_ns, 10.0, 1e6);
  return std::min(asked_for, static_cast<int>(fit));
}

/// GB/s of `bytes` in each of so many nanoseconds, less `extra_ns` in each;
/// of no samples where one takes no longer than that.
inline Summary rate_summary(long long bytes, std::vector<double> times_ns,
                            double extra_ns = 0) {
  for (double& time : times_ns) {
    if (time <= extra_ns) return {};
    time = static_cast<double>(bytes) / (time - extra_ns);
  }
  return summarize(std::move(times_ns));
}

}  // namespace syncbench
