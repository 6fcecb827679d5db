// Latency of methods across SMs (study, section IX-D), by the CPU's clock: the
// same kernel at two repeat counts, launch to end. Results in nanoseconds.
//
// A Point is one launch shape of a method: point.run(repeats) returns the
// nanoseconds from before the launch to after the synchronization of a kernel
// that does `repeats` operations, a multiple of Point::kMultiple.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/interrupt.hpp"
#include "common/statistics.hpp"

namespace syncbench {

/// How a point is sampled: the two repeat counts of Eq. 7, and how many
/// launches of each one sample is the mean of.
struct SamplingPlan {
  int basic;
  int more;
  int basic_launches;
  int more_launches;
};

/// Smallest 2^k or 3 * 2^k, at least 64, of operations that take `target_ns`.
/// Few distinct counts: small changes of speed leave them alone.
inline int steps_for(double target_ns, double each_ns) {
  constexpr int kFewest = 64, kMost = 1 << 20;
  int steps = kFewest;
  while (steps * each_ns < target_ns && steps < kMost) {
    const int between = steps * 3 / 2;
    if (between * each_ns >= target_ns) return between;
    steps *= 2;
  }
  return steps;
}

/// A 32nd of `steps`, as the next `multiple` above.
inline int basic_for(int steps, int multiple) {
  return (steps / 32 + multiple - 1) / multiple * multiple;
}

/// Interquartile range of `totals` relative to their median.
inline double relative_spread(std::vector<double> totals) {
  std::sort(totals.begin(), totals.end());
  const std::size_t n = totals.size();
  return (totals[n - 1 - n / 4] - totals[n / 4]) / totals[n / 2];
}

/// What a point may cost.
struct SamplingBudget {
  double long_ns;  ///< the difference of the two lengths shall take this
  int wandering_launches;  ///< of the longer kernel a sample, where it wanders
};

/// Chooses the plan from a few launches. The noise of a launch is the same for
/// all points, so a fixed time, not a fixed count, makes them equally precise;
/// the basic kernel is short, so several launches of it cost little. A barrier
/// may also wander between states during a kernel (grid_sync at one block per
/// SM does, by 1%): then the mean of several shorter launches is steadier than
/// one long one.
template <class Point>
SamplingPlan choose_plan(Point& point, const SamplingBudget& budget) {
  static_assert(16 % Point::kMultiple == 0, "all counts are multiples of 16");
  constexpr int kShort = 16, kLong = 144, kTries = 3, kPilots = 12;
  constexpr int kBasicLaunches = 4;
  constexpr double kWandering = 0.0025, kShorter = 0.3;
  double shorter = INFINITY, longer = INFINITY;
  for (int i = 0; i < kTries; ++i) {
    shorter = std::min(shorter, point.run(kShort));
    longer = std::min(longer, point.run(kLong));
  }
  const double each = std::max((longer - shorter) / (kLong - kShort), 1.0);
  int steps = steps_for(budget.long_ns, each);
  const int basic = basic_for(steps, Point::kMultiple);
  SamplingPlan plan = {basic, basic + steps, kBasicLaunches, 1};
  if (budget.wandering_launches == 1) return plan;
  std::vector<double> totals;
  for (int i = 0; i < kPilots; ++i) totals.push_back(point.run(steps));
  if (relative_spread(std::move(totals)) < kWandering) return plan;
  steps = steps_for(budget.long_ns * kShorter, each);
  plan.basic = basic_for(steps, Point::kMultiple);
  plan.more = plan.basic + steps;
  plan.basic_launches = plan.more_launches = budget.wandering_launches;
  return plan;
}

struct InterSmResult {
  SamplingPlan plan;
  Summary basic;        ///< total of the basic kernel
  Summary more;         ///< total of the longer kernel
  Summary instruction;  ///< one operation (Eq. 7, 8)
};

/// Mean total of `launches` launches with `repeats` operations each.
template <class Point>
double mean_total(Point& point, int repeats, int launches) {
  double sum = 0;
  for (int launch = 0; launch < launches; ++launch) sum += point.run(repeats);
  return sum / launches;
}

/// Measures one point with so many samples; the two lengths alternate, so that
/// slow drifts meet both.
template <class Point>
InterSmResult measure_inter_sm(Point& point, int samples,
                               const SamplingBudget& budget) {
  InterSmResult result;
  result.plan = choose_plan(point, budget);  // which also warms up
  const SamplingPlan& plan = result.plan;
  std::vector<double> basic, more;
  for (int sample = 0; sample < samples; ++sample) {
    check_interrupt();
    basic.push_back(mean_total(point, plan.basic, plan.basic_launches));
    more.push_back(mean_total(point, plan.more, plan.more_launches));
  }
  result.basic = summarize(std::move(basic));
  result.more = summarize(std::move(more));
  result.instruction =
      difference(result.more, result.basic, plan.more - plan.basic);
  return result;
}

}  // namespace syncbench
