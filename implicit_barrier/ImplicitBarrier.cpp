// ImplicitBarrier: what a launch costs when it serves as a barrier of one GPU
// or of several. Measured in several processes, one after the other, because
// the pace of the host and the multi-device launch differ between processes;
// this one prints and never touches CUDA.
#include "common/child_processes.hpp"
#include "common/program.hpp"
#include "implicit_barrier/measuring_process.hpp"
#include "implicit_barrier/report.hpp"

namespace syncbench {
namespace {

ProgramInfo program_info() {
  ProgramInfo info;
  info.name = "ImplicitBarrier";
  info.summary =
      "What a kernel launch costs as a barrier: of null kernels, of kernels "
      "that\n"
      "last by kernel fusion (Eq. 6), of kernels of 0 to 256 us, and of "
      "kernels\n"
      "queued behind a held stream, by the GPU's timer too.";
  info.takes_gpu_count = true;
  info.default_samples = 3;
  info.default_processes = 10;
  info.processes_on_many_gpus = 5;  // each takes 0.3 s a GPU to begin and end
  for (const LaunchMethodInfo& method : launch_methods()) {
    info.methods.push_back({method.name, method.description});
  }
  info.columns = describe(kNullSection, launch_columns(false, true)) +
                 describe(kFusionSection, fusion_columns(true)) +
                 describe(kWorkloadSection, launch_columns(true, true)) +
                 describe(kHeldSection, held_columns(true)) +
                 describe(kGridSection, grid_columns(true)) +
                 describe(kSleepSection, fusion_columns(true));
  return info;
}

}  // namespace
}  // namespace syncbench

int main(int argc, char** argv) {
  using namespace syncbench;
  const ProgramInfo info = program_info();
  return run_program(info, argc, argv,
                     [&](const Options& options, LineWriter& out) {
                       if (process_number() >= 0) {
                         return MeasuringProcess(info, options, out).run();
                       }
                       Report report(info, options, out);
                       run_processes(argv, options.processes,
                                     [&](int number, const std::string& line) {
                                       report.take(number, line);
                                     });
                       report.finish();
                     });
}
