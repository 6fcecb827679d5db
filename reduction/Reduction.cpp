// Reduction: the study's case study (section VII), from the values of a warp to
// the arrays of several GPUs.
#include <string>

#include "common/measuring_run.hpp"
#include "explicit_barrier/latency.hpp"
#include "explicit_barrier/methods.hpp"
#include "reduction/array_sizes.hpp"
#include "reduction/array_sums.hpp"
#include "reduction/sections.hpp"
#include "reduction/warp_sums.hpp"

namespace syncbench::reduction {

using namespace explicit_barrier;  // methods and their latency

namespace {

constexpr const char* kWarpLevel = "warp level";

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
  table.note_once(
      "", {"address",
           "each sum begins with one or two integer instructions that make its "
           "address depend on the sum before; `right` is of the first sum"});
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

// Sums of 32 values by one warp (study, Table V), of the methods and types that
// the command line asks for.
void warp_level_section(MeasuringRun& run, const SumOptions& sums) {
  Table table = run.begin_section(kWarpLevel, warp_row("", ""));
  for (const WarpSums& of_type : warp_sums()) {
    if (!sums.wants_type(of_type.type)) continue;
    for (const MethodEntry& method : of_type.methods) {
      if (run.options().wants(method.name, method.set)) {
        print_row(run, table, of_type.type, method);
      }
    }
  }
}

template <class Methods>
bool wants_any(const Options& options, const Methods& methods) {
  for (const auto& method : methods) {
    if (options.wants(method.name, method.set)) return true;
  }
  return false;
}

// Returns how many rows are wrong, if any are.
std::string sections(MeasuringRun& run, const SumOptions& sums) {
  // Sizes that cannot be are told before anything is measured.
  const bool one = wants_any(run.options(), array_sum_methods()) ||
                   run.options().wants("theory", Set::kStudy);
  const bool many = wants_any(run.options(), node_sum_methods());
  ArraySizes of_gpu = {}, of_node = {};
  run.show("sizes of the arrays");
  if (one) of_gpu = array_sizes(sums, {run.gpu()}, kPartsOnOne);
  if (many) of_node = array_sizes(sums, run.gpus(), kPartsOnSeveral);
  warp_level_section(run, sums);
  model_sections(run, sums);
  int wrong = 0;
  if (one) wrong += measure_one_gpu(run, sums, of_gpu);
  if (many) wrong += measure_many_gpus(run, sums, of_node);
  if (wrong == 0) return "";
  return "wrong sums in " + std::to_string(wrong) + " rows, whose `right` is 0";
}

ProgramInfo program_info(SumOptions& sums) {
  ProgramInfo info;
  info.name = "Reduction";
  info.summary =
      "Sums by all ways to synchronize: of the values of a warp, of arrays on "
      "one\nGPU and on several, and what the study's model predicts of them.";
  info.takes_gpu_count = true;
  info.counted +=
      "; of sums in shared memory a fifth, at least 5 of them; of sums of "
      "arrays as many as fit into 50 ms, at least 10 of them";
  info.options = options_for(sums);
  const std::vector<MethodEntry> warp = warp_sum_methods();
  std::vector<MethodEntry> in_program = all_methods();
  in_program.insert(in_program.end(), warp.begin(), warp.end());
  take_methods(info, warp, in_program);
  for (const MethodInfo& method : model_methods()) {
    info.methods.push_back(method);
  }
  info.methods.push_back(
      {"theory", "what the memory's clock and width allow; nothing is run"});
  info.methods.back().set = Set::kStudy;
  for (const ArraySumMethod& method : array_sum_methods()) {
    info.methods.push_back({method.name, method.text, "", "", "", method.set});
  }
  for (const NodeSumMethod& method : node_sum_methods()) {
    info.methods.push_back(
        {method.name, method.text, name_of(Scope::kGpus), "", "", method.set});
  }
  info.missing = missing_node_sum_methods();
  info.columns = describe(kWarpLevel, warp_row("", "")) + describe_model() +
                 describe_arrays();
  return info;
}

}  // namespace
}  // namespace syncbench::reduction

int main(int argc, char** argv) {
  using namespace syncbench;
  using namespace reduction;
  SumOptions sums;
  return run_sections(program_info(sums), argc, argv,
                      [&](MeasuringRun& run) { return sections(run, sums); });
}
