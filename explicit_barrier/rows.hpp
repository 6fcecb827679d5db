// What the programs of this folder know of a point, and the columns, spelt as
// in the study, in which each of their tables shows it.
#pragma once

#include <string>

#include "common/statistics.hpp"
#include "common/table.hpp"

namespace syncbench {

struct Row {
  std::string method;
  int gpus;
  int blocks;  ///< on each GPU
  int threads;
  int group;
  int repeats = 0;          ///< operations of a warp
  int more = 0;             ///< operations in the longer kernel
  int launches = 1;         ///< in one queue, of which a sample is the mean
  Summary value = {};       ///< of one operation
  Summary total = {};       ///< of all repeats
  Summary more_total = {};  ///< of the longer kernel, or by the other clock
  int processes = 1;        ///< that the samples are from
  double mhz = kNan;
};

/// No instruction that waits for a result takes less than a dependent float add
/// on any GPU so far (4 cycles, study section IX-D). An operation that does is
/// none: of warp barriers one after the other CUDA 13 leaves a NOP each and one
/// test for the whole sequence that the warp has converged.
inline constexpr double kFewestCycles = 3.5;

/// What is said of a method, once a table, below its first row of less than
/// kFewestCycles an operation.
inline std::string nothing_waits(const std::string& method) {
  return method +
         ": nothing waits in rows of less than 3.5 cycles an operation, the "
         "compiler has left a NOP or less; no latency of a barrier";
}

namespace columns {

inline Columns<Row> first() {
  return {column<Row>("method", "", "synchronization method", &Row::method)};
}
inline Columns<Row> gpus() {
  return {column<Row>("GPUcount", "", "GPUs involved", &Row::gpus)};
}
inline Columns<Row> repeats(const std::string& name, const std::string& text) {
  return {column<Row>(name, "", text, &Row::repeats)};
}
inline Columns<Row> grid() {
  return {column<Row>("blk", "blocks", "grid dimension", &Row::blocks),
          column<Row>("thrd", "threads", "block dimension", &Row::threads)};
}
inline Columns<Row> group() {
  return {column<Row>("tile", "",
                      "threads of the group, blocks of a cluster, or what is "
                      "said above the rows",
                      &Row::group)};
}

/// Those of --stats: samples and robust figures of `value` and the SM clock.
inline Columns<Row> stats(const std::string& name, const std::string& unit,
                          int decimals = 3) {
  return sample_count_column<Row>(&Row::value) +
         robust_columns<Row>(name, unit, &Row::value, decimals) +
         clock_column<Row>();
}

}  // namespace columns

/// Of BenchmarkIntraSM; the study's table of block barriers has no group.
inline Columns<Row> latency_columns(bool with_group, bool stats) {
  using namespace columns;
  return first() + gpus() + repeats("rep", "operations the average is over") +
         grid() +
         mean_stddev_columns<Row>("ave_cycle", "cycles",
                                  "latency of one operation", &Row::value) +
         (with_group ? group() : Columns<Row>()) +
         (stats ? columns::stats("ave_cycle", "cycles") : Columns<Row>());
}

/// Of BenchmarkIntraSM; `value` is warp operations per cycle.
inline Columns<Row> throughput_columns(bool stats) {
  using namespace columns;
  const Columns<Row> shown =
      first() + gpus() + repeats("rep", "operations of each warp") + grid() +
      group() +
      Columns<Row>{
          real_column<Row>("m(ttl_latency)", "cycles",
                           "mean time of one SM for rep operations a warp",
                           [](const Row& r) { return r.total.mean; }),
          real_column<Row>(
              "m(thrput)", "warp/cycle", "warp operations per cycle and SM",
              [](const Row& r) { return r.value.mean; }, 5)};
  if (!stats) return shown;
  return shown + sample_count_column<Row>(&Row::total) +
         robust_columns<Row>("ttl_latency", "cycles", &Row::total) +
         robust_columns<Row>("thrput", "warp/cycle", &Row::value, 5) +
         clock_column<Row>();
}

/// Of BenchmarkInterSM; `repeats` and `total` are of the basic kernel.
inline Columns<Row> inter_sm_columns(bool stats) {
  using namespace columns;
  const Columns<Row> shown =
      first() + gpus() + repeats("basicrep", "operations in the basic kernel") +
      Columns<Row>{column<Row>("moredrep", "",
                               "operations in the longer kernel", &Row::more)} +
      grid() +
      mean_stddev_columns<Row>("basic_ttl", "ns", "basic kernel, launch to end",
                               &Row::total) +
      mean_stddev_columns<Row>("more_ttl", "ns", "longer kernel, launch to end",
                               &Row::more_total) +
      mean_stddev_columns<Row>("avginstru", "ns", "one operation (Eq. 7, 8)",
                               &Row::value, 3, "avginstr") +
      Columns<Row>{column<Row>(
          "launches", "", "launches in one queue that a sample is the mean of",
          &Row::launches)};
  if (!stats) return shown;
  return shown + sample_count_column<Row>(&Row::value) +
         Columns<Row>{column<Row>("processes", "",
                                  "processes that the n samples are from",
                                  &Row::processes)} +
         robust_columns<Row>("avginstru", "ns", &Row::value) +
         clock_column<Row>();
}

/// Of TestRepeat; `more_total` is by the CPU's clock.
inline Columns<Row> repeat_columns(bool stats) {
  using namespace columns;
  return first() + repeats("rep", "operations in the total") + grid() +
         group() +
         mean_stddev_columns<Row>("cycle", "cycles", "total by the SM clock",
                                  &Row::total) +
         mean_stddev_columns<Row>("ns", "ns", "kernel by the CPU clock",
                                  &Row::more_total) +
         mean_stddev_columns<Row>("ave_cycle", "cycles", "cycle / rep",
                                  &Row::value, 4) +
         (stats ? columns::stats("ave_cycle", "cycles", 4) : Columns<Row>());
}

}  // namespace syncbench
