// ImplicitBarrier: what a launch costs when it serves as a barrier of one GPU
// or of several, by the CPU's clock.
#include <algorithm>
#include <string>
#include <vector>

#include "common/measuring_run.cuh"
#include "implicit_barrier/kernels.cuh"
#include "implicit_barrier/launch_methods.hpp"
#include "implicit_barrier/measure.hpp"
#include "implicit_barrier/rows.hpp"

namespace syncbench {
namespace {

constexpr int kManyLaunches = 128;  // well below the 1,000 that a queue holds
constexpr int kWorkloadsNs[] = {0,     2000,  4000,   8000,  16000,
                                32000, 64000, 128000, 256000};
constexpr double kFusionSeriesNs = 4e6;  // longest series of launches, about
constexpr double kWorkloadSeriesNs = 2e6;

class ImplicitBarrier {
 public:
  ImplicitBarrier(const ProgramInfo& info, const Options& options,
                  LineWriter& out)
      : run_(info, options, out) {
    run_.out().comment(std::string("multi_cooperative_launch: ") +
                       MultiDeviceLaunch::kApi);
  }

  void run() {
    null_section();
    if (!std::all_of(run_.gpus().begin(), run_.gpus().end(), has_sleep)) {
      run_.out().comment(
          "skipped: sleep kernel, workload test: no sleep instruction before "
          "compute capability 7.0, or in code compiled for less");
      return;
    }
    sleep_section();
    workload_section();
  }

 private:
  using Gpus = std::vector<Gpu>;

  // Asks the code, not the GPU: made from PTX for an older one, the sleep
  // kernel is empty on any GPU.
  static bool has_sleep(const Gpu& gpu) {
    const DeviceGuard guard(gpu.index);
    cudaFuncAttributes attributes = {};
    CUDA_CHECK(cudaFuncGetAttributes(&attributes, sleep_kernel));
    return attributes.ptxVersion >= kSleepVersion;
  }

  // Calls visit(method, GPUs) for every wanted method; multi-GPU ones for
  // `fewest` to all GPUs.
  template <class Visitor>
  void for_each_point(int fewest, Visitor visit) {
    const Gpus& all = run_.gpus();
    for (const LaunchMethodInfo& method : launch_methods()) {
      if (!run_.options().wants(method.name)) continue;
      const int first = method.multi_gpu ? fewest : 1;
      const int last = method.multi_gpu ? static_cast<int>(all.size()) : 1;
      for (int count = first; count <= last; ++count) {
        run_.show(std::string(method.name) + " on " + std::to_string(count));
        visit(method, Gpus(all.begin(), all.begin() + count));
      }
    }
  }

  // One GPU is filled with threads; across GPUs the smallest kernel shows the
  // launch alone (study, section IX-B).
  KernelCall call_of(const LaunchMethodInfo& method, const void* kernel,
                     void** arguments) const {
    KernelCall call;
    call.kernel = kernel;
    call.grid = dim3(method.multi_gpu ? 1 : run_.gpu().sm_count);
    call.block = dim3(method.multi_gpu ? 32 : 1024);
    call.arguments = arguments;
    return call;
  }

  KernelCall null_call(const LaunchMethodInfo& method) const {
    return call_of(method, reinterpret_cast<const void*>(null_kernel), nullptr);
  }

  KernelCall sleep_call(const LaunchMethodInfo& method,
                        void** arguments) const {
    return call_of(method, reinterpret_cast<const void*>(sleep_kernel),
                   arguments);
  }

  static std::string point_of(const LaunchMethodInfo& method,
                              const Gpus& gpus) {
    return std::string(method.name) + " on " + std::to_string(gpus.size()) +
           " GPUs";
  }

  void launch_rows(Table<LaunchRow>& table, const LaunchMethodInfo& method,
                   const Gpus& gpus, const KernelCall& call, int repeats,
                   int workload_ns) {
    const auto launcher = method.make(gpus, call);
    const LaunchPair pair =
        measure_launches(*launcher, repeats, run_.options().samples);
    LaunchRow row;
    row.method = method.name;
    row.gpus = static_cast<int>(gpus.size());
    row.grid = call.grid;
    row.block = call.block;
    row.workload_ns = workload_ns;
    row.mhz = run_.clock_mhz();
    row.series = pair.one;
    table.row(row);
    row.series = pair.many;
    table.row(row);
    run_.check_row(pair.many.additional);
  }

