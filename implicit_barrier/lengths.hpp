// How long the series of launches are. Pure host code.
#pragma once

#include <algorithm>

#include "implicit_barrier/point.hpp"

namespace syncbench {

/// Launches that precede each sample, in its streams: other points were
/// measured meanwhile.
inline constexpr int kWarmUpLaunches = 2;

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

/// As many launches as fit into 1.3 ms, where a launch takes up to 8 us a GPU.
inline int repeats_of(const Point& point) {
  return repeats_within(1.3e6, std::max(point.work_ns, 8000 * point.gpus));
}

/// The unit of work on so many GPUs, the same in every run, so that rows
/// compare. Launches hide behind 1.5 times what the call takes, 2.7 us on one
/// GPU and 8 us a GPU on several (H200); where they do not, the row says so.
inline int unit_ns_of(int gpus) { return gpus == 1 ? 10000 : 16000 * gpus; }

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
