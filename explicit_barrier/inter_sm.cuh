// Latency of methods across SMs (study, section IX-D), by the CPU's clock: the
// same kernel at two repeat counts, launch to end. Results in nanoseconds.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/launch.hpp"
#include "common/session.cuh"
#include "common/timing.hpp"
#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench {

/// One launch shape of a method on GPU 0; runs it at any repeat count.
template <class Method>
class GridPoint {
 public:
  GridPoint(const Gpu& gpu, int blocks, int threads)
      : stream_(gpu.index),
        records_(gpu.index,
                 static_cast<std::size_t>(blocks) * ((threads + 31) / 32)),
        sink_(gpu.index, 1),
        blocks_(blocks),
        threads_(threads) {}

  /// Most blocks of `threads` threads that one SM holds at once.
  static int blocks_that_fit(int threads) {
    int blocks = 0;
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, timed_kernel<Method, Method::kRepeats>, threads, 0));
    return blocks;
  }

  /// Nanoseconds from before the launch to after the synchronization of a
  /// kernel that does `repeats` operations (a multiple of kRepeats).
  double run(int repeats) {
    int trips = repeats / Method::kRepeats;
    int first_timed = 0;
    unsigned active_lanes = 32;
    WarpRecord* records = records_.get();
    unsigned* sink = sink_.get();
    void* arguments[] = {&trips, &first_timed, &active_lanes, &records, &sink};
    const KernelCall call = {
        reinterpret_cast<const void*>(&timed_kernel<Method, Method::kRepeats>),
        dim3(blocks_), dim3(threads_), arguments};
    const auto start = HostClock::now();
    const cudaError_t launched = launch_cooperative(call, stream_.get());
    const cudaError_t finished = cudaStreamSynchronize(stream_.get());
    const double total = elapsed_ns(start, HostClock::now());
    CUDA_CHECK(launched);
    CUDA_CHECK(finished);
    return total;
  }

  /// Records of the last run, one a warp, by the SMs' own clocks.
  std::vector<WarpRecord> read_records() const {
    std::vector<WarpRecord> host(records_.size());
    CUDA_CHECK(cudaMemcpy(host.data(), records_.get(),
                          host.size() * sizeof(WarpRecord),
                          cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  Stream stream_;
  DeviceBuffer<WarpRecord> records_;
  DeviceBuffer<unsigned> sink_;
  int blocks_;
  int threads_;
};

/// How a point is sampled: the two repeat counts of Eq. 7, and how many
/// launches of each one sample is the mean of.
struct SamplingPlan {
  int basic;
  int more;
  int basic_launches;
  int more_launches;
};

/// Smallest 2^k or 3 * 2^k, at least 64, of operations that take `target_ns`.
/// Few distinct counts: small changes of speed leave them alone.
inline int steps_for(double target_ns, double each_ns) {
  constexpr int kFewest = 64, kMost = 1 << 20;
  int steps = kFewest;
  while (steps * each_ns < target_ns && steps < kMost) {
    if (steps % 3 != 0 && steps * 3 / 2 * each_ns >= target_ns) {
      return steps * 3 / 2;
    }
    steps *= 2;
  }
  return steps;
}

/// Interquartile range of `totals` relative to their median.
inline double relative_spread(std::vector<double> totals) {
  std::sort(totals.begin(), totals.end());
  const std::size_t n = totals.size();
  return (totals[n - 1 - n / 4] - totals[n / 4]) / totals[n / 2];
}

/// Chooses the plan from a few launches. The noise of a launch is the same for
/// all points, so a fixed time, not a fixed count, makes them equally precise;
/// the basic kernel is short, so several launches of it cost little. A barrier
/// may also wander between states during a kernel (grid_sync at one block per
/// SM does, by 1%): then the mean of several shorter launches is steadier than
/// one long one.
template <class Point>
SamplingPlan choose_plan(Point& point) {
  constexpr int kShort = 16, kLong = 144, kTries = 3, kPilots = 16;
  constexpr double kLongNs = 2.8e6, kShorterNs = 0.8e6, kWandering = 0.0025;
  double shorter = INFINITY, longer = INFINITY;
  for (int i = 0; i < kTries; ++i) {
    shorter = std::min(shorter, point.run(kShort));
    longer = std::min(longer, point.run(kLong));
  }
  const double each = std::max((longer - shorter) / (kLong - kShort), 1.0);
  int steps = steps_for(kLongNs, each);
  std::vector<double> totals;
  for (int i = 0; i < kPilots; ++i) totals.push_back(point.run(steps));
  if (relative_spread(std::move(totals)) < kWandering) {
    return {steps / 16, steps / 16 + steps, 8, 1};
  }
  steps = steps_for(kShorterNs, each);
  return {steps / 16, steps / 16 + steps, 16, 10};
}

struct InterSmResult {
  SamplingPlan plan;
  Summary basic;        ///< total of the basic kernel
  Summary more;         ///< total of the longer kernel
  Summary instruction;  ///< one operation (Eq. 7, 8)
};

/// Mean total of `launches` launches with `repeats` operations each.
template <class Point>
double mean_total(Point& point, int repeats, int launches) {
  double sum = 0;
  for (int launch = 0; launch < launches; ++launch) sum += point.run(repeats);
  return sum / launches;
}

/// Measures one point; the two lengths alternate, so that slow drifts meet
/// both.
template <class Point>
InterSmResult measure_inter_sm(const Session& session, Point& point) {
  InterSmResult result;
  result.plan = choose_plan(point);  // which also warms up
  const SamplingPlan& plan = result.plan;
  std::vector<double> basic, more;
  for (int sample = 0; sample < session.options().samples; ++sample) {
    check_interrupt();
    basic.push_back(mean_total(point, plan.basic, plan.basic_launches));
    more.push_back(mean_total(point, plan.more, plan.more_launches));
  }
  result.basic = summarize(std::move(basic));
  result.more = summarize(std::move(more));
  result.instruction =
      difference(result.more, result.basic, plan.more - plan.basic);
  return result;
}

}  // namespace syncbench
