#include "explicit_barrier/latency.hpp"
#include "reduction/sections.hpp"
#include "reduction/warp_sums.hpp"

namespace syncbench::reduction {

using explicit_barrier::count_matters;
using explicit_barrier::kLatencyTolerance;
using explicit_barrier::measure_latency;
using explicit_barrier::Repeated;
using explicit_barrier::Rightness;
using explicit_barrier::TimedLaunch;

namespace {

constexpr const char* kTitle = "warp level";

constexpr const char* kAddress =
    "each sum begins with one or two integer instructions that make its "
    "address depend on the sum before; `right` is of the first sum";

struct WarpSumRow {
  std::string method;
  std::string type;
  int repeats = 0;
  Summary value = {};  ///< cycles of one sum
  bool right = false;
  double mhz = kNan;
  Set set = Set::kStudy;
};

Columns<WarpSumRow> columns(bool stats) {
  Columns<WarpSumRow> shown =
      Columns<WarpSumRow>{
          column<WarpSumRow>("method", "", "how the lanes wait for each other",
                             &WarpSumRow::method)} +
      labels<WarpSumRow>({column<WarpSumRow>(
          "type", "", "type of the 32 values", &WarpSumRow::type)}) +
      Columns<WarpSumRow>{column<WarpSumRow>(
          "rep", "", "sums the average is over", &WarpSumRow::repeats)} +
      mean_stddev_columns<WarpSumRow>(
          "ave_cycle", "cycles", "latency of one sum", &WarpSumRow::value) +
      Columns<WarpSumRow>{column<WarpSumRow>(
          "right", "", "1: the first sum was right", &WarpSumRow::right)};
  if (!stats) return shown;
  return shown + sample_count_column<WarpSumRow>(&WarpSumRow::value) +
         robust_columns<WarpSumRow>("ave_cycle", "cycles", &WarpSumRow::value) +
         clock_column<WarpSumRow>() + set_column<WarpSumRow>();
}

void measure_row(MeasuringRun& run, Table<WarpSumRow>& table, const char* type,
                 const MethodEntry& method) {
  const RowKey key = table.key({method.name, type});
  table.note_once("", {"address", kAddress});
  run.measure_or_skip(table, key, [&] {
    TimedLaunch launch(method, {run.gpu()}, {1, 32, 32});
    const Repeated latency = measure_latency(launch, run.options().samples);
    const Rightness& results = launch.right_results();
    table.row({method.name, type, latency.repeats, latency.value,
               results.right == results.checked, run.clock_mhz(), method.set});
    run.check_row(key, latency.value);
    table.note(key, count_matters(latency, kLatencyTolerance));
  });
}

}  // namespace

void warp_level_section(MeasuringRun& run, const SumOptions& sums) {
  run.begin_section(kTitle);
  Table<WarpSumRow> table(run.out(), kTitle, columns(run.options().stats));
  for (const WarpSums& of_type : warp_sums()) {
    if (!sums.wants_type(of_type.type)) continue;
    for (const MethodEntry& method : of_type.methods) {
      if (run.options().wants(method.name, method.set)) {
        measure_row(run, table, of_type.type, method);
      }
    }
  }
}

std::string describe_warp_level() { return describe(kTitle, columns(true)); }

}  // namespace syncbench::reduction
