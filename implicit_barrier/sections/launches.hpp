// Series of launches of one kernel, and of one launch (study, section IX-B).
#pragma once

#include <string>

#include "common/process_samples.hpp"
#include "common/timing.hpp"
#include "implicit_barrier/launch_methods.hpp"
#include "implicit_barrier/lengths.hpp"

namespace syncbench::implicit_barrier {

/// What a row says of a series.
struct LaunchSeries {
  int repeats = kAny;
  Summary clock = {}, wait = {}, launched = {}, total = {};
  Summary additional = {};  ///< (total - total of one launch) / (repeats - 1)
};

/// Adds a series to `sample`, in nanoseconds, the names behind `series`: two
/// adjacent clock reads, the wait with nothing running, until the last launch
/// call returned, until all had ended.
inline void take_series(Sample& sample, const std::string& series, Way& way,
                        int repeats) {
  sample[series + "clock"] = clock_cost_ns();
  sample[series + "wait"] = way.idle_wait_ns();
  const ways::LaunchTimes times = way.run(repeats);
  sample[series + "launched"] = times.launched;
  sample[series + "total"] = times.total;
}

/// One launch, then `repeats` launches.
inline Sample take_launches(Way& way, int repeats) {
  way.run(kWarmUpLaunches);
  Sample sample;
  take_series(sample, "one_", way, 1);
  take_series(sample, "many_", way, repeats);
  return sample;
}

/// Of `series`, one of the two, without `additional`.
inline LaunchSeries launch_series(const Measured& measured,
                                  const std::string& series, int repeats) {
  const auto summary = [&](const char* quantity) {
    return summarize_processes(measured.of(series + quantity));
  };
  return {repeats, summary("clock"), summary("wait"), summary("launched"),
          summary("total")};
}

inline LaunchSeries one_launch(const Measured& measured) {
  return launch_series(measured, "one_", 1);
}

inline LaunchSeries many_launches(const Measured& measured, int repeats) {
  LaunchSeries series = launch_series(measured, "many_", repeats);
  series.additional = difference_of_processes(
      measured.of("many_total"), measured.of("one_total"), repeats - 1);
  return series;
}

}  // namespace syncbench::implicit_barrier
