// What the lines and the end of a process say of its case.
#pragma once

#include <string>
#include <vector>

#include "common/table.hpp"
#include "pitfalls/isolation.hpp"

namespace syncbench::pitfalls {

struct Outcome {
  /// "completed", "wrong result", "no progress within T s" or "error NAME".
  std::string text;
  std::string reason;              ///< ProcessReport::reason()
  bool ended_well = false;         ///< by itself, without an error
  int launches = 0;                ///< the last of which may not have ended
  Remark skipped;                  ///< why the case cannot be had here
  std::vector<std::string> cells;  ///< of the case's result
  std::vector<std::vector<std::string>> rows;  ///< of its other table
  std::vector<std::string> notes;
};

/// Throws std::runtime_error where a line is none of a case.
Outcome outcome_of(const ProcessReport& report, const Limits& limits);

}  // namespace syncbench::pitfalls
