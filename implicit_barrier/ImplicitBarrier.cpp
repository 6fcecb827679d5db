// ImplicitBarrier: what a launch costs when it serves as a barrier of one GPU
// or of several. Measured in several processes, one after the other, because
// the pace of the host and the multi-device launch differ between processes;
// this one prints and never touches CUDA.
#include "common/child_processes.hpp"
#include "common/program.hpp"
#include "implicit_barrier/measuring_process.hpp"
#include "implicit_barrier/process_count.hpp"
#include "implicit_barrier/report.hpp"

namespace syncbench {
namespace {

ProgramInfo program_info(ProcessCount& process_count) {
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
  info.counted += ", in each process";
  info.options.push_back(process_count.option());
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
  ProcessCount process_count;
  const ProgramInfo info = program_info(process_count);
  return run_program(
      info, argc, argv, [&](const Options& options, LineWriter& out) {
        const int processes = process_count.on(options.gpu_count);
        if (process_number() >= 0) {
          return MeasuringProcess(info, options, processes, out).run();
        }
        Report report(info, options, processes, out);
        run_processes(argv, processes,
                      [&](int number, const std::string& line) {
                        report.take(number, line);
                      });
        report.finish();
      });
}
