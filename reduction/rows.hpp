// How often a sum of an array is made, and what it is shown as.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/measuring_run.hpp"
#include "common/statistics.hpp"
#include "common/table.hpp"

namespace syncbench::reduction {

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

struct SumRow {
  std::string method;
  std::string type;
  int gpus = 1;
  double bytes = kNan;   ///< of the whole array
  double inputs = kNan;  ///< arrays that the samples read in turn
  double in_l2 = kNan;   ///< 1: what a GPU reads in turn fits into its L2
  Summary rate = {};     ///< GB/s
  Summary host = {};     ///< us, as the host sees it
  double right = kNan;   ///< 1: all sums were right; 0: one was not
  double mhz = kNan;     ///< SM clock of the slowest GPU, after the samples
  Set set = Set::kStudy;
};

/// Of one GPU, whose rate is by its own events.
Row array_row(const SumRow& sum);

/// Of several GPUs, whose rate is by the host's clock.
Row node_row(const SumRow& sum);

/// Prints `row`, of `sum`; warns where it was measured at a slow SM clock, and
/// where its mean is not known within 10%, or at all. Its spread is watched
/// from 100 us on: shorter ones vary with each launch. True: a sum was wrong.
bool print_sum(MeasuringRun& run, Table& table, const Row& row,
               const SumRow& sum, const AtClock& clock);

}  // namespace syncbench::reduction
