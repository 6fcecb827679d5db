// The rows that BenchmarkIntraSM prints.
#pragma once

#include <string>

#include "common/table.hpp"
#include "explicit_barrier/intra_sm.cuh"
#include "explicit_barrier/throughput.cuh"

namespace syncbench {

struct LatencyRow {
  std::string method;
  int threads = 0;
  int tile = 0;
  Repeated latency;
  double mhz = kNan;
};

struct ThroughputRow {
  std::string method;
  int blocks = 0;
  int threads = 0;
  int tile = 0;
  Throughput result;
  double mhz = kNan;
};

inline Columns<LatencyRow> latency_columns(bool with_tile, bool stats) {
  using Row = LatencyRow;
  const auto cycles = [](const Row& r) { return r.latency.value; };
  Columns<Row> columns =
      Columns<Row>{column<Row>("method", "", "synchronization method",
                               [](const Row& r) { return r.method; }),
                   column<Row>("GPUcount", "", "GPUs involved: 1",
                               [](const Row&) { return 1; }),
                   column<Row>("rep", "", "operations the average is over",
                               [](const Row& r) { return r.latency.repeats; }),
                   column<Row>("blk", "blocks", "grid dimension",
                               [](const Row&) { return 1; }),
                   column<Row>("thrd", "threads", "block dimension",
                               [](const Row& r) { return r.threads; })};
  columns =
      columns + mean_stddev_columns<Row>("ave_cycle", "cycles",
                                         "latency of one operation", cycles);
  if (with_tile) {
    columns.push_back(column<Row>("tile", "threads", "size of the group",
                                  [](const Row& r) { return r.tile; }));
  }
  if (!stats) return columns;
  return columns + sample_count_column<Row>([](const Row& r) {
           return r.latency.value;
         }) +
         robust_columns<Row>("ave_cycle", "cycles", cycles) +
         clock_column<Row>();
}

inline Columns<ThroughputRow> throughput_columns(bool stats) {
  using Row = ThroughputRow;
  Columns<Row> columns = {
      column<Row>("method", "", "synchronization method",
                  [](const Row& r) { return r.method; }),
      column<Row>("GPUcount", "", "GPUs involved: 1",
                  [](const Row&) { return 1; }),
      column<Row>("rep", "", "operations of each warp",
                  [](const Row& r) { return r.result.per_cycle.repeats; }),
      column<Row>("blk", "blocks", "grid dimension: blocks per SM x SMs",
                  [](const Row& r) { return r.blocks; }),
      column<Row>("thrd", "threads", "block dimension",
                  [](const Row& r) { return r.threads; }),
      column<Row>("tile", "threads", "size of the group",
                  [](const Row& r) { return r.tile; }),
      real_column<Row>("m(ttl_latency)", "cycles",
                       "mean time of one SM for rep operations a warp",
                       [](const Row& r) { return r.result.total.mean; }),
      real_column<Row>(
          "m(thrput)", "warp/cycle", "warp operations per cycle and SM",
          [](const Row& r) { return r.result.per_cycle.value.mean; }, 5)};
  if (!stats) return columns;
  return columns +
         sample_count_column<Row>([](const Row& r) { return r.result.total; }) +
         robust_columns<Row>("ttl_latency", "cycles",
                             [](const Row& r) { return r.result.total; }) +
         robust_columns<Row>(
             "thrput", "warp/cycle",
             [](const Row& r) { return r.result.per_cycle.value; }, 5) +
         clock_column<Row>();
}

}  // namespace syncbench
