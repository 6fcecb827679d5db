// GPU test: what a launch costs, measured in ways that differ in clock, kernel
// and path. Kernel fusion by the CPU's clock, as ImplicitBarrier's main rows
// have it; kernels queued behind a held stream, by the CPU's clock without the
// pace of the CPU and by %globaltimer in the kernels, both for spinning and for
// null kernels. Medians (one stall of the host is 0.1 ms), which have to agree
// within 5%. The gap alone, between other kernels that note their own ends and
// begins, leaves out how blocks start one after the other and contains a store:
// 15%. What the study's sleeping kernels read stands beside them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "common/measuring_run.cuh"
#include "implicit_barrier/held_point.cuh"
#include "implicit_barrier/measure.hpp"
#include "tests/gpu_test.hpp"

namespace syncbench {
namespace {

constexpr double kTolerance = 0.05, kGapTolerance = 0.15;
constexpr int kUnitNs = 10000, kWarmUps = 10, kSamples = 60;

Collected collected(const NamedSamples& samples) {
  Collected one_process;
  for (const auto& [name, values] : samples) one_process[name] = {values};
  return one_process;
}

template <class Kernel>
double fusion_ns(const LaunchMethodInfo& method, const StreamPool& pool,
                 const std::vector<Gpu>& gpus, const Point& point,
                 Kernel kernel, long long amount) {
  FusionPair pair(method, pool, gpus, point, kernel, amount);
  NamedSamples warm_up, samples;
  for (int i = 0; i < kWarmUps + kSamples; ++i)
    pair.take(i < kWarmUps ? warm_up : samples);
  return fusion_result(collected(samples), point.repeats).overhead.median;
}

// By the CPU, by the timer, and the gap of spinning kernels that note it.
std::vector<double> held_ns(const LaunchMethodInfo& method,
                            const StreamPool& pool,
                            const std::vector<Gpu>& gpus, const Point& point,
                            double mhz, Gate& gate,
                            const TimesOfKernels& times) {
  HeldPoint held(method, pool, gpus, point, mhz, gate, times);
  NamedSamples warm_up, samples;
  for (int i = 0; i < kWarmUps + kSamples; ++i)
    held.take(i < kWarmUps ? warm_up : samples);
  return {median_of(samples["cpu"]), median_of(samples["timer"]),
          point.work_ns > 0 ? median_of(samples["gap"]) : 0};
}

double widest(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return *most / *least - 1;
}

// 1 where the ways differ by more than the tolerance.
int check_point(const LaunchMethodInfo& method, const StreamPool& pool,
                const std::vector<Gpu>& gpus, Point point, double mhz,
                Gate& gate, const TimesOfKernels& times) {
  const double fusion = fusion_ns(method, pool, gpus, point, spin_kernel,
                                  cycles_in(point.work_ns, mhz));
  const double sleeping = fusion_ns(method, pool, gpus, point, sleep_kernel,
                                    point.work_ns / kSleepNs);
  const auto held = held_ns(method, pool, gpus, point, mhz, gate, times);
  point.work_ns = 0;
  const auto null = held_ns(method, pool, gpus, point, mhz, gate, times);
  const double off =
      std::max(widest({fusion, held[0], held[1]}), widest({null[0], null[1]}));
  std::printf(
      "%s %d x %d: fusion %.0f, held %.0f, by timer %.0f ns (gap of kernels "
      "that note it %.0f); null kernels held %.0f, by timer %.0f: at most "
      "%.1f%% apart; sleeping kernels, fusion: %.0f\n",
      method.name, point.blocks, point.threads, fusion, held[0], held[1],
      held[2], null[0], null[1], 100 * off, sleeping);
  return off < kTolerance && widest({fusion, held[2]}) < kGapTolerance ? 0 : 1;
}

int run() {
  if (launches_wait_for_kernels()) return kSkipped;
  ProgramInfo info;
  info.name = "launch_gap_test";
  Options options;
  LineWriter out(STDOUT_FILENO);
  MeasuringRun run(info, options, out);
  run.begin_section();
  const double mhz = run.clock_mhz();
  const std::vector<Gpu>& gpus = run.gpus();
  const StreamPool pool(device_numbers(gpus));
  Gate gate;
  const TimesOfKernels times(device_numbers(gpus), 128, run.gpu().sm_count);
  int failures = 0;
  for (const LaunchMethodInfo& method : launch_methods()) {
    if (!method.queues) continue;
    for (const int blocks : {1, run.gpu().sm_count}) {
      Point point;
      point.method = method.name;
      point.repeats = 128;
      point.blocks = blocks;
      point.threads = blocks == 1 ? 32 : 1024;
      point.work_ns = kUnitNs;
      failures += check_point(method, pool, gpus, point, mhz, gate, times);
    }
  }
  std::printf("%s\n", failures == 0 ? "passed" : "FAILED");
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace syncbench

int main() { return syncbench::gpu_test_main(syncbench::run); }
