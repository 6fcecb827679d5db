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

Row warp_row(const std::string& method, const std::string& type,
             const Repeated& latency = {}, bool right = false,
             double mhz = kNan, Set set = {}) {
  return Row("how the lanes wait for each other", method)
      .label("type", "", "type of the 32 values", type)
      .cell("rep", "", "sums the average is over", latency.repeats)
      .mean_stddev("ave_cycle", "cycles", "latency of one sum", latency.value)
      .cell("right", "", "1: the first sum was right", right)
      .stats("ave_cycle", "cycles", latency.value)
      .clock(mhz)
      .set(set);
}

void print_row(MeasuringRun& run, Table& table, const char* type,
               const MethodEntry& method) {
  const RowKey key = warp_row(method.name, type).key();
  table.note_once("", {"address", kAddress});
  run.measure_or_skip(table, key, [&] {
    TimedLaunch launch(method, {run.gpu()}, {1, 32, 32});
    const Repeated latency = measure_latency(launch, run.options().samples);
    const Rightness& results = launch.right_results();
    table.row(warp_row(method.name, type, latency,
                       results.right == results.checked, run.clock_mhz(),
                       method.set));
    run.check_row(key, latency.value);
    table.note(key, count_matters(latency, kLatencyTolerance));
  });
}

}  // namespace

void warp_level_section(MeasuringRun& run, const SumOptions& sums) {
  Table table = run.begin_section(kTitle, warp_row("", ""));
  for (const WarpSums& of_type : warp_sums()) {
    if (!sums.wants_type(of_type.type)) continue;
    for (const MethodEntry& method : of_type.methods) {
      if (run.options().wants(method.name, method.set)) {
        print_row(run, table, of_type.type, method);
      }
    }
  }
}

std::string describe_warp_level() { return describe(kTitle, warp_row("", "")); }

}  // namespace syncbench::reduction
