// Latency of methods inside one SM (study, section IX-C), by the SM's own
// clock. Results in cycles.
#pragma once

#include <utility>
#include <vector>

#include "common/measuring_run.cuh"
#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench {

inline constexpr int kMaxBlocksPerSm = 64;  ///< of the throughput sweep
inline constexpr int kMaxThreads = 1024;    ///< of one block

/// Memory on GPU 0 for the records of one launch.
class RecordStore {
 public:
  explicit RecordStore(const Gpu& gpu)
      : records_(gpu.index, static_cast<std::size_t>(gpu.sm_count) *
                                kMaxBlocksPerSm * kMaxThreads / 32),
        sink_(gpu.index, 1) {}

  WarpRecord* records() const { return records_.get(); }
  unsigned* sink() const { return sink_.get(); }

  /// The first `count` records of the last launch.
  std::vector<WarpRecord> read(unsigned count) const {
    std::vector<WarpRecord> host(count);
    CUDA_CHECK(cudaMemcpy(host.data(), records_.get(),
                          count * sizeof(WarpRecord), cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  DeviceBuffer<WarpRecord> records_;
  DeviceBuffer<unsigned> sink_;
};

/// Samples of the longer pair where it costs more than the pair itself.
inline constexpr int kCheckSamples = 3;

/// What a row says, and the same by a pair of lengths twice as long.
struct Repeated {
  int repeats;    ///< operations of a warp in the difference
  Summary value;  ///< of one operation, from two lengths
  double twice;   ///< the same from two lengths, each twice as long

  /// How far both are apart, relative to `value`. More than the spread says: a
  /// number that depends on how often the operation is repeated.
  double disagreement() const { return twice / value.mean - 1; }
};

/// Cycles of the trips from `first_timed` on, of one block; `window` makes them
/// from its records.
template <class Method, int kRepeats>
double block_cycles(const RecordStore& store, int trips, int first_timed,
                    int threads, int active_lanes,
                    double (*window)(const std::vector<WarpRecord>&)) {
  timed_kernel<Method, kRepeats><<<1, threads>>>(
      trips, first_timed, active_lanes, store.records(), store.sink(), {});
  CUDA_CHECK(cudaGetLastError());
  return window(store.read((threads + 31) / 32));
}

/// Latency of one operation of one warp, or of a barrier of one block: from the
/// last warp to enter to the first to leave the last of three trips (two bring
/// the code into the instruction cache). Straight lines of r and 2 r, so that
/// clock reads and all else they share cancel (Eq. 7); of 2 r and 4 r to see
/// whether that repeats.
template <class Method, int kRepeats>
Repeated measure_latency(const MeasuringRun& run, const RecordStore& store,
                         int threads, int active_lanes) {
  constexpr int kTrips = 3;
  std::vector<double> one, two, four;
  const int samples = run.options().samples;
  for (int sample = -1; sample < samples; ++sample) {  // -1: warm-up
    check_interrupt();
    const double cycles[] = {
        block_cycles<Method, kRepeats>(store, kTrips, kTrips - 1, threads,
                                       active_lanes, latency_window),
        block_cycles<Method, 2 * kRepeats>(store, kTrips, kTrips - 1, threads,
                                           active_lanes, latency_window),
        block_cycles<Method, 4 * kRepeats>(store, kTrips, kTrips - 1, threads,
                                           active_lanes, latency_window)};
    if (sample < 0) continue;
    one.push_back(cycles[0]);
    two.push_back(cycles[1]);
    four.push_back(cycles[2]);
  }
  const Summary longer = summarize(std::move(two));
  return {kRepeats, difference(longer, summarize(std::move(one)), kRepeats),
          difference(summarize(std::move(four)), longer, 2 * kRepeats).mean};
}

/// Latency of one operation of a warp among others, in one block of several
/// warps that do not wait for each other: the mean of each warp's own time,
/// over so many trips that all warps are in step with the SM's scheduling.
template <class Method>
Repeated measure_latency_among(const MeasuringRun& run,
                               const RecordStore& store, int threads,
                               int active_lanes) {
  constexpr int kRepeats = kLoopRepeats<Method>, kWarmUps = 2, kTrips = 64;
  const auto difference_at = [&](int trips, int samples) {
    std::vector<double> shorter, longer;
    for (int sample = -1; sample < samples; ++sample) {  // -1: warm-up
      check_interrupt();
      const double short_cycles =
          block_cycles<Method, kRepeats>(store, kWarmUps + trips, kWarmUps,
                                         threads, active_lanes, mean_own_time);
      const double long_cycles = block_cycles<Method, 2 * kRepeats>(
          store, kWarmUps + trips, kWarmUps, threads, active_lanes,
          mean_own_time);
      if (sample < 0) continue;
      shorter.push_back(short_cycles);
      longer.push_back(long_cycles);
    }
    return difference(summarize(std::move(longer)),
                      summarize(std::move(shorter)), kRepeats * trips);
  };
  return {kRepeats * kTrips, difference_at(kTrips, run.options().samples),
          difference_at(2 * kTrips, kCheckSamples).mean};
}

}  // namespace syncbench
