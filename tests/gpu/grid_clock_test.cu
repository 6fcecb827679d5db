// GPU test: barriers of several GPUs, and barriers to which a block comes late,
// by the SMs' own clocks in kernels of this file. Which barrier of several GPUs
// that is the toolkit decides: multi_grid_sync before CUDA 13, then
// peer_grid_sync.
#include <cooperative_groups.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "common/measuring_run.hpp"
#include "explicit_barrier/latency.hpp"
#include "explicit_barrier/methods.hpp"
#include "explicit_barrier/timed_kernel.cuh"
#include "explicit_barrier/timed_launch.hpp"
#include "peer_grid_barrier/barrier.cuh"
#include "tests/gpu/gpu_test.hpp"
#include "tests/gpu/measure_inter_sm.hpp"

namespace syncbench::explicit_barrier::grid_clock {
namespace {

// In the loop each block is late: how far blocks are apart matters.
constexpr double kLateTolerance = 0.2;
// The code round peer_grid_sync moves it where blocks crowd.
constexpr double kSeveralTolerance = 0.1;

int compare(const char* name, int gpus, int per_sm, int threads,
            double suite_ns, double clock_ns, double tolerance) {
  const double off = suite_ns / clock_ns - 1;
  std::printf(
      "%s on %d, %2d x %4d: %9.2f ns by the suite, %9.2f ns by SM clock, "
      "%+.3f%%\n",
      name, gpus, per_sm, threads, suite_ns, clock_ns, 100 * off);
  return std::abs(off) < tolerance ? 0 : 1;
}

/// A warp of one block after the other comes so many cycles late. Notes the sum
/// of the clock when each block comes late, less that when it is out before.
/// Every block has as many turns, so what their clocks differ by cancels.
__global__ void __launch_bounds__(1024, kFullBlocksPerSm)
    late_loop(int in_step, int repeats, long long late, long long* cycles) {
  auto grid = cooperative_groups::this_grid();
  long long sum = 0;
  unsigned whose = 0;
  for (int i = -in_step; i < repeats; ++i) {
    const unsigned next = (whose + 7) % gridDim.x;
    if (blockIdx.x == whose && threadIdx.x < 32) {
      const long long begin = read_sm_clock();
      while (read_sm_clock() - begin < late) {
      }
      if (i >= 0) sum -= read_sm_clock();
    }
    grid.sync();
    if (blockIdx.x == next && i >= 0) sum += read_sm_clock();
    whose = next;
  }
  if (threadIdx.x == 0) cycles[blockIdx.x] = sum;
}

// From the arrival of the late block of that kernel to the exit of the next.
double late_loop_ns(const Gpu& gpu, int blocks, int threads, double mhz) {
  int in_step = 8, repeats = 2 * blocks;
  long long late = kLateCycles;
  const DeviceBuffer<long long> cycles(gpu.index, blocks);
  long long* address = cycles.get();
  void* arguments[] = {&in_step, &repeats, &late, &address};
  const Stream stream(gpu.index);
  CUDA_CHECK(launch_cooperative({reinterpret_cast<const void*>(late_loop),
                                 dim3(blocks), dim3(threads), arguments},
                                stream.get()));
  CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  double sum = 0;
  for (const long long each : cycles.read()) sum += static_cast<double>(each);
  return sum / repeats * 1e3 / mhz;
}

int check_late(MeasuringRun& run, int threads) {
  const int blocks = run.gpu().sm_count;
  TimedLaunch launch(find_method("grid_sync"), {run.gpu()},
                     {blocks, threads, 32});
  const double mhz = run.clock_mhz();
  const double suite_ns =
      measure_late(launch, run.options().samples).mean * 1e3 / mhz;
  const double loop_ns = late_loop_ns(run.gpu(), blocks, threads, mhz);
  return compare("grid_sync, one late,", 1, 1, threads, suite_ns, loop_ns,
                 kLateTolerance);
}

#if CUDART_VERSION < 13000
#pragma nv_diag_suppress 1215  // deprecated, which is why it is measured
constexpr const char* kSeveralGpuSync = "multi_grid_sync";
using Parameter = None;
#else
constexpr const char* kSeveralGpuSync = "peer_grid_sync";
using Parameter = peer_grid::BarrierEnd;
#endif

// One after the other, the first of them to bring all GPUs in step; notes what
// the others take by the clock of each block's SM.
__global__ void __launch_bounds__(1024, kFullBlocksPerSm)
    barrier_loop(int in_step, int repeats, long long* cycles,
                 [[maybe_unused]] Parameter parameter) {
#if CUDART_VERSION < 13000
  auto barrier = cooperative_groups::this_multi_grid();
#else
  peer_grid::Barrier barrier(parameter);
#endif
  for (int i = 0; i < in_step; ++i) barrier.sync();
  const long long start = read_sm_clock();
#pragma unroll 4
  for (int i = 0; i < repeats; ++i) barrier.sync();
  if (threadIdx.x == 0) cycles[blockIdx.x] = read_sm_clock() - start;
}

// That kernel on several GPUs.
class ClockLoop {
 public:
  /// With the arguments of `suite`, so that both meet at the same memory.
  ClockLoop(const std::vector<Gpu>& gpus, int blocks, int threads,
            const TimedLaunch& suite)
      : gpus_(gpus), threads_(gpus), per_gpu_(gpus.size()) {
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      buffers_.emplace_back(gpus[i].index, blocks);
      streams_.emplace_back(gpus[i].index);
      probes_.emplace_back(gpus[i].index);
      PerGpu& gpu = per_gpu_[i];
      gpu.cycles = buffers_[i].get();
      gpu.arguments[3] = suite.argument(static_cast<int>(i));
      gpu.call = {reinterpret_cast<const void*>(barrier_loop), dim3(blocks),
                  dim3(threads), gpu.arguments};
    }
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      // Alone, without a barrier: a first launch may wait for other GPUs.
      const DeviceGuard guard(gpus[i].index);
      CUDA_CHECK(launch_cooperative(per_gpu_[i].call, streams_[i].get()));
      CUDA_CHECK(cudaStreamSynchronize(streams_[i].get()));
    }
  }

