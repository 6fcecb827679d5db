// Reduction: the study's case study (section VII), from the values of a warp to
// the arrays of several GPUs.
#include <string>

#include "common/measuring_run.hpp"
#include "explicit_barrier/methods.hpp"
#include "reduction/array_sizes.hpp"
#include "reduction/array_sums.hpp"
#include "reduction/node_sums.hpp"
#include "reduction/rows.hpp"
#include "reduction/sections.hpp"
#include "reduction/warp_sums.hpp"

namespace syncbench::reduction {

using explicit_barrier::all_methods;
using explicit_barrier::name_of;
using explicit_barrier::Scope;
using explicit_barrier::take_methods;

namespace {

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
  info.columns = describe_warp_level() + describe_model() +
                 describe("one GPU", array_row({})) +
                 describe("strong scaling, weak scaling", node_row({}));
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