  void null_section() {
    Table<LaunchRow> table(run_.out(), "null kernel",
                           launch_columns(false, run_.options().stats));
    run_.begin_section();
    for_each_point(1, [&](const LaunchMethodInfo& method, const Gpus& gpus) {
      measure_or_skip(table, point_of(method, gpus), [&] {
        launch_rows(table, method, gpus, null_call(method), kManyLaunches, 0);
      });
    });
  }

  // Additional latency of a null kernel, in short.
  double launch_ns_of(const LaunchMethodInfo& method, const Gpus& gpus) const {
    return pilot_launch_ns(*method.make(gpus, null_call(method)));
  }

  // Smallest of 5, 10, 20, ... us that is at least 1.5 times what one more null
  // launch takes: below that, a launch does not hide behind the kernel before.
  // The study needed 5 us for one GPU and 250 us for eight.
  int unit_ns_of(const LaunchMethodInfo& method, const Gpus& gpus) const {
    const double launch_ns = launch_ns_of(method, gpus);
    int unit_ns = 5000;
    while (unit_ns < 1.5 * launch_ns) unit_ns *= 2;
    return unit_ns;
  }

  void sleep_section() {
    Table<FusionRow> table(
        run_.out(),
        "sleep kernel: fused sleep units; unit = smallest of 5, 10, 20, ... us "
        "that is at least 1.5 times the additional latency of a null kernel",
        fusion_columns(run_.options().stats));
    run_.begin_section();
    for_each_point(1, [&](const LaunchMethodInfo& method, const Gpus& gpus) {
      measure_or_skip(table, point_of(method, gpus), [&] {
        FusionRow row;
        row.method = method.name;
        row.gpus = static_cast<int>(gpus.size());
        row.unit_ns = unit_ns_of(method, gpus);
        row.repeats = repeats_within(kFusionSeriesNs, row.unit_ns);
        int single_sleeps = row.unit_ns / static_cast<int>(kSleepNs);
        int fused_sleeps = single_sleeps * row.repeats;
        void* single_arguments[] = {&single_sleeps};
        void* fused_arguments[] = {&fused_sleeps};
        const KernelCall single = sleep_call(method, single_arguments);
        const KernelCall fused = sleep_call(method, fused_arguments);
        row.grid = single.grid;
        row.block = single.block;
        row.result = measure_fusion(*method.make(gpus, single),
                                    *method.make(gpus, fused), row.repeats,
                                    run_.options().samples);
        row.mhz = run_.clock_mhz();
        table.row(row);
        run_.check_row(row.result.overhead);
      });
    });
  }

  void workload_section() {
    Table<LaunchRow> table(run_.out(),
                           "workload test: kernels that sleep; fewer launches "
                           "than 128 where they take over 2 ms, multi-GPU "
                           "methods on all GPUs only",
                           launch_columns(true, run_.options().stats));
    run_.begin_section();
    const int all = static_cast<int>(run_.gpus().size());
    for_each_point(all, [&](const LaunchMethodInfo& method, const Gpus& gpus) {
      measure_or_skip(table, point_of(method, gpus), [&] {
        const double launch_ns = launch_ns_of(method, gpus);
        for (const int workload_ns : kWorkloadsNs) {
          run_.show(std::string(method.name) + " on " +
                    std::to_string(gpus.size()) + ", " +
                    std::to_string(workload_ns) + " ns");
          int sleeps = workload_ns / static_cast<int>(kSleepNs);
          void* arguments[] = {&sleeps};
          launch_rows(table, method, gpus, sleep_call(method, arguments),
                      repeats_within(kWorkloadSeriesNs,
                                     std::max<double>(workload_ns, launch_ns)),
                      workload_ns);
        }
      });
    });
  }

  MeasuringRun run_;
};

ProgramInfo program_info() {
  ProgramInfo info;
  info.name = "ImplicitBarrier";
  info.summary =
      "What a kernel launch costs as a barrier: of null kernels, of sleeping\n"
      "kernels by kernel fusion (Eq. 6), and of kernels of 0 to 256 us.";
  info.takes_gpu_count = true;
  for (const LaunchMethodInfo& method : launch_methods()) {
    info.methods.push_back({method.name, method.description});
  }
  info.columns = describe("null kernel", launch_columns(false, true)) +
                 describe("sleep kernel", fusion_columns(true)) +
                 describe("workload test", launch_columns(true, true));
  return info;
}

}  // namespace
}  // namespace syncbench

int main(int argc, char** argv) {
  using namespace syncbench;
  return program_main<ImplicitBarrier>(program_info(), argc, argv);
}
