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
inline Remark nothing_waits() {
  const std::string cycles = format_number(kFewestCycles, 1);
  return {"nothing-waits below=" + cycles,
          "rows of less than " + cycles +
              " cycles an operation wait for nothing: the compiler has removed "
              "the barrier"};
}

/// Why a grid cannot be launched whose blocks an SM holds so few of.
inline Remark does_not_fit(int blocks_per_sm) {
  const std::string holds = std::to_string(blocks_per_sm);
  return {"does-not-fit holds=" + holds,
          "an SM holds " + holds + " blocks of this size"};
}

/// The cells that a row begins with, and those that it may have next.
inline Row begin_row(const std::string& method) {
  return Row("synchronization method", method);
}
inline Row begin_row(const std::string& method, int gpus) {
  return begin_row(method).label("GPUcount", "", "GPUs involved", gpus);
}
inline void add_grid(Row& row, const Shape& shape) {
  row.label("blk", "blocks", "grid dimension", shape.blocks)
      .label("thrd", "threads", "block dimension", shape.threads);
}
inline void add_tile(Row& row, const Shape& shape) {
  row.label("tile", "",
            "threads of the group, or blocks of a cluster; "
            "atomics: words, copies: bytes, fences: stores",
            shape.group);
}

/// Of section `one late`. `name`: of the value, in `unit`.
inline Row late_row(const std::string& name, const std::string& unit,
                    const std::string& method, int gpus, const Shape& shape,
                    const Summary& value = {}, double mhz = kNan) {
  Row row = begin_row(method, gpus);
  add_grid(row, shape);
  return row
      .label("late", "cycles", "by which a warp comes after all others",
             kLateCycles)
      .mean_stddev(name, unit,
                   "from the arrival of the first or last warp, "
                   "which is late, until the other of the two is out",
                   value)
      .stats(name, unit, value)
      .clock(mhz)
      .set(Set::kEvidence);
}

}  // namespace syncbench::explicit_barrier
