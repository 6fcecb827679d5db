// Reduction: the study's case study (section VII), from the values of a warp to
// the arrays of several GPUs.
#include <stdexcept>
#include <string>

#include "common/measuring_run.hpp"
#include "explicit_barrier/methods.hpp"
#include "reduction/array_sizes.hpp"
#include "reduction/array_sums.hpp"
#include "reduction/many_gpus.hpp"
#include "reduction/node_sums.hpp"
#include "reduction/one_gpu.hpp"
#include "reduction/rows.hpp"
#include "reduction/switch_points.hpp"
#include "reduction/warp_level.hpp"
#include "reduction/warp_sums.hpp"

namespace syncbench {
namespace {

class Reduction {
 public:
  Reduction(const ProgramInfo& info, const Options& options, LineWriter& out)
      : run_(info, options, out) {}

  void run() {
    int wrong = 0;
    run_.measure([&] { wrong = sections(); });
    if (wrong > 0) {
      throw std::runtime_error("wrong sums in " + std::to_string(wrong) +
                               " rows, whose `right` is 0");
    }
    run_.finish();
  }

 private:
  // The number of rows whose sums are wrong.
  int sections() {
    // Sizes that cannot be are told before anything is measured. An array of
    // one GPU leaves room for other work; of several each holds a part.
    const bool one =
        wants_any(array_sum_methods()) || run_.options().wants("theory");
    const bool many = wants_any(node_sum_methods());
    ArraySizes of_gpu = {}, of_node = {};
    run_.show("sizes of the arrays");
    if (one) of_gpu = array_sizes(run_.options(), {run_.gpu()}, 4);
    if (many) of_node = array_sizes(run_.options(), run_.gpus(), 2);
    warp_level_section(run_);
    model_sections(run_);
    int wrong = 0;
    if (one) wrong += measure_one_gpu(run_, of_gpu);
    if (many) wrong += measure_many_gpus(run_, of_node);
    return wrong;
  }

  template <class Methods>
  bool wants_any(const Methods& methods) const {
    for (const auto& method : methods) {
      if (run_.options().wants(method.name)) return true;
    }
    return false;
  }

  MeasuringRun run_;
};

ProgramInfo program_info() {
  ProgramInfo info;
  info.name = "Reduction";
  info.summary =
      "Sums by all ways to synchronize: of the values of a warp, of arrays on "
      "one\nGPU and on several, and what the study's model predicts of them.";
  info.takes_gpu_count = true;
  info.types = element_type_names();
  take_methods(info, warp_sum_methods());
  info.machine_code = [](int architecture) {
    std::vector<MethodEntry> methods = all_methods();
    for (const MethodEntry& sum : warp_sum_methods()) methods.push_back(sum);
    return machine_code_of(methods, architecture);
  };
  for (const MethodInfo& method : model_methods()) {
    info.methods.push_back(method);
  }
  info.methods.push_back(
      {"theory", "what the memory's clock and width allow; nothing is run"});
  for (const ArraySumMethod& method : array_sum_methods()) {
    info.methods.push_back({method.name, method.text});
  }
  for (const NodeSumMethod& method : node_sum_methods()) {
    info.methods.push_back({method.name, method.text});
  }
  info.missing = missing_node_sum_methods();
  info.columns = describe_warp_level() + describe_model() +
                 describe("one GPU", array_columns(true)) +
                 describe("strong scaling, weak scaling", node_columns(true));
  return info;
}

}  // namespace
}  // namespace syncbench

int main(int argc, char** argv) {
  using namespace syncbench;
  return program_main<Reduction>(program_info(), argc, argv);
}
