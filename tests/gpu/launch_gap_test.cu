// GPU test: what a launch costs that waits for its kernel, or that a kernel
// makes, by kernel fusion and by another clock and kernel. Rounds of launches
// that wait are timed by %globaltimer, from begin to begin of kernels that spin
// by it, for one and for two units: twice the one less the other is a round
// without its work. A graph that launches itself has kernels of its own: CUDA
// events around it, which read the GPU's timer. Medians, for a stall of the
// host moves a mean.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

#include "common/device_clock.cuh"
#include "common/measuring_run.hpp"
#include "implicit_barrier/measuring.hpp"
#include "implicit_barrier/sections/fusion.hpp"
#include "tests/gpu/events.hpp"
#include "tests/gpu/gpu_test.hpp"

namespace syncbench::implicit_barrier::launch_gap {
namespace {

constexpr double kTolerance = 0.05;
// Of several GPUs, whose launches are 5% apart on some machines.
constexpr double kThreadTolerance = 0.1;
// Of device graphs: two of the same kernel differed by 13%.
constexpr double kDeviceGraphTolerance = 0.2;
constexpr int kWarmUps = 10, kSamples = 60, kRounds = 64;

__device__ int round_number;
__device__ long long round_begins[kRounds];

// Spins until the timer is `unit_ns` further for each unit.
__global__ void round_kernel(int units, long long unit_ns) {
  const long long begin = read_global_timer();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    round_begins[round_number++ % kRounds] = begin;
  }
  while (read_global_timer() - begin < units * unit_ns) {
  }
}

double widest(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return *most / *least - 1;
}

class LaunchGapTest {
 public:
  explicit LaunchGapTest(MeasuringRun& run)
      : run_(run), mhz_(run.clock_mhz()), pool_(device_numbers(run.gpus())) {}

  /// 1 where the ways differ by more than the tolerance, else 0.
  int check(const LaunchMethodInfo& method, int gpu_count, int blocks,
            int threads) {
    const auto first = run_.gpus().begin();
    const std::vector<Gpu> gpus(first, first + gpu_count);
    Point point;
    point.method = method.name;
    point.gpus = gpu_count;
    point.blocks = blocks;
    point.threads = threads;
    point.work_ns = unit_ns_of(gpu_count);
    choose_lengths(method.queues(), point);
    return method.kernels->noting != nullptr
               ? check_rounds(method, gpus, point)
               : check_events(method, gpus, point);
  }

 private:
  using Gpus = std::vector<Gpu>;

  int check_rounds(const LaunchMethodInfo& method, const Gpus& gpus,
                   const Point& point) {
    FusionPair spinning(method, pool_, gpus, point, &UnitKernels::spin,
                        cycles_in(point.work_ns, mhz_));
    const auto* kernel = reinterpret_cast<const void*>(round_kernel);
    const auto make = [&](int units) {
      const KernelCall call = unit_call(kernel, point, units, point.work_ns);
      return method.make(pool_, gpus, ways::all_of(call, point.gpus));
    };
    const auto one_unit = make(1), two_units = make(2);
    const auto round = [&] {
      const double single_ns = round_ns(*one_unit, gpus);
      return 2 * single_ns - round_ns(*two_units, gpus);
    };
    return judge(point, spinning, "rounds by timer", round,
                 gpus.size() > 1 ? kThreadTolerance : kTolerance);
  }

  int check_events(const LaunchMethodInfo& method, const Gpus& gpus,
                   const Point& point) {
    const long long cycles = cycles_in(point.work_ns, mhz_);
    FusionPair spinning(method, pool_, gpus, point, &UnitKernels::spin, cycles);
    const auto make = [&](int units) {
      return method.make(
          pool_, gpus,
          ways::all_of(unit_call(method.kernels->spin, point, units, cycles)));
    };
    const auto launches = make(1), fused = make(point.repeats);
    const auto by_events = [&] {
      const double separate_ns = event_ns(*launches, point.repeats);
      return (separate_ns - event_ns(*fused, 1)) / (point.repeats - 1);
    };
    return judge(point, spinning, "by events", by_events,
                 kDeviceGraphTolerance);
  }

  // take_other(): the overhead of a launch by the other way.
  int judge(const Point& point, FusionPair& spinning, const char* other_way,
            const std::function<double()>& take_other, double tolerance) {
    const Samples samples = sample_alone(
        [&] {
          pool_.turn_to(pool_.turn() + 1);
          Sample sample = spinning.take();
          sample["other"] = take_other();
          return sample;
        },
        kSamples, kWarmUps);
    std::vector<double> others = samples.at("other");
    const double fusion = overhead(samples, point), other = median_of(others);
    const double off = widest({fusion, other});
    std::printf("%s: fusion %.0f, %s %.0f ns, %.1f%% apart\n",
                point.shape().c_str(), fusion, other_way, other, 100 * off);
    return off < tolerance ? 0 : 1;
  }

  double event_ns(Way& way, int repeats) {
    return events_ns([&] { return way.run(repeats), cudaSuccess; },
                     pool_.stream(0));
  }

  // From begin to begin of kernels of successive rounds, mean of the GPUs.
  double round_ns(Way& way, const Gpus& gpus) {
    for (const Gpu& gpu : gpus) {
      const DeviceGuard guard(gpu.index);
      const int none = 0;
      CUDA_CHECK(cudaMemcpyToSymbol(round_number, &none, sizeof none));
    }
    way.run(kRounds);
    double mean = 0;
    for (const Gpu& gpu : gpus) {
      const DeviceGuard guard(gpu.index);
      long long begins[kRounds];
      CUDA_CHECK(cudaMemcpyFromSymbol(begins, round_begins, sizeof begins));
      mean += static_cast<double>(begins[kRounds - 1] - begins[0]) /
              (kRounds - 1) / gpus.size();
    }
    return mean;
  }

  static double overhead(const Samples& samples, const Point& point) {
    Measured measured;
    measured.add(samples, kNan);
    return fusion_result(measured, point.repeats).overhead.median;
  }

  MeasuringRun& run_;
  double mhz_;
  StreamPool pool_;
};

int run() {
  if (launches_wait_for_kernels()) return kSkipped;
  ProgramInfo info;
  info.name = "launch_gap_test";
  info.takes_gpu_count = true;
  Options options;
  options.gpu_count = static_cast<int>(find_gpus().size());
  LineWriter out(STDOUT_FILENO);
  MeasuringRun run(info, options, out);
  run.begin_section();
  LaunchGapTest test(run);
  const int most = static_cast<int>(run.gpus().size());
  int failures = 0;
  for (const LaunchMethodInfo& method : launch_methods()) {
    if (method.queues()) continue;  // `held queue` has their second clock
    for (const int gpus : {1, most}) {
      if (gpus > 1 && !method.multi_gpu) continue;
      failures += test.check(method, gpus, 1, 32) +
                  test.check(method, gpus, run.gpu().sm_count, 1024);
      if (most == 1) break;
    }
  }
  std::printf("%s\n", failures == 0 ? "passed" : "FAILED");
  return failures == 0 ? 0 : 1;
}

[[maybe_unused]] const bool kAdded =
    add_gpu_test("launch_gap", [](const Words&) { return run(); });

}  // namespace
}  // namespace syncbench::implicit_barrier::launch_gap
