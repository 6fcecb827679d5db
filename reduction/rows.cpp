#include "reduction/rows.hpp"

#include <cmath>

#include "common/noise.hpp"

namespace syncbench::reduction {
namespace {

Row labels_of(const SumRow& sum) {
  return Row("way to sum", sum.method)
      .label("type", "", "of the elements", sum.type)
      .label("GPUcount", "", "GPUs involved", sum.gpus)
      .label("bytes", "bytes", "of the whole array",
             format_number(sum.bytes, 0));
}

Row whole_row(Row row, const SumRow& sum, const char* what_rate) {
  return row
      .real("in_L2", "", "1: what a GPU reads in turn fits into its L2 cache",
            sum.in_l2, 0)
      .mean_stddev("GB/s", "10^9 B/s", what_rate, sum.rate)
      .mean_stddev("host", "us",
                   "time from the first call until the host knows the end",
                   sum.host)
      .real("right", "", "1: all sums were right; 0: not", sum.right, 0)
      .stats("GB/s", "10^9 B/s", sum.rate)
      .robust("host", "us", sum.host)
      .clock(sum.mhz, "SM clock of the slowest GPU used, after the samples")
      .set(sum.set);
}

Remark doubt_of(const Summary& rate) {
  if (!std::isnan(rate.mean)) return wide_interval(rate);
  return {"no-rate", "this row has no rate: the events alone take as long"};
}

}  // namespace

Row array_row(const SumRow& sum) {
  return whole_row(
      labels_of(sum).real("inputs", "", "arrays read in turn", sum.inputs, 0),
      sum, "bytes / time by the GPU's events, less what they take");
}

Row node_row(const SumRow& sum) {
  return whole_row(labels_of(sum), sum, "bytes / host");
}

bool print_sum(MeasuringRun& run, Table& table, const Row& row,
               const SumRow& sum, const AtClock& clock) {
  const RowKey key = row.key();
  table.row(row);
  run.warn(key, clock.warning);
  table.note(key, clock.repeated);
  run.warn(key, doubt_of(sum.rate));
  run.check_row(key, sum.host.mean > 100 ? sum.rate : Summary());
  return sum.right == 0;
}

}  // namespace syncbench::reduction
