// The two measurements of ImplicitBarrier (study, section IX-B). Nanoseconds.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/interrupt.hpp"
#include "common/statistics.hpp"
#include "common/timing.hpp"
#include "implicit_barrier/launch_method.hpp"

namespace syncbench {

/// Totals of `repeats` launches of one kernel, and what belongs to them.
struct LaunchSeries {
  int repeats = 0;
  Summary clock;       ///< two adjacent clock reads
  Summary wait;        ///< the wait with nothing running
  Summary launched;    ///< until the last launch call returned
  Summary total;       ///< until all had ended
  Summary additional;  ///< (total - total of one launch) / (repeats - 1)
};

struct LaunchPair {
  LaunchSeries one;
  LaunchSeries many;
};

/// Samples of one series, collected one by one.
class SeriesSamples {
 public:
  explicit SeriesSamples(int repeats) : repeats_(repeats) {}

  void take(LaunchMethod& method) {
    clock_.push_back(clock_cost_ns());
    wait_.push_back(method.idle_wait_ns());
    const LaunchTimes times = method.run(repeats_);
    launched_.push_back(times.launched);
    total_.push_back(times.total);
  }

  LaunchSeries summary() const {
    LaunchSeries series;
    series.repeats = repeats_;
    series.clock = summarize(clock_);
    series.wait = summarize(wait_);
    series.launched = summarize(launched_);
    series.total = summarize(total_);
    return series;
  }

 private:
  int repeats_;
  std::vector<double> clock_, wait_, launched_, total_;
};

/// One launch and `repeats` launches in turn, `samples` times, so that a slow
/// drift of the machine meets both.
inline LaunchPair measure_launches(LaunchMethod& method, int repeats,
                                   int samples) {
  SeriesSamples one(1), many(repeats);
  method.run(repeats);  // warm-up
  for (int i = 0; i < samples; ++i) {
    check_interrupt();
    one.take(method);
    many.take(method);
  }
  LaunchPair pair = {one.summary(), many.summary()};
  pair.many.additional =
      difference(pair.many.total, pair.one.total, repeats - 1);
  return pair;
}

/// Power of two nearest below `budget_ns / each_ns`, from 8 to 128 launches:
/// long kernels are launched less often, so that no point takes all the time.
inline int repeats_within(double budget_ns, double each_ns) {
  constexpr int kFewest = 8, kMost = 128;
  int repeats = kMost;
  while (repeats > kFewest && repeats * each_ns > budget_ns) repeats /= 2;
  return repeats;
}

/// Additional latency of a null kernel, from a few launches: tells how long a
/// kernel must be to hide the launch of the next one.
inline double pilot_launch_ns(LaunchMethod& method) {
  constexpr int kLaunches = 128, kTries = 5;
  method.run(kLaunches);  // warm-up
  double one = INFINITY, many = INFINITY;
  for (int i = 0; i < kTries; ++i) {
    one = std::min(one, method.run(1).total);
    many = std::min(many, method.run(kLaunches).total);
  }
  return (many - one) / (kLaunches - 1);
}

/// What kernel fusion (Eq. 6) says about a launch.
struct FusionResult {
  Summary unit;      ///< one sleep unit as measured
  Summary overhead;  ///< one launch beyond the sleep
};

/// Eq. 6 with j = 1: i launches of one unit (`single`) against one launch of i
/// units (`fused`, i = repeats). The unit itself is (fused - one single) /
/// (i - 1).
inline FusionResult measure_fusion(LaunchMethod& single, LaunchMethod& fused,
                                   int repeats, int samples) {
  std::vector<double> separate, together, one;
  for (int i = -1; i < samples; ++i) {
    check_interrupt();
    const double separate_ns = single.run(repeats).total;
    const double together_ns = fused.run(1).total;
    const double one_ns = single.run(1).total;
    if (i < 0) continue;  // warm-up
    separate.push_back(separate_ns);
    together.push_back(together_ns);
    one.push_back(one_ns);
  }
  const Summary fused_total = summarize(std::move(together));
  FusionResult result;
  result.unit = difference(fused_total, summarize(std::move(one)), repeats - 1);
  result.overhead =
      difference(summarize(std::move(separate)), fused_total, repeats - 1);
  return result;
}

}  // namespace syncbench
