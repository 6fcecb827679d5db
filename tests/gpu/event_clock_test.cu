// GPU test: what the suite measures with its kernels and clocks, by kernels of
// this file, plain loops, between CUDA events. Cycles without an SM's clock: a
// dependent float addition takes a known number of them.
#include <cooperative_groups.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <deque>
#include <vector>

#include "common/measuring_run.hpp"
#include "common/statistics.hpp"
#include "explicit_barrier/latency.hpp"
#include "explicit_barrier/methods.hpp"
#include "explicit_barrier/timed_kernel.cuh"
#include "peer_grid_barrier/barrier.cuh"
#include "tests/gpu/events.hpp"
#include "tests/gpu/gpu_test.hpp"
#include "tests/gpu/measure_inter_sm.hpp"

namespace syncbench::explicit_barrier::event_clock {
namespace {

constexpr double kTolerance = 0.01;      // inside one SM
constexpr double kFewTolerance = 0.05;   // of few operations: a cycle is 4%
constexpr double kGridTolerance = 0.02;  // its level differs between launches
constexpr double kPeerTolerance = 0.05;  // and with the code round the barrier
constexpr int kPlaces = 10;
constexpr int kBody = 256;
constexpr int kAdds = 1024;  // more, for nothing hides the loop round them

__global__ void add_loop(int trips, float addend, float* sink) {
  float value = threadIdx.x;
  for (int trip = 0; trip < trips; ++trip) {
#pragma unroll
    for (int i = 0; i < kAdds; ++i) value += addend;
  }
  *sink = value;
}

__global__ void block_barrier_loop(int trips) {
  for (int trip = 0; trip < trips; ++trip) {
#pragma unroll
    for (int i = 0; i < kBody; ++i) __syncthreads();
  }
}

__global__ void shuffle_loop(int trips, unsigned* sink) {
  unsigned value = threadIdx.x;
  for (int trip = 0; trip < trips; ++trip) {
#pragma unroll
    for (int i = 0; i < kBody; ++i) {
      value = __shfl_down_sync(0xffffffffu, value, 1);
    }
  }
  *sink = value;
}

/// kCount shuffles a trip among the first `lanes` lanes of a warp.
template <int kCount>
__global__ void coalesced_loop(int trips, unsigned lanes, unsigned* sink) {
  if (threadIdx.x >= lanes) return;
  const auto group = cooperative_groups::coalesced_threads();
  unsigned value = threadIdx.x;
#pragma unroll 1
  for (int trip = 0; trip < trips; ++trip) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) value = group.shfl_down(value, 1);
  }
  *sink = value;
}

__global__ void __launch_bounds__(1024, kFullBlocksPerSm)
    grid_barrier_loop(int repeats) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
#pragma unroll 8
  for (int i = 0; i < repeats; ++i) grid.sync();
}

__global__ void __launch_bounds__(1024, kFullBlocksPerSm)
    peer_barrier_loop(int repeats, peer_grid::BarrierEnd end) {
  peer_grid::Barrier barrier(end);
#pragma unroll 4
  for (int i = 0; i < repeats; ++i) barrier.sync();
}

/// Nanoseconds of one of `count` repeats that launch(2 * count) does more than
/// launch(count); median of `samples`, after one that warms up.
template <class Launch>
double each_ns(Launch launch, int count, int samples) {
  std::vector<double> all;
  for (int sample = -1; sample < samples; ++sample) {
    const double one = events_ns([&] { return launch(count); });
    const double two = events_ns([&] { return launch(2 * count); });
    if (sample >= 0) all.push_back((two - one) / count);
  }
  return summarize(all).median;
}

// Of a trip of `kernel` with `arguments` on one block.
template <class... Parameters, class... Arguments>
double trip_ns(void (*kernel)(int, Parameters...), int threads,
               Arguments... arguments) {
  constexpr int kTrips = 1000, kSamples = 15;
  return each_ns(
      [&](int trips) {
        kernel<<<1, threads>>>(trips, arguments...);
        return cudaGetLastError();
      },
      kTrips, kSamples);
}

int compare(const char* name, int per_sm, int threads, double suite,
            double here, double tolerance, const char* unit) {
  const double off = suite / here - 1;
  std::printf("%-14s %2d x %4d: %9.3f %s by the suite, %9.3f here, %+.2f%%\n",
              name, per_sm, threads, suite, unit, here, 100 * off);
  return std::abs(off) < tolerance ? 0 : 1;
}

