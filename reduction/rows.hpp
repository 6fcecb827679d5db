// What a sum of an array is shown as.
#pragma once

#include <string>

#include "common/measuring_run.hpp"
#include "common/statistics.hpp"
#include "common/table.hpp"

namespace syncbench {

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
  double mhz = kNan;
};

/// Prints a row with the SM clock of now; warns where its mean is not known
/// within 10%, or at all. Its spread is watched from 100 us on: of less the
/// jitter of a launch alone is percents. True: a sum was wrong.
bool print_sum(MeasuringRun& run, Table<SumRow>& table, SumRow& row);

/// Of one GPU, whose rate is by its own events.
Columns<SumRow> array_columns(bool stats);

/// Of several GPUs, whose rate is by the host's clock.
Columns<SumRow> node_columns(bool stats);

}  // namespace syncbench
