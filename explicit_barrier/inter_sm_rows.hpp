// Rows and columns of BenchmarkInterSM's tables.
#pragma once

#include <string>

#include "common/table.hpp"
#include "explicit_barrier/inter_sm.hpp"

namespace syncbench {

struct InterSmRow {
  std::string method;
  int gpus = 1;
  int blocks = 0;
  int threads = 0;
  SamplingPlan plan;
  InterSmResult result;
  int processes = 1;
  double mhz = kNan;
};

inline Columns<InterSmRow> inter_sm_columns(bool stats) {
  using Row = InterSmRow;
  const auto instruction = [](const Row& r) { return r.result.instruction; };
  const Columns<Row> columns =
      Columns<Row>{
          column<Row>("method", "", "synchronization method",
                      [](const Row& r) { return r.method; }),
          column<Row>("GPUcount", "", "GPUs involved",
                      [](const Row& r) { return r.gpus; }),
          column<Row>("basicrep", "", "operations in the basic kernel",
                      [](const Row& r) { return r.plan.basic; }),
          column<Row>("moredrep", "", "operations in the longer kernel",
                      [](const Row& r) { return r.plan.more; }),
          column<Row>("blk", "blocks", "grid dimension: blocks per SM x SMs",
                      [](const Row& r) { return r.blocks; }),
          column<Row>("thrd", "threads", "block dimension",
                      [](const Row& r) { return r.threads; })} +
      mean_stddev_columns<Row>("basic_ttl", "ns", "basic kernel, launch to end",
                               [](const Row& r) { return r.result.basic; }) +
      mean_stddev_columns<Row>("more_ttl", "ns", "longer kernel, launch to end",
                               [](const Row& r) { return r.result.more; }) +
      mean_stddev_columns<Row>("avginstru", "ns", "one operation (Eq. 7, 8)",
                               instruction, 3, "avginstr") +
      Columns<Row>{column<Row>(
          "launches", "", "launches in one queue that a sample is the mean of",
          [](const Row& r) { return r.plan.launches; })};
  if (!stats) return columns;
  return columns + sample_count_column<Row>(instruction) +
         Columns<Row>{column<Row>("processes", "",
                                  "processes that the n samples are from",
                                  [](const Row& r) { return r.processes; })} +
         robust_columns<Row>("avginstru", "ns", instruction) +
         clock_column<Row>();
}

}  // namespace syncbench
