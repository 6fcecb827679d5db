#include "explicit_barrier/rows.hpp"

namespace syncbench::explicit_barrier {
namespace {

Columns<Row> first() {
  return {column<Row>("method", "", "synchronization method", &Row::method)};
}
Columns<Row> gpus() {
  return labels<Row>(
      {column<Row>("GPUcount", "", "GPUs involved", &Row::gpus)});
}
Columns<Row> repeats(const std::string& name, const std::string& text) {
  return {column<Row>(name, "", text, &Row::repeats)};
}
Columns<Row> grid() {
  return labels<Row>(
      {column<Row>("blk", "blocks", "grid dimension", &Row::blocks),
       column<Row>("thrd", "threads", "block dimension", &Row::threads)});
}
Columns<Row> group() {
  return labels<Row>(
      {column<Row>("tile", "",
                   "threads of the group, or blocks of a cluster; "
                   "atomics: words, copies: bytes, fences: stores",
                   &Row::group)});
}

// Those of --stats: samples and robust values of `value` and the SM clock.
Columns<Row> stats_columns(const std::string& name, const std::string& unit,
                           int decimals = 3) {
  return sample_count_column<Row>(&Row::value) +
         robust_columns<Row>(name, unit, &Row::value, decimals) +
         clock_column<Row>();
}

// Means: cycles, and warp operations in one of them.
Columns<Row> time_and_rate(const std::string& time, const std::string& meaning,
                           Summary Row::*cycles, const std::string& rate,
                           Summary Row::*per_cycle) {
  return {
      real_column<Row>("m(" + time + ")", "cycles", meaning,
                       [cycles](const Row& row) { return (row.*cycles).mean; }),
      real_column<Row>(
          "m(" + rate + ")", "warp/cycle",
          "warp operations per cycle and SM in " + time,
          [per_cycle](const Row& row) { return (row.*per_cycle).mean; }, 5)};
}

}  // namespace

Remark nothing_waits() {
  const std::string cycles = format_number(kFewestCycles, 1);
  return {"nothing-waits below=" + cycles,
          "rows of less than " + cycles +
              " cycles an operation wait for nothing: the compiler has removed "
              "the barrier"};
}

Remark above_limit(const Row& row, double limit) {
  if (row.difference_value.mean <= limit) return {};
  const std::string most = format_number(limit, 5);
  return {"above-limit limit=" + most,
          "m(diff_thrput) is above the hardware's limit, " + most +
              "; take m(thrput)"};
}

Remark does_not_fit(int blocks_per_sm) {
  const std::string holds = std::to_string(blocks_per_sm);
  return {"does-not-fit holds=" + holds,
          "an SM holds " + holds + " blocks of this size"};
}

Columns<Row> latency_columns(bool with_group, bool stats) {
  Columns<Row> shown =
      first() + gpus() + repeats("rep", "operations the average is over") +
      grid() +
      mean_stddev_columns<Row>("ave_cycle", "cycles",
                               "latency of one operation", &Row::value) +
      (with_group ? group() : Columns<Row>());
  if (!stats) return shown;
  return shown + stats_columns("ave_cycle", "cycles") +
         Columns<Row>{
             column<Row>("line", "",
                         "operations in a row, without a loop, in the shorter "
                         "kernel",
                         &Row::line),
             real_column<Row>("loop(ave_cycle)", "cycles",
                              "latency where each trip of a loop has one "
                              "operation, loop included",
                              &Row::loop)} +
         set_column<Row>();
}

Columns<Row> throughput_columns(bool stats) {
  Columns<Row> shown =
      first() + gpus() + repeats("rep", "operations of each warp") + grid() +
      group() +
      time_and_rate("ttl_latency",
                    "time of one SM for rep operations a warp, from first warp "
                    "in to last warp out",
                    &Row::total, "thrput", &Row::value);
  if (!stats) return shown;
  return shown +
         time_and_rate("diff_latency",
                       "time of one SM for 2 rep operations a warp, less that "
                       "for rep",
                       &Row::difference, "diff_thrput",
                       &Row::difference_value) +
         sample_count_column<Row>(&Row::total) +
         robust_columns<Row>("ttl_latency", "cycles", &Row::total) +
         robust_columns<Row>("thrput", "warp/cycle", &Row::value, 5) +
         robust_columns<Row>("diff_latency", "cycles", &Row::difference) +
         robust_columns<Row>("diff_thrput", "warp/cycle",
                             &Row::difference_value, 5) +
         clock_column<Row>() + set_column<Row>();
}

Columns<Row> late_columns(const std::string& name, const std::string& unit,
                          bool stats) {
  Columns<Row> shown =
      first() + gpus() + grid() +
      labels<Row>(
          {column<Row>("late", "cycles",
                       "by which a warp comes after all others", &Row::late)}) +
      mean_stddev_columns<Row>(
          name, unit,
          "from the arrival of the first or last warp, "
          "which is late, until the other of the two is out",
          &Row::value);
  if (!stats) return shown;
  return shown + stats_columns(name, unit) + set_column<Row>();
}

namespace {

Columns<Row> inter_sm_columns(const Columns<Row>& more_labels, bool stats) {
  Columns<Row> shown =
      first() + gpus() + repeats("basicrep", "operations in the basic kernel") +
      Columns<Row>{column<Row>("moredrep", "",
                               "operations in the longer kernel", &Row::more)} +
      grid() + more_labels +
      mean_stddev_columns<Row>("basic_ttl", "ns", "basic kernel, launch to end",
                               &Row::total) +
      mean_stddev_columns<Row>("more_ttl", "ns", "longer kernel, launch to end",
                               &Row::more_total) +
      mean_stddev_columns<Row>("avginstru", "ns", "one operation (Eq. 7, 8)",
                               &Row::value, 3, "avginstr");
  if (!stats) return shown;
  return shown +
         Columns<Row>{
             column<Row>("launches", "",
                         "launches in one queue that a sample is the mean of",
                         &Row::launches)} +
         sample_count_column<Row>(&Row::value) +
         Columns<Row>{column<Row>("processes", "",
                                  "processes that the n samples are from",
                                  &Row::processes)} +
         robust_columns<Row>("avginstru", "ns", &Row::value) +
         clock_column<Row>() + set_column<Row>();
}

}  // namespace

Columns<Row> inter_sm_columns(bool stats) {
  return inter_sm_columns({}, stats);
}

Columns<Row> exchange_columns(bool stats) {
  return inter_sm_columns(
      labels<Row>(
          {column<Row>("bytes", "bytes", "that each GPU sends to every other",
                       &Row::group)}),
      stats);
}

Columns<Row> repeat_columns(bool stats) {
  return first() + labels<Row>(repeats("rep", "operations in the total")) +
         grid() + group() +
         mean_stddev_columns<Row>("cycle", "cycles", "total by the SM clock",
                                  &Row::total) +
         mean_stddev_columns<Row>("ns", "ns", "kernel by the CPU clock",
                                  &Row::more_total) +
         mean_stddev_columns<Row>("ave_cycle", "cycles",
                                  "cycle / rep, nothing subtracted",
                                  &Row::value, 4) +
         (stats ? stats_columns("ave_cycle", "cycles", 4) + set_column<Row>()
                : Columns<Row>());
}

}  // namespace syncbench::explicit_barrier