  /// Nanoseconds of a barrier, mean of all blocks and of so many launches.
  double barrier_ns(int launches) {
    constexpr int kInStep = 8, kRepeats = 512;
    for (PerGpu& gpu : per_gpu_) {
      gpu.in_step = kInStep;
      gpu.repeats = kRepeats;
    }
    double sum = 0;
    for (int launch = 0; launch < launches; ++launch) {
      launch_all();
      for (std::size_t i = 0; i < gpus_.size(); ++i) {
        std::vector<long long> cycles(buffers_[i].size());
        CUDA_CHECK(cudaMemcpy(cycles.data(), buffers_[i].get(),
                              cycles.size() * sizeof cycles[0],
                              cudaMemcpyDefault));
        double mean = 0;
        for (const long long each : cycles) {
          mean += static_cast<double>(each) / cycles.size();
        }
        sum += mean / kRepeats * 1e3 / probes_[i].read_mhz();
      }
    }
    return sum / launches / gpus_.size();
  }

 private:
#if CUDART_VERSION < 13000
  void launch_all() {
    std::vector<KernelCall> calls;
    for (const PerGpu& gpu : per_gpu_) calls.push_back(gpu.call);
    MultiDeviceLaunch launch(calls, device_numbers(gpus_),
                             stream_handles(streams_));
    CUDA_CHECK(launch());
    for (const Stream& stream : streams_) {
      CUDA_CHECK(cudaStreamSynchronize(stream.get()));
    }
  }
#else
  void launch_all() {
    threads_.run([this](int rank) {
      CallResult result;
      cudaStream_t stream = streams_[rank].get();
      result.note(launch_cooperative(per_gpu_[rank].call, stream), "launch");
      result.note(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
      return result;
    });
  }
#endif

  struct PerGpu {
    int in_step = 0, repeats = 0;
    long long* cycles = nullptr;
    void* arguments[4] = {&in_step, &repeats, &cycles, nullptr};
    KernelCall call;
  };

  std::vector<Gpu> gpus_;
  GpuThreads threads_;
  std::vector<DeviceBuffer<long long>> buffers_;
  std::vector<Stream> streams_;
  std::vector<SmClockProbe> probes_;
  std::vector<PerGpu> per_gpu_;  // not moved: arguments point into them
};

int check_several(MeasuringRun& run, const std::vector<Gpu>& gpus, int per_sm,
                  int threads) {
  constexpr int kLaunches = 40;
  const int blocks = per_sm * run.gpu().sm_count;
  TimedLaunch point(find_method(kSeveralGpuSync), gpus, {blocks, threads, 32});
  const double suite_ns =
      measure_inter_sm(point, run.options().samples, {32, 288, 4})
          .instruction.mean;
  ClockLoop loop(gpus, blocks, threads, point);
  const double other_ns = loop.barrier_ns(kLaunches);
  return compare(kSeveralGpuSync, static_cast<int>(gpus.size()), per_sm,
                 threads, suite_ns, other_ns, kSeveralTolerance);
}

int run() {
  ProgramInfo info;
  info.name = "grid_clock_test";
  info.takes_gpu_count = true;
  Options options;
  options.samples = 20;
  options.gpu_count = static_cast<int>(find_gpus().size());
  LineWriter out(STDOUT_FILENO);
  MeasuringRun run(info, options, out);
  run.begin_section();
  int failures = 0;
  for (const int threads : {32, 1024}) failures += check_late(run, threads);
  constexpr struct {
    int per_sm, threads;
  } kShapes[] = {{1, 32}, {1, 1024}, {4, 256}, {16, 64}, {32, 64}};
  const MethodEntry& several = find_method(kSeveralGpuSync);
  for (std::size_t count = 2; count <= run.gpus().size(); ++count) {
    const std::vector<Gpu> gpus(run.gpus().begin(), run.gpus().begin() + count);
    for (const auto [per_sm, threads] : kShapes) {
      if (per_sm > blocks_that_fit(several, several.repeats(32), threads)) {
        continue;
      }
      failures += check_several(run, gpus, per_sm, threads);
    }
  }
  return failures == 0 ? 0 : 1;
}

[[maybe_unused]] const bool kAdded =
    add_gpu_test("grid_clock", [](const Words&) { return run(); });

}  // namespace
}  // namespace syncbench::explicit_barrier::grid_clock
