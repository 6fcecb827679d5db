// Measurements of TestRepeat: totals of straight-line repeats, and the
// float-add chain by two clocks.
#pragma once

#include <vector>

#include "explicit_barrier/float_add.cuh"
#include "explicit_barrier/grid_point.cuh"
#include "explicit_barrier/inter_sm.hpp"
#include "explicit_barrier/multi_grid_methods.cuh"

namespace syncbench {

/// What kRepeats operations in a row take.
struct RepeatTotals {
  Summary cycles;       ///< by the SM clock
  Summary nanoseconds;  ///< by the CPU clock, launch to end, with other trips
};

/// Cycles of one launch. Many blocks have no common clock.
inline double cycles_of(const std::vector<WarpRecord>& records, int blocks) {
  return blocks > 1 ? mean_own_time(records) : latency_window(records);
}

/// How a method's kernel is launched on one GPU: cooperatively, so that it may
/// synchronize its blocks.
template <class Method>
class RepeatLaunch {
 public:
  RepeatLaunch(int device, const KernelCall& call)
      : stream_(device), call_(call) {}
  cudaError_t operator()() { return launch_cooperative(call_, stream_.get()); }

 private:
  Stream stream_;
  KernelCall call_;
};

#if CUDART_VERSION < 13000
template <>
class RepeatLaunch<MultiGridSync> {
 public:
  RepeatLaunch(int device, const KernelCall& call)
      : stream_(device), launch_({call}, {device}, {stream_.get()}) {}
  cudaError_t operator()() { return launch_(); }

 private:
  Stream stream_;
  MultiDeviceLaunch launch_;
};
#endif

/// Totals of `timed`, sampled; the first two of three trips bring the code into
/// the instruction cache. CudaError(cudaErrorNotSupported) where the GPU lacks
/// the launch.
template <class Method, int kRepeats>
RepeatTotals measure_repeats(const Gpu& gpu, TimedCall<Method, kRepeats>& timed,
                             int blocks, int samples) {
  constexpr int kTrips = 3;
  RepeatLaunch<Method> launch(gpu.index, timed.with_last_of(kTrips));
  std::vector<double> cycles, nanoseconds;
  for (int sample = -1; sample < samples; ++sample) {  // -1: warm-up
    check_interrupt();
    const auto start = HostClock::now();
    CUDA_CHECK(launch());
    CUDA_CHECK(cudaDeviceSynchronize());
    const double total = elapsed_ns(start, HostClock::now());
    if (sample < 0) continue;
    nanoseconds.push_back(total);
    cycles.push_back(cycles_of(timed.read_records(), blocks));
  }
  return {summarize(std::move(cycles)), summarize(std::move(nanoseconds))};
}

/// One float addition by one of the two methods of section IX-D.
struct FloatAddResult {
  int repeats = 0;      ///< additions in the difference
  Summary cycles;       ///< of all of them
  Summary nanoseconds;  ///< of all of them; what the CPU clock saw
};

/// By the SM's clock: two straight-line lengths, one twice the other.
inline FloatAddResult float_add_by_sm_clock(const Gpu& gpu, int samples,
                                            double mhz) {
  constexpr int kRepeats = FloatAdd::kRepeats;
  TimedCall<FloatAdd, kRepeats> shorter(gpu.index, 1, 32);
  TimedCall<FloatAdd, 2 * kRepeats> longer(gpu.index, 1, 32);
  const RepeatTotals one = measure_repeats(gpu, shorter, 1, samples);
  const RepeatTotals two = measure_repeats(gpu, longer, 1, samples);
  FloatAddResult result;
  result.repeats = kRepeats;
  result.cycles = difference(two.cycles, one.cycles, 1);
  result.nanoseconds = per(result.cycles, mhz / 1e3);
  return result;
}

/// By the CPU's clock (Eq. 7): the same two lengths, each the same number of
/// times, so that the loop round them cancels as well.
inline FloatAddResult float_add_by_cpu_clock(const Gpu& gpu, int samples,
                                             double mhz) {
  constexpr int kRepeats = FloatAdd::kRepeats;
  constexpr int kTrips = 2048;  // the two kernels are 2 ms apart
  GridPoint<FloatAdd, kRepeats> one(gpu, 1, 32);
  GridPoint<FloatAdd, 2 * kRepeats> two(gpu, 1, 32);
  std::vector<double> shorter, longer;
  for (int sample = -1; sample < samples; ++sample) {  // -1: warm-up
    check_interrupt();
    const double short_ns = one.run(kTrips * kRepeats);
    const double long_ns = two.run(kTrips * 2 * kRepeats);
    if (sample < 0) continue;
    shorter.push_back(short_ns);
    longer.push_back(long_ns);
  }
  FloatAddResult result;
  result.repeats = kTrips * kRepeats;
  result.nanoseconds = difference(summarize(std::move(longer)),
                                  summarize(std::move(shorter)), 1);
  result.cycles = per(result.nanoseconds, 1e3 / mhz);
  return result;
}

}  // namespace syncbench
