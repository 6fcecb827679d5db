// One sample of each measurement of ImplicitBarrier (study, section IX-B), in
// nanoseconds, what a row makes of all of them, and how long the series are.
// Pure host code.
#pragma once

#include <algorithm>
#include <string>

#include "common/point_records.hpp"
#include "common/process_samples.hpp"
#include "common/timing.hpp"
#include "implicit_barrier/launch_method.hpp"

namespace syncbench {

/// Totals of a series of launches of one kernel, and what belongs to them.
struct LaunchSeries {
  int repeats = 0;
  Summary clock;       ///< two adjacent clock reads
  Summary wait;        ///< the wait with nothing running
  Summary launched;    ///< until the last launch call returned
  Summary total;       ///< until all had ended
  Summary additional;  ///< (total - total of one launch) / (repeats - 1)
};

/// Launches that precede each sample, in its streams: other points were
/// measured meanwhile.
inline constexpr int kWarmUpLaunches = 2;

namespace detail {

inline void take_series(LaunchMethod& method, int repeats,
                        const std::string& name, NamedSamples& samples) {
  samples["clk." + name].push_back(clock_cost_ns());
  samples["sync." + name].push_back(method.idle_wait_ns());
  const LaunchTimes times = method.run(repeats);
  samples["laun." + name].push_back(times.launched);
  samples["ttl." + name].push_back(times.total);
}

inline LaunchSeries series_of(const Collected& collected, int repeats,
                              const std::string& name) {
  const auto summary = [&](const char* quantity) {
    return summarize_processes(collected.at(quantity + name));
  };
  LaunchSeries series;
  series.repeats = repeats;
  series.clock = summary("clk.");
  series.wait = summary("sync.");
  series.launched = summary("laun.");
  series.total = summary("ttl.");
  return series;
}

}  // namespace detail

/// One launch, then `repeats` launches.
inline void take_launches(LaunchMethod& method, int repeats,
                          NamedSamples& samples) {
  method.run(kWarmUpLaunches);
  detail::take_series(method, 1, "one", samples);
  detail::take_series(method, repeats, "many", samples);
}

inline LaunchSeries one_launch(const Collected& collected) {
  return detail::series_of(collected, 1, "one");
}

inline LaunchSeries many_launches(const Collected& collected, int repeats) {
  LaunchSeries series = detail::series_of(collected, repeats, "many");
  series.additional = difference_of_processes(
      collected.at("ttl.many"), collected.at("ttl.one"), repeats - 1);
  return series;
}

/// What kernel fusion (Eq. 6) says about a launch.
struct FusionResult {
  Summary unit;      ///< one unit of work as measured
  Summary overhead;  ///< one launch beyond the work
  bool hidden;       ///< the host was ahead of the GPU, or waits by design
};

/// i launches of one unit (`single`, i = repeats), one launch of i units
/// (`fused`), one launch of one unit. Where the first launches of a series are
/// unlike the others, the i launches are those behind `lead` others: the total
/// of all, less that of lead + 1, and one launch in their place.
inline void take_fusion(LaunchMethod& single, LaunchMethod& fused, int repeats,
                        int lead, NamedSamples& samples) {
  single.run(kWarmUpLaunches);
  LaunchTimes separate = single.run(lead + repeats);
  const double together = fused.run(1).total;
  const double one = single.run(1).total;
  if (lead > 0) separate.total += one - single.run(lead + 1).total;
  samples["launched"].push_back(separate.launched);
  samples["separate"].push_back(separate.total);
  samples["fused"].push_back(together);
  samples["one"].push_back(one);
}

/// Eq. 6 with j = 1. The unit itself is (fused - one single) / (i - 1).
inline FusionResult fusion_result(const Collected& collected, int repeats) {
  const ProcessSamples& separate = collected.at("separate");
  const ProcessSamples& fused = collected.at("fused");
  FusionResult result;
  result.unit =
      difference_of_processes(fused, collected.at("one"), repeats - 1);
  result.overhead = difference_of_processes(separate, fused, repeats - 1);
  result.hidden = summarize_processes(collected.at("launched")).mean <
                  0.9 * summarize_processes(separate).mean;
  return result;
}

/// Launches of a series, at most.
inline constexpr int kManyLaunches = 128;

/// Power of two nearest below `budget_ns / each_ns`, from 8 to kManyLaunches:
/// long kernels are launched less often, so that no point takes all the time.
inline int repeats_within(double budget_ns, double each_ns) {
  constexpr int kFewest = 8;
  int repeats = kManyLaunches;
  while (repeats > kFewest && repeats * each_ns > budget_ns) repeats /= 2;
  return repeats;
}

/// The unit of work on so many GPUs, the same in every run, so that rows
/// compare. Launches hide behind 1.5 times what the call takes, 2.7 us on one
/// GPU and 8 us a GPU on several (H200); where they do not, the row says so.
inline int unit_ns_of(int gpus) { return gpus == 1 ? 10000 : 16000 * gpus; }

/// As many launches as fit into 1.3 ms, where a launch takes up to 8 us a GPU.
inline int repeats_of(const Point& point) {
  return repeats_within(1.3e6, std::max(point.work_ns, 8000 * point.gpus));
}

/// Sets repeats and lead of a point of kernel fusion. Multi-device launches,
/// which queue up, count behind others on several GPUs: the first of a series
/// take longer where the queue was held (two H200: 16 us instead of 7 to 8, up
/// to the 8th and more) and mostly less where it was not (6).
inline void choose_lengths(bool queues, Point& point) {
  const bool steady_later = queues && point.gpus > 1;
  point.repeats = steady_later ? 48 : repeats_of(point);
  point.lead = steady_later ? 16 : 0;
}

}  // namespace syncbench
