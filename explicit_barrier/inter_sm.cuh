// Latency of methods across SMs (study, section IX-D), by the CPU's clock: the
// same kernel at two repeat counts, launch to end. Results in nanoseconds.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/launch.cuh"
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

/// The two repeat counts of Eq. 7.
struct RepeatCounts {
  int basic;
  int more;
};

/// Repeat counts such that their difference takes at least `target_ns`: the
/// noise of a launch is the same for all points, so a fixed time, not a fixed
/// count, gives all of them the same precision. Powers of two, so that small
/// changes of speed leave the counts alone.
template <class Point>
RepeatCounts choose_repeats(Point& point, double target_ns) {
  constexpr int kShort = 16, kLong = 144, kTries = 3, kMostSteps = 1 << 20;
  double shorter = INFINITY, longer = INFINITY;
  for (int i = 0; i < kTries; ++i) {
    shorter = std::min(shorter, point.run(kShort));
    longer = std::min(longer, point.run(kLong));
  }
  const double each = std::max((longer - shorter) / (kLong - kShort), 1.0);
  int steps = 64;
  while (steps * each < target_ns && steps < kMostSteps) steps *= 2;
  return {steps / 8, steps / 8 + steps};
}

struct InterSmResult {
  RepeatCounts repeats;
  Summary basic;        ///< total of the basic kernel
  Summary more;         ///< total of the longer kernel
  Summary instruction;  ///< one operation (Eq. 7, 8)
};

/// Measures one point; the two lengths alternate, so that slow drifts meet both.
template <class Point>
InterSmResult measure_inter_sm(const Session& session, Point& point) {
  constexpr double kTargetNs = 1.5e6;
  InterSmResult result;
  result.repeats = choose_repeats(point, kTargetNs);
  std::vector<double> basic, more;
  for (int sample = -1; sample < session.options().samples; ++sample) {
    check_interrupt();
    const double basic_ns = point.run(result.repeats.basic);
    const double more_ns = point.run(result.repeats.more);
    if (sample < 0) continue;  // warm-up
    basic.push_back(basic_ns);
    more.push_back(more_ns);
  }
  result.basic = summarize(std::move(basic));
  result.more = summarize(std::move(more));
  result.instruction = difference(result.more, result.basic,
                                  result.repeats.more - result.repeats.basic);
  return result;
}

}  // namespace syncbench
