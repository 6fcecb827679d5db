// The rows of the sections on the study's model.
#pragma once

#include <string>

#include "common/statistics.hpp"
#include "common/table.hpp"

namespace syncbench::reduction {

/// Of Table III.
struct LoopRow {
  std::string method, type;
  int threads = 0;
  int bytes = 0;
  Summary value = {};     ///< cycles of a pass over them
  double latency = kNan;  ///< cycles of one step of the loop
  double mhz = kNan;
  Set set = Set::kStudy;

  double rate() const { return bytes / value.mean; }  ///< B/cycle
};

/// A sum in shared memory.
struct SharedSumRow {
  std::string method, type;
  int threads = 0;
  int bytes = 0;
  Summary value = {};  ///< cycles
  double mhz = kNan;
  Set set = Set::kStudy;
};

/// Of Table IV, without what follows from rates and T_sync.
struct SwitchRow {
  std::string method, type;
  int basic = 0, more = 0;  ///< threads
  std::string cost = {};    ///< what T_sync is
  Summary sync = {};        ///< cycles
  double measured = kNan;   ///< bytes
  double mhz = kNan;
  Set set = Set::kStudy;
};

Columns<LoopRow> loop_columns(bool stats);
Columns<SharedSumRow> shared_sum_columns(bool stats);
Columns<SwitchRow> switch_columns(bool stats);

}  // namespace syncbench::reduction
