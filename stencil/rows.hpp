// The rows of Stencil.
#pragma once

#include <string>

#include "common/measuring_run.hpp"
#include "common/statistics.hpp"
#include "common/table.hpp"
#include "stencil/field_shape.hpp"

namespace syncbench::stencil {

struct FieldRow {
  std::string method;
  int gpus = 1;
  double cells = kNan;  ///< of each GPU
  FieldShape shape = {};
  double steps = kNan;  ///< of the longer run
  int blocks = 0;
  int threads = 0;
  Summary step = {};    ///< ns
  double rate = kNan;   ///< GB/s
  double sync = kNan;   ///< percent of a step; nan where nothing orders steps
  double right = kNan;  ///< 1: all results were right; 0: one was not
  double mhz = kNan;    ///< SM clock of the slowest GPU, after the samples
  int nodes = 1;
  int processes = 1;  ///< of all nodes
  Set set = Set::kToday;
};

Columns<FieldRow> field_columns(bool stats);

/// Prints a row; warns where it was measured at a slow SM clock, and where its
/// mean is not known within 10%. `total`: of its longer run, ns, whose spread
/// is watched from 100 us on. True: a result was wrong.
bool print_field(MeasuringRun& run, Table<FieldRow>& table, FieldRow& row,
                 const Summary& total, const AtClock& clock);

}  // namespace syncbench::stencil
