// What rows of several programs of this folder have in common, spelt as in the
// study.
#pragma once

#include <string>

#include "common/statistics.hpp"
#include "common/table.hpp"
#include "explicit_barrier/method_entry.hpp"
#include "explicit_barrier/timed_launch.hpp"

namespace syncbench::explicit_barrier {

/// The set of a point of `method`, beside that of the method: of one that pages
/// show, or of one between these.
inline Set set_of_point(const MethodEntry& method, bool shown) {
  return shown ? Set::kStudy : method.between;
}

/// No instruction that waits for a result takes less than a dependent float add
/// on any GPU so far (4 cycles, study section IX-D). An operation that does
/// waits for nothing: of warp barriers in a row CUDA 13 leaves NOPs and one
/// test for convergence.
inline constexpr double kFewestCycles = 3.5;

/// What is said of a method, once a table, below its first row of less than
/// kFewestCycles an operation.
Remark nothing_waits();

/// Why a grid cannot be launched whose blocks an SM holds so few of.
Remark does_not_fit(int blocks_per_sm);

/// The cells that a row begins with, and those that it may have next.
Row begin_row(const std::string& method);
Row begin_row(const std::string& method, int gpus);
void add_grid(Row& row, const Shape& shape);
void add_tile(Row& row, const Shape& shape);

/// Of section `one late`. `name`: of the value, in `unit`.
Row late_row(const std::string& name, const std::string& unit,
             const std::string& method, int gpus, const Shape& shape,
             const Summary& value = {}, double mhz = kNan);

}  // namespace syncbench::explicit_barrier
