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

  double rate() const { return bytes / value.mean; }  ///< B/cycle
};

/// A sum in shared memory.
struct SharedSumRow {
  std::string method, type;
  int threads = 0;
  int bytes = 0;
  Summary value = {};  ///< cycles
  double mhz = kNan;
};

/// Of Table IV.
struct SwitchRow {
  std::string method, type;
  int basic = 0, more = 0;  ///< threads
  std::string cost = {};    ///< what T_sync is
  Summary sync = {};        ///< cycles
  double large = kNan;      ///< N_l, bytes
  double medium = kNan;     ///< N_m, bytes
  std::string which = {};   ///< of the two applies
  double predicted = kNan;  ///< bytes
  double measured = kNan;   ///< bytes
  double mhz = kNan;
};

Columns<LoopRow> loop_columns(bool stats);
Columns<SharedSumRow> shared_sum_columns(bool stats);
Columns<SwitchRow> switch_columns(bool stats);

}  // namespace syncbench::reduction
