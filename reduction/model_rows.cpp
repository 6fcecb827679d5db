#include "reduction/model_rows.hpp"

namespace syncbench::reduction {
namespace {

template <class Row>
Columns<Row> first() {
  return labels<Row>(
      {column<Row>("method", "", "what is measured", &Row::method),
       column<Row>("type", "", "type of the values", &Row::type)});
}

template <class Row>
Columns<Row> threads_and_bytes() {
  return labels<Row>(
      {column<Row>("thrd", "", "threads, of one block", &Row::threads),
       column<Row>("bytes", "B", "bytes of values", &Row::bytes)});
}

// Those of --stats.
template <class Row>
Columns<Row> stats_columns(const std::string& name, Summary Row::*value) {
  return sample_count_column<Row>(value) +
         robust_columns<Row>(name, "cycles", value) + clock_column<Row>() +
         set_column<Row>();
}

}  // namespace

Columns<LoopRow> loop_columns(bool stats) {
  return first<LoopRow>() + threads_and_bytes<LoopRow>() +
         mean_stddev_columns<LoopRow>("cycle", "cycles", "a pass over them",
                                      &LoopRow::value) +
         Columns<LoopRow>{
             real_column<LoopRow>("bandwidth", "B/cycle", "bytes / m(cycle)",
                                  &LoopRow::rate),
             real_column<LoopRow>(
                 "latency", "cycles",
                 "a step of the loop: bytes of a value / bandwidth of 1 thread",
                 &LoopRow::latency),
             real_column<LoopRow>(
                 "concurrency", "B", "latency * bandwidth (Eq. 1)",
                 [](const LoopRow& row) { return row.latency * row.rate(); },
                 1)} +
         (stats ? stats_columns<LoopRow>("cycle", &LoopRow::value)
                : Columns<LoopRow>());
}

Columns<SharedSumRow> shared_sum_columns(bool stats) {
  return first<SharedSumRow>() + threads_and_bytes<SharedSumRow>() +
         mean_stddev_columns<SharedSumRow>("cycle", "cycles",
                                           "values there to sum there",
                                           &SharedSumRow::value) +
         (stats ? stats_columns<SharedSumRow>("cycle", &SharedSumRow::value)
                : Columns<SharedSumRow>());
}

Columns<SwitchRow> switch_columns(bool stats) {
  const Columns<SwitchRow> shown =
      first<SwitchRow>() +
      labels<SwitchRow>(
          {column<SwitchRow>("basic", "threads", "that need not synchronize",
                             &SwitchRow::basic),
           column<SwitchRow>("more", "threads", "that have to",
                             &SwitchRow::more),
           column<SwitchRow>("cost", "",
                             "T_sync: 5 barriers alone, or 5 steps in use",
                             &SwitchRow::cost)}) +
      mean_stddev_columns<SwitchRow>("sync", "cycles", "T_sync",
                                     &SwitchRow::sync) +
      Columns<SwitchRow>{real_column<SwitchRow>(
          "measured", "B",
          "from here on `more` was faster; sizes a value or 1 KiB apart",
          &SwitchRow::measured, 1)};
  return shown + (stats ? stats_columns<SwitchRow>("sync", &SwitchRow::sync)
                        : Columns<SwitchRow>());
}

}  // namespace syncbench::reduction
