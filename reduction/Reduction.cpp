// Reduction: the study's case study (section VII).
#include "common/measuring_run.hpp"
#include "explicit_barrier/methods.hpp"
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
    warp_level_section(run_);
    model_sections(run_);
    run_.finish();
  }

 private:
  MeasuringRun run_;
};

ProgramInfo program_info() {
  ProgramInfo info;
  info.name = "Reduction";
  info.summary = "Sums.";
  take_methods(info, warp_sum_methods());
  for (const MethodInfo& method : model_methods()) {
    info.methods.push_back(method);
  }
  info.columns = describe_warp_level() + describe_model();
  info.machine_code = [](int architecture) {
    std::vector<MethodEntry> methods = all_methods();
    for (const MethodEntry& sum : warp_sum_methods()) methods.push_back(sum);
    return machine_code_of(methods, architecture);
  };
  return info;
}

}  // namespace
}  // namespace syncbench

int main(int argc, char** argv) {
  using namespace syncbench;
  return program_main<Reduction>(program_info(), argc, argv);
}
