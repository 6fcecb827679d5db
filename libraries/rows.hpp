// What the program knows of a point, and the columns in which it shows it.
#pragma once

#include <string>

#include "common/statistics.hpp"
#include "common/table.hpp"
#include "libraries/method.hpp"

namespace syncbench::libraries {

struct LibraryRow {
  std::string method;
  int nodes, processes, gpus;
  CallShape shape = {};
  Summary value = {};  ///< of one operation, in nanoseconds
  double mhz = kNan;
  Set set = Set::kToday;
};

Columns<LibraryRow> library_columns(bool stats);

}  // namespace syncbench::libraries
