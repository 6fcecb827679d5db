// Series of launches of one kernel, and of one launch (study, section IX-B).
#pragma once

#include "common/process_samples.hpp"
#include "common/timing.hpp"
#include "implicit_barrier/launch_methods.hpp"
#include "implicit_barrier/lengths.hpp"

namespace syncbench::implicit_barrier {

/// A sample of a series, in nanoseconds.
struct SeriesSample {
  double clock;     ///< two adjacent clock reads
  double wait;      ///< the wait with nothing running
  double launched;  ///< until the last launch call returned
  double total;     ///< until all had ended
};

struct LaunchesSample {
  SeriesSample one;   ///< of one launch
  SeriesSample many;  ///< of as many as the point says
};

/// What a row says of a series.
struct LaunchSeries {
  int repeats = kAny;
  Summary clock = {}, wait = {}, launched = {}, total = {};  // SeriesSample
  Summary additional = {};  ///< (total - total of one launch) / (repeats - 1)
};

inline SeriesSample take_series(LaunchMethod& method, int repeats) {
  SeriesSample sample = {};
  sample.clock = clock_cost_ns();
  sample.wait = method.idle_wait_ns();
  const LaunchTimes times = method.run(repeats);
  sample.launched = times.launched;
  sample.total = times.total;
  return sample;
}

/// One launch, then `repeats` launches.
inline LaunchesSample take_launches(LaunchMethod& method, int repeats) {
  method.run(kWarmUpLaunches);
  LaunchesSample sample = {};
  sample.one = take_series(method, 1);
  sample.many = take_series(method, repeats);
  return sample;
}

/// Of `series`, one of the two, without `additional`.
inline LaunchSeries launch_series(const Measured<LaunchesSample>& measured,
                                  SeriesSample LaunchesSample::*series,
                                  int repeats) {
  const auto summary = [&](double SeriesSample::*quantity) {
    return summarize_processes(measured.of([&](const LaunchesSample& sample) {
      return sample.*series.*quantity;
    }));
  };
  LaunchSeries result;
  result.repeats = repeats;
  result.clock = summary(&SeriesSample::clock);
  result.wait = summary(&SeriesSample::wait);
  result.launched = summary(&SeriesSample::launched);
  result.total = summary(&SeriesSample::total);
  return result;
}

inline LaunchSeries one_launch(const Measured<LaunchesSample>& measured) {
  return launch_series(measured, &LaunchesSample::one, 1);
}

inline LaunchSeries many_launches(const Measured<LaunchesSample>& measured,
                                  int repeats) {
  LaunchSeries series = launch_series(measured, &LaunchesSample::many, repeats);
  series.additional = difference_of_processes(
      measured.of([](const LaunchesSample& s) { return s.many.total; }),
      measured.of([](const LaunchesSample& s) { return s.one.total; }),
      repeats - 1);
  return series;
}

}  // namespace syncbench::implicit_barrier
