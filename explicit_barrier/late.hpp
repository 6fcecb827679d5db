// What a barrier costs when one warp or block comes late, as in most programs:
// from the last arrival to the last exit.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "common/interrupt.hpp"
#include "common/statistics.hpp"
#include "explicit_barrier/timed_launch.hpp"

namespace syncbench {

/// Cycles by which the last one is late: until then all others wait.
constexpr int late_cycles(Scope scope) {
  return scope == Scope::kGrid ? 20000 : 4000;
}

/// Over so many launches, as a timer's tick is longer than a read of it.
template <class Take>
double mean_of_launches(Take take) {
  constexpr int kLaunches = 16;
  double sum = 0;
  for (int i = 0; i < kLaunches; ++i) sum += static_cast<double>(take());
  return sum / kLaunches;
}

/// From the last arrival to the last exit, less a read of the clock: cycles of
/// a block, nanoseconds of a cluster or a grid.
inline Summary measure_late(TimedLaunch& launch, int samples) {
  constexpr int kTurns = 3;  // the first two load the code
  const int late = late_cycles(launch.method().scope);
  const auto late_ticks = [&] {
    launch.run_late(kTurns, late);
    const std::vector<WarpRecord> records = launch.records();
    long long arrival = records[0].start, exit = records[0].end;
    for (const WarpRecord& record : records) {
      arrival = std::max(arrival, record.start);
      exit = std::max(exit, record.end);
    }
    return exit - arrival;
  };
  const auto read_ticks = [&] {
    launch.run_late(0, 0);
    double sum = 0;
    const std::vector<WarpRecord> records = launch.records();
    for (const WarpRecord& record : records) {
      sum += static_cast<double>(record.end - record.start);
    }
    return sum / static_cast<double>(records.size());
  };
  late_ticks();
  std::vector<double> costs, reads;
  for (int i = 0; i < samples; ++i) {
    check_interrupt();
    costs.push_back(mean_of_launches(late_ticks));
    reads.push_back(mean_of_launches(read_ticks));
  }
  return difference(summarize(costs), summarize(reads), 1);
}

}  // namespace syncbench
