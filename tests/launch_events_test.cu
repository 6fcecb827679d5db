// GPU test: the launch overhead of traditional_launch by kernel fusion, once by
// the CPU's clock (what ImplicitBarrier prints) and once by CUDA events around
// the same launches.
#include <cmath>
#include <cstdio>

#include "common/measuring_run.cuh"
#include "implicit_barrier/kernels.cuh"
#include "implicit_barrier/launch_methods.hpp"
#include "implicit_barrier/measure.hpp"
#include "tests/gpu_test.hpp"

namespace syncbench {
namespace {

constexpr double kTolerance = 0.03;
constexpr int kUnitSleeps = 10, kLaunches = 128, kSamples = 200;

// traditional_launch with its total taken by events.
class EventTimedLaunch : public LaunchMethod {
 public:
  EventTimedLaunch(const Gpu& gpu, const KernelCall& call)
      : call_(call), stream_(gpu.index) {
    CUDA_CHECK(cudaEventCreate(&start_));
    CUDA_CHECK(cudaEventCreate(&end_));
  }
  ~EventTimedLaunch() override {
    cudaEventDestroy(start_);
    cudaEventDestroy(end_);
  }

  LaunchTimes run(int repeats) override {
    CUDA_CHECK(cudaEventRecord(start_, stream_.get()));
    for (int i = 0; i < repeats; ++i) {
      CUDA_CHECK(launch_traditional(call_, stream_.get()));
    }
    CUDA_CHECK(cudaEventRecord(end_, stream_.get()));
    CUDA_CHECK(cudaDeviceSynchronize());
    float milliseconds = 0;
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start_, end_));
    return {0, 1e6 * milliseconds};
  }
  double idle_wait_ns() override { return 0; }

 private:
  KernelCall call_;
  Stream stream_;
  cudaEvent_t start_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

KernelCall sleep_call(const Gpu& gpu, void** arguments) {
  KernelCall call;
  call.kernel = reinterpret_cast<const void*>(sleep_kernel);
  call.grid = dim3(gpu.sm_count);
  call.block = dim3(1024);
  call.arguments = arguments;
  return call;
}

int run() {
  ProgramInfo info;
  info.name = "launch_events_test";
  Options options;
  LineWriter out(STDOUT_FILENO);
  MeasuringRun run(info, options, out);
  if (run.gpu().major < 7) return kSkipped;  // no sleep instruction
  int single_sleeps = kUnitSleeps, fused_sleeps = kUnitSleeps * kLaunches;
  void* single_arguments[] = {&single_sleeps};
  void* fused_arguments[] = {&fused_sleeps};
  const KernelCall single = sleep_call(run.gpu(), single_arguments);
  const KernelCall fused = sleep_call(run.gpu(), fused_arguments);
  SingleGpuLaunch cpu_single(launch_traditional, run.gpu(), single);
  SingleGpuLaunch cpu_fused(launch_traditional, run.gpu(), fused);
  EventTimedLaunch event_single(run.gpu(), single);
  EventTimedLaunch event_fused(run.gpu(), fused);
  const FusionResult by_cpu =
      measure_fusion(cpu_single, cpu_fused, kLaunches, kSamples);
  const FusionResult by_events =
      measure_fusion(event_single, event_fused, kLaunches, kSamples);
  const double off = by_cpu.overhead.mean / by_events.overhead.mean - 1;
  std::printf(
      "launch overhead: %.1f +- %.1f ns by CPU clock, %.1f +- %.1f ns by CUDA "
      "events, %+.2f%%\n",
      by_cpu.overhead.mean, by_cpu.overhead.ci95, by_events.overhead.mean,
      by_events.overhead.ci95, 100 * off);
  return std::abs(off) < kTolerance ? 0 : 1;
}

}  // namespace
}  // namespace syncbench

int main() { return syncbench::gpu_test_main(syncbench::run); }
