#include "reduction/rows.hpp"

#include <cmath>

#include "common/noise.hpp"

namespace syncbench::reduction {
namespace {

Columns<SumRow> first() {
  return labels<SumRow>(
      {column<SumRow>("method", "", "way to sum", &SumRow::method),
       column<SumRow>("type", "", "of the elements", &SumRow::type),
       column<SumRow>("GPUcount", "", "GPUs involved", &SumRow::gpus),
       real_column<SumRow>("bytes", "bytes", "of the whole array",
                           &SumRow::bytes, 0)});
}

Columns<SumRow> in_l2() {
  return {real_column<SumRow>(
      "in_L2", "", "1: what a GPU reads in turn fits into its L2 cache",
      &SumRow::in_l2, 0)};
}

Columns<SumRow> host() {
  return mean_stddev_columns<SumRow>(
      "host", "us", "time from the first call until the host knows the end",
      &SumRow::host);
}

Columns<SumRow> right() {
  return {real_column<SumRow>("right", "", "1: all sums were right; 0: not",
                              &SumRow::right, 0)};
}

Columns<SumRow> stats_columns() {
  return sample_count_column<SumRow>(&SumRow::rate) +
         robust_columns<SumRow>("GB/s", "10^9 B/s", &SumRow::rate) +
         robust_columns<SumRow>("host", "us", &SumRow::host) +
         Columns<SumRow>{real_column<SumRow>(
             "clock", "MHz",
             "SM clock of the slowest GPU used, after the samples",
             &SumRow::mhz, 1)} +
         set_column<SumRow>();
}

}  // namespace

bool print_sum(MeasuringRun& run, Table<SumRow>& table, SumRow& row,
               const AtClock& clock) {
  row.mhz = clock.mhz;
  table.row(row);
  const RowKey key = table.key(row);
  run.warn(key, clock.warning);
  table.note(key, clock.repeated);
  run.warn(key, wide_interval(row.rate));
  if (std::isnan(row.rate.mean)) {
    run.warn(key, {"no-rate",
                   "this row has no rate: the events alone take as long"});
  }
  run.check_row(key, row.host.mean > 100 ? row.rate : Summary());
  return row.right == 0;
}

Columns<SumRow> array_columns(bool stats) {
  return first() +
         Columns<SumRow>{real_column<SumRow>(
             "inputs", "", "arrays read in turn", &SumRow::inputs, 0)} +
         in_l2() +
         mean_stddev_columns<SumRow>(
             "GB/s", "10^9 B/s",
             "bytes / time by the GPU's events, less what they take",
             &SumRow::rate) +
         host() + right() + (stats ? stats_columns() : Columns<SumRow>());
}

Columns<SumRow> node_columns(bool stats) {
  return first() + in_l2() +
         mean_stddev_columns<SumRow>("GB/s", "10^9 B/s", "bytes / host",
                                     &SumRow::rate) +
         host() + right() + (stats ? stats_columns() : Columns<SumRow>());
}

}  // namespace syncbench::reduction
