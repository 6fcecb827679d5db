// What a sum of an array is shown as.
#pragma once

#include <string>

#include "common/statistics.hpp"
#include "common/table.hpp"

namespace syncbench {

struct SumRow {
  std::string method;
  std::string type;
  int gpus = 1;
  double bytes = kNan;   ///< of the whole array
  double inputs = kNan;  ///< arrays that the samples read in turn
  double in_l2 = kNan;   ///< 1: these arrays fit into the L2 cache together
  Summary rate = {};     ///< GB/s
  Summary host = {};     ///< us, as the host sees it
  double right = kNan;   ///< 1: all sums were right; 0: one was not
  double mhz = kNan;
};

/// The rate if its spread says something: in less than 100 us the jitter of a
/// launch alone is percents.
Summary watched_spread(const SumRow& row);

/// Of one GPU, whose rate is by its own events.
Columns<SumRow> array_columns(bool stats);

/// Of several GPUs, whose rate is by the host's clock.
Columns<SumRow> node_columns(bool stats);

}  // namespace syncbench