// As few operations in a row as the suite's kernels have: with more the number
// depends on how many there are. Two loops, because nothing hides what is round
// so few; where they lie moves a trip.
template <int kFew, int kMore>
int check_coalesced(MeasuringRun& run, double cycle_ns, int lanes,
                    unsigned* sink) {
  const double shuffle_ns = (trip_ns(coalesced_loop<kMore>, 32, lanes, sink) -
                             trip_ns(coalesced_loop<kFew>, 32, lanes, sink)) /
                            (kMore - kFew);
  TimedLaunch launch(find_method("coales_shufl"), {run.gpu()}, {1, 32, lanes});
  return compare("coales_shufl", 1, lanes,
                 measure_latency(launch, run.options().samples).value.mean,
                 shuffle_ns / cycle_ns, kFewTolerance, "cycles");
}

int check_inside_sm(MeasuringRun& run) {
  const int samples = run.options().samples;
  const DeviceBuffer<float> sum(run.gpu().index, 1);
  const DeviceBuffer<unsigned> value(run.gpu().index, 1);
  const double cycle_ns = trip_ns(add_loop, 32, 1.5f, sum.get()) / kAdds / 4;
  int failures = 0;
  for (const int threads : {32, 64, 256, 1024}) {
    TimedLaunch launch(find_method("blocksync"), {run.gpu()}, {1, threads, 32});
    const Repeated barrier = measure_latency(launch, samples);
    failures += compare("blocksync", 1, threads, barrier.value.mean,
                        trip_ns(block_barrier_loop, threads) / kBody / cycle_ns,
                        kTolerance, "cycles");
  }
  for (const int threads : {32, 256, 1024}) {
    TimedLaunch launch(find_method("tile_shufl"), {run.gpu()},
                       {1, threads, 32});
    const Repeated shuffle = threads == 32
                                 ? measure_latency(launch, samples)
                                 : measure_latency_among(launch, samples);
    failures +=
        compare("tile_shufl", 1, threads, shuffle.value.mean,
                trip_ns(shuffle_loop, threads, value.get()) / kBody / cycle_ns,
                kTolerance, "cycles");
  }
  return failures + check_coalesced<2, 8>(run, cycle_ns, 32, value.get()) +
         check_coalesced<4, 8>(run, cycle_ns, 16, value.get());
}

// Of a barrier of all blocks, by its loop here.
double grid_loop_ns(const void* kernel, int blocks, int threads,
                    void* parameter, int samples) {
  constexpr int kRepeats = 2000;
  return each_ns(
      [&](int repeats) {
        void* arguments[] = {&repeats, parameter};
        return cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(threads),
                                           arguments, 0, nullptr);
      },
      kRepeats, samples);
}

int check_grids(MeasuringRun& run) {
  constexpr SamplingPlan kPlan = {32, 544, 8};
  const int samples = run.options().samples;
  int failures = 0;
  constexpr struct {
    int per_sm, threads;
  } kShapes[] = {{1, 32}, {1, 1024}, {4, 256}, {16, 64}, {32, 64}};
  for (const auto [per_sm, threads] : kShapes) {
    const MethodEntry& grid_sync = find_method("grid_sync");
    if (per_sm > blocks_that_fit(grid_sync, 8, threads)) continue;
    const int blocks = per_sm * run.gpu().sm_count;
    TimedLaunch grid(grid_sync, {run.gpu()}, {blocks, threads, 32});
    failures +=
        compare("grid_sync", per_sm, threads,
                measure_inter_sm(grid, samples, kPlan).instruction.mean,
                grid_loop_ns(reinterpret_cast<const void*>(grid_barrier_loop),
                             blocks, threads, nullptr, 10),
                kGridTolerance, "ns");
    // Where the barrier's memory lies moves it; both sides are the mean over
    // several places.
    std::deque<TimedLaunch> places;
    for (int i = 0; i < kPlaces; ++i) {
      places.emplace_back(find_method("peer_grid_sync"),
                          std::vector<Gpu>{run.gpu()},
                          Shape{blocks, threads, 32});
    }
    double suite_ns = 0, here_ns = 0;
    for (TimedLaunch& peer : places) {
      suite_ns +=
          measure_inter_sm(peer, samples / kPlaces, kPlan).instruction.mean /
          kPlaces;
      here_ns += grid_loop_ns(reinterpret_cast<const void*>(peer_barrier_loop),
                              blocks, threads, peer.argument(0), 2) /
                 kPlaces;
    }
    failures += compare("peer_grid_sync", per_sm, threads, suite_ns, here_ns,
                        kPeerTolerance, "ns");
  }
  return failures;
}

int run() {
  ProgramInfo info;
  info.name = "event_clock_test";
  Options options;
  options.samples = 20;
  LineWriter out(STDOUT_FILENO);
  MeasuringRun run(info, options, out);
  if (run.gpu().major < 7) return kSkipped;  // another latency, no such barrier
  run.begin_section();
  const int failures = check_inside_sm(run) + check_grids(run);
  return failures == 0 ? 0 : 1;
}

[[maybe_unused]] const bool kAdded =
    add_gpu_test("event_clock", [](const Words&) { return run(); });

}  // namespace
}  // namespace syncbench::explicit_barrier::event_clock
