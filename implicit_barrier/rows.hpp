// Rows and columns of ImplicitBarrier's tables, as the study's README has them.
#pragma once

#include <string>

#include "common/table.hpp"
#include "implicit_barrier/measure.hpp"

namespace syncbench {

struct LaunchRow {
  std::string method;
  int gpus = 1;
  dim3 grid;
  dim3 block;
  int workload_ns = 0;
  LaunchSeries series;
  double mhz = kNan;
};

struct FusionRow {
  std::string method;
  int gpus = 1;
  int repeats = 0;
  dim3 grid;
  dim3 block;
  int unit_ns = 0;
  FusionResult result;
  double mhz = kNan;
};

// The columns that say what was launched.
template <class Row, class Repeats>
Columns<Row> launch_shape_columns(Repeats repeats) {
  return {column<Row>("method", "", "launch method",
                      [](const Row& r) { return r.method; }),
          column<Row>("GPUCount", "", "GPUs involved",
                      [](const Row& r) { return r.gpus; }),
          column<Row>("rep", "", "launches", repeats),
          column<Row>("blk", "blocks", "grid dimension on each GPU",
                      [](const Row& r) { return r.grid.x; }),
          column<Row>("thrd", "threads", "block dimension",
                      [](const Row& r) { return r.block.x; })};
}

inline Columns<LaunchRow> launch_columns(bool with_workload, bool stats) {
  using Row = LaunchRow;
  const auto total = [](const Row& r) { return r.series.total; };
  const auto additional = [](const Row& r) { return r.series.additional; };
  Columns<Row> columns =
      launch_shape_columns<Row>([](const Row& r) { return r.series.repeats; }) +
      mean_stddev_columns<Row>("clk", "ns", "two adjacent CPU clock reads",
                               [](const Row& r) { return r.series.clock; }) +
      mean_stddev_columns<Row>("sync", "ns", "the wait with nothing running",
                               [](const Row& r) { return r.series.wait; }) +
      mean_stddev_columns<Row>("laun", "ns", "start to last launch returned",
                               [](const Row& r) { return r.series.launched; }) +
      mean_stddev_columns<Row>("ttl", "ns", "start to all kernels ended",
                               total) +
      mean_stddev_columns<Row>("avelaun", "ns", "laun / rep",
                               [](const Row& r) {
                                 return per(r.series.launched,
                                            r.series.repeats);
                               }) +
      mean_stddev_columns<Row>("addl", "ns",
                               "one more launch: (ttl_rep - ttl_1) / (rep - 1)",
                               additional);
  if (with_workload) {
    columns.push_back(column<Row>("idea(wkld)", "ns", "sleep of each kernel",
                                  [](const Row& r) { return r.workload_ns; }));
  }
  if (!stats) return columns;
  return columns + sample_count_column<Row>(total) +
         robust_columns<Row>("ttl", "ns", total) +
         robust_columns<Row>("addl", "ns", additional) + clock_column<Row>();
}

inline Columns<FusionRow> fusion_columns(bool stats) {
  using Row = FusionRow;
  const auto overhead = [](const Row& r) { return r.result.overhead; };
  Columns<Row> columns =
      launch_shape_columns<Row>([](const Row& r) { return r.repeats; });
  columns.push_back(column<Row>("idea(wkld)", "ns", "the sleep unit, ideally",
                                [](const Row& r) { return r.unit_ns; }));
  columns =
      columns +
      mean_stddev_columns<Row>("wkld", "ns", "the sleep unit, measured",
                               [](const Row& r) { return r.result.unit; }) +
      mean_stddev_columns<Row>("ovh", "ns", "launch overhead (Eq. 6)",
                               overhead);
  if (!stats) return columns;
  return columns + sample_count_column<Row>(overhead) +
         robust_columns<Row>("ovh", "ns", overhead) + clock_column<Row>();
}

}  // namespace syncbench
