// Pitfalls: do barriers hold, what hangs, and which races show (study, section
// VIII). This process has no context on any GPU: each form of each case is a
// process of its own, which is killed when it hangs.
#include "common/devices.hpp"
#include "common/program.hpp"
#include "common/provenance.hpp"
#include "pitfalls/run.hpp"

namespace syncbench::pitfalls {
namespace {

// Finds the GPUs, which makes no context, says what runs and runs it.
void run_all(const ProgramInfo& info, const Options& options, char** argv,
             LineWriter& out) {
  const std::vector<Gpu> gpus = find_gpus();
  const int used =
      resolve_gpu_count(options.gpu_count, static_cast<int>(gpus.size()));
  write_programs(out, info, options);
  for (int i = 0; i < used; ++i) {
    out.comment("gpu[" + gpu_text(gpus[i]) + ']');
  }
  run_cases(all_cases(), options, argv, out, used);
}

ProgramInfo program_info() {
  ProgramInfo info;
  info.name = "Pitfalls";
  info.summary =
      "Do barriers hold, what happens when a part of a group synchronizes, "
      "and how\noften do races show? Each case runs in a process of its own, "
      "which is killed\nwhen it makes no progress. Kernels hang and trap on "
      "purpose: use a GPU that\nnobody else uses, by MPS or otherwise. The "
      "exit code is also 1 if a case does\nnot complete though its form is "
      "allowed, a race or a litmus test is wrong in its\nright form, a litmus "
      "test shows nothing without an order, a control holds its\nthreads, or a "
      "GPU does not recover.";
  info.takes_gpu_count = true;
  info.default_samples = 1000;
  info.takes_stats = false;
  info.counted = "tries of each race";
  for (const Case& one : all_cases()) {
    const bool race = one.section == Section::kRace;
    const char* group = race ? "race" : "";
    auto& list = one.run == nullptr ? info.missing : info.methods;
    list.push_back({one.name, one.text, group, "", "", one.set});
  }
  info.columns = describe_tables();
  return info;
}

}  // namespace
}  // namespace syncbench::pitfalls

int main(int argc, char** argv) {
  using namespace syncbench;
  using namespace pitfalls;
  const ProgramInfo info = program_info();
  return run_program(info, argc, argv,
                     [&](const Options& options, LineWriter& out) {
                       if (const auto task = Task::of_this_process()) {
                         return run_task(*task, options, out);
                       }
                       run_all(info, options, argv, out);
                     });
}
