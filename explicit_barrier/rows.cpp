#include "explicit_barrier/rows.hpp"

namespace syncbench::explicit_barrier {

Remark nothing_waits() {
  const std::string cycles = format_number(kFewestCycles, 1);
  return {"nothing-waits below=" + cycles,
          "rows of less than " + cycles +
              " cycles an operation wait for nothing: the compiler has removed "
              "the barrier"};
}

Remark does_not_fit(int blocks_per_sm) {
  const std::string holds = std::to_string(blocks_per_sm);
  return {"does-not-fit holds=" + holds,
          "an SM holds " + holds + " blocks of this size"};
}

Row begin_row(const std::string& method) {
  return Row("synchronization method", method);
}

Row begin_row(const std::string& method, int gpus) {
  return begin_row(method).label("GPUcount", "", "GPUs involved", gpus);
}

void add_grid(Row& row, const Shape& shape) {
  row.label("blk", "blocks", "grid dimension", shape.blocks)
      .label("thrd", "threads", "block dimension", shape.threads);
}

void add_tile(Row& row, const Shape& shape) {
  row.label("tile", "",
            "threads of the group, or blocks of a cluster; "
            "atomics: words, copies: bytes, fences: stores",
            shape.group);
}

Row late_row(const std::string& name, const std::string& unit,
             const std::string& method, int gpus, const Shape& shape,
             const Summary& value, double mhz) {
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
