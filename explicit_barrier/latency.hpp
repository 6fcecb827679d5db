// Latency inside one SM (study, section IX-C) and of a barrier to which one
// warp comes late, by SM clocks. Results in cycles.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "common/sampler.hpp"
#include "common/statistics.hpp"
#include "common/table.hpp"
#include "explicit_barrier/timed_launch.hpp"

namespace syncbench::explicit_barrier {

/// Cycles that the warps took: from the last to enter to the first to leave
/// where they meet in one barrier of one block, else the mean of each warp's
/// own time, for SMs have no common clock.
inline double window_cycles(const TimedLaunch& launch) {
  const std::vector<WarpRecord> records = launch.records();
  const MethodEntry& method = launch.method();
  const bool together = method.window == Window::kBarrier &&
                        method.scope >= Scope::kBlock &&
                        launch.shape().blocks == 1;
  long long last_start = records[0].start, first_end = records[0].end;
  double sum = 0;
  for (const WarpRecord& record : records) {
    last_start = std::max(last_start, record.start);
    first_end = std::min(first_end, record.end);
    sum += static_cast<double>(record.end - record.start);
  }
  return together ? static_cast<double>(first_end - last_start)
                  : sum / static_cast<double>(records.size());
}

/// What a row says, and the same by a pair of lengths twice as long.
struct Repeated {
  int in_line;    ///< operations in the body of the shorter kernel
  int repeats;    ///< operations of a warp in the difference
  Summary value;  ///< of one operation, from two lengths
  double twice;   ///< the same from two lengths, each twice as long

  /// How far both are apart, relative to `value`. More than the spread says: a
  /// number that depends on how often the operation is repeated.
  double disagreement() const { return twice / value.mean - 1; }
};

/// A latency row gets a remark if it depends more on the repeat count.
inline constexpr double kLatencyTolerance = 0.02;

/// The remark on a row that depends on the repeat count; none if it does not.
inline Remark count_matters(const Repeated& repeated, double tolerance) {
  const double off = repeated.disagreement();
  if (std::abs(off) <= tolerance) return {};
  const std::string twice = format_number(repeated.twice, 4),
                    percent = format_number(100 * off, 1);
  return {"repeats twice=" + twice + " percent=" + percent,
          "this row depends on the repeat count: twice as many operations "
          "give " +
              twice + ", " + percent + "% off"};
}

/// Summaries of what measure(length) returns for each of `lengths`, in turn,
/// after `warm_ups` of them.
inline std::vector<Summary> sample_lengths(
    const std::vector<int>& lengths, int samples,
    const std::function<double(int)>& measure, int warm_ups = 1) {
  std::vector<TimedPoint> points;
  for (const int length : lengths) {
    points.push_back({[&measure, length] {
      return Sample{{"value", measure(length)}};
    }});
  }
  sample_in_turn(points, samples, warm_ups);
  std::vector<Summary> summaries;
  for (const TimedPoint& point : points) {
    summaries.push_back(summarize(point.samples.at("value")));
  }
  return summaries;
}

/// One operation of a warp, or one barrier: the last trips, after two or more
/// that fill the instruction cache. Lines of r and 2 r, so that clock reads and
/// all else they share cancel (Eq. 7); of 2 r and 4 r to see whether that
/// repeats.
inline Repeated measure_latency(TimedLaunch& launch, int samples) {
  const int repeats = launch.method().repeats(launch.shape().group);
  const int timed = launch.method().trips, before = std::max(2, timed);
  const Trips trips = {before + timed, before};
  const auto cycles =
      sample_lengths({repeats, 2 * repeats, 4 * repeats}, samples, [&](int n) {
        launch.run_lines(n, trips);
        return window_cycles(launch);
      });
  return {repeats, repeats * timed,
          difference(cycles[1], cycles[0], repeats * timed),
          difference(cycles[2], cycles[1], 2 * repeats * timed).mean};
}

/// Of one operation where each trip of a loop has one, with what the loop adds.
/// As many operations as there are places of memory.
inline double measure_loop(TimedLaunch& launch) {
  constexpr int kTrips = 64, kSamples = 3;
  const auto cycles =
      sample_lengths({kTrips, 2 * kTrips}, kSamples, [&](int trips) {
        launch.run_lines(1, {kTrips + trips, kTrips});
        return window_cycles(launch);
      });
  return difference(cycles[1], cycles[0], kTrips).mean;
}

/// Of one operation of a warp among others in one block, which do not wait for
/// each other: over so many trips that all warps are in step with the SM's
/// scheduling.
inline Repeated measure_latency_among(TimedLaunch& launch, int samples) {
  constexpr int kWarmUps = 2, kTrips = 64, kCheckSamples = 3;
  const int repeats = launch.method().most_repeats();
  const auto difference_at = [&](int trips, int count) {
    const auto cycles =
        sample_lengths({repeats, 2 * repeats}, count, [&](int in_line) {
          launch.run_lines(in_line, {kWarmUps + trips, kWarmUps});
          return window_cycles(launch);
        });
    return difference(cycles[1], cycles[0], repeats * trips);
  };
  return {repeats, repeats * kTrips, difference_at(kTrips, samples),
          difference_at(2 * kTrips, kCheckSamples).mean};
}

/// Cycles from the late arrival of the first or last warp until the other of
/// the two is out, the mean of the operations of a launch.
inline Summary measure_late(TimedLaunch& launch, int samples) {
  constexpr int kOperations = 16;
  return sample_lengths({kOperations}, samples, [&](int operations) {
    return launch.run_late(operations);
  })[0];
}

}  // namespace syncbench::explicit_barrier
