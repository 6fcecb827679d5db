// GPU test: grid_sync by the CPU clock's difference of two lengths (what
// BenchmarkInterSM prints) against the SMs' own clocks in the same kernel.
#include <cmath>
#include <cstdio>
#include <vector>

#include "common/measuring_run.cuh"
#include "explicit_barrier/inter_sm.hpp"
#include "explicit_barrier/timed_launch.hpp"
#include "tests/gpu_test.hpp"

namespace syncbench {
namespace {

constexpr double kTolerance = 0.01;

// Nanoseconds of one operation by the clock of every warp's SM, over the whole
// loop of the longer kernel; mean of as many launches as the CPU's clock timed,
// because launches differ by half a percent.
double in_kernel_ns(TimedLaunch& point, int repeats, int launches, double mhz) {
  std::vector<double> cycles;
  for (int launch = 0; launch < launches; ++launch) {
    point.run(repeats);
    for (const WarpRecord& record : point.records()) {
      cycles.push_back(static_cast<double>(record.end - record.start));
    }
  }
  return summarize(std::move(cycles)).mean / repeats * 1e3 / mhz;
}

int check(MeasuringRun& run, int per_sm, int threads) {
  const MethodEntry& grid_sync = find_method("grid_sync");
  if (per_sm > blocks_that_fit(grid_sync, 8, threads)) return 0;
  TimedLaunch point(grid_sync, {run.gpu()},
                    {per_sm * run.gpu().sm_count, threads, 32});
  constexpr SamplingPlan kPlan = {32, 544, 8};
  const InterSmResult result =
      measure_inter_sm(point, run.options().samples, kPlan);
  const double clock_ns =
      in_kernel_ns(point, kPlan.more, run.options().samples * kPlan.launches,
                   run.clock_mhz());
  const double off = result.instruction.mean / clock_ns - 1;
  std::printf(
      "grid_sync %2d x %4d: %9.2f ns by CPU clock, %9.2f ns by SM "
      "clock, %+.3f%%\n",
      per_sm, threads, result.instruction.mean, clock_ns, 100 * off);
  return std::abs(off) < kTolerance ? 0 : 1;
}

int run() {
  ProgramInfo info;
  info.name = "grid_clock_test";
  Options options;
  options.samples = 20;
  LineWriter out(STDOUT_FILENO);
  MeasuringRun run(info, options, out);
  run.begin_section();
  int failures = 0;
  for (int per_sm = 1; per_sm <= 32; per_sm *= 2) {
    for (const int threads : {32, 256, 1024}) {
      failures += check(run, per_sm, threads);
    }
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace syncbench

int main() { return syncbench::gpu_test_main(syncbench::run); }
