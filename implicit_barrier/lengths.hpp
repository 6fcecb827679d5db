// How long the series of launches are.
#pragma once

#include <algorithm>

#include "implicit_barrier/point.hpp"

namespace syncbench::implicit_barrier {

/// Launches before each sample, in its streams. Other points were measured in
/// between.
inline constexpr int kWarmUpLaunches = 2;

/// Launches of a series, at most.
inline constexpr int kManyLaunches = 128;

/// The largest power of two below `budget_ns / each_ns`, from 8 to
/// kManyLaunches. So long kernels are launched less often.
inline int repeats_within(double budget_ns, double each_ns) {
  constexpr int kFewest = 8;
  int repeats = kManyLaunches;
  while (repeats > kFewest && repeats * each_ns > budget_ns) repeats /= 2;
  return repeats;
}

/// Launches in 1.3 ms, each of 8 us a GPU or, if longer, its work.
inline int repeats_of(const Point& point) {
  return repeats_within(1.3e6, std::max(point.work_ns, 8000 * point.gpus));
}

/// The unit of work, the same in every run. It should be longer than a launch
/// call, to hide it; a comment says where it is not. On eight GPUs the study
/// needed 250 us.
inline int unit_ns_of(int gpus) {
  return gpus == 1 ? 10000 : 4000 * gpus * std::max(4, gpus);
}

/// Sets repeats and lead of a point of kernel fusion. On several GPUs the first
/// multi-device launches of a series differ from later ones, so they lead.
inline void choose_lengths(bool queues, Point& point) {
  const bool steady_later = queues && point.gpus > 1;
  point.repeats = steady_later ? 48 : repeats_of(point);
  point.lead = steady_later ? 16 : 0;
}

}  // namespace syncbench::implicit_barrier
