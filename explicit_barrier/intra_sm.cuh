// Latency and throughput of methods inside one SM (study, section IX-C), by the
// SM's own clock. Results in cycles.
#pragma once

#include <vector>

#include "common/measuring_run.cuh"
#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench {

inline constexpr int kMaxBlocksPerSm = 64;  ///< of the throughput sweep
inline constexpr int kMaxThreads = 1024;    ///< of one block
inline constexpr int kSmSlots = 1024;       ///< more than any GPU's SM numbers

/// From the first warp to enter to the last to leave, for one SM; unused SMs
/// have warps == 0.
struct SmWindow {
  unsigned long long start;
  unsigned long long end;
  unsigned long long warps;
};

static __global__ void reset_windows_kernel(SmWindow* windows) {
  const unsigned sm = blockIdx.x * blockDim.x + threadIdx.x;
  if (sm < kSmSlots) windows[sm] = {~0ull, 0, 0};
}

/// Merges `count` warp records into one window an SM.
static __global__ void merge_windows_kernel(const WarpRecord* records,
                                            unsigned count, SmWindow* windows) {
  const unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= count) return;
  const WarpRecord record = records[index];
  if (record.sm >= kSmSlots) __trap();
  SmWindow& window = windows[record.sm];
  atomicMin(&window.start, static_cast<unsigned long long>(record.start));
  atomicMax(&window.end, static_cast<unsigned long long>(record.end));
  atomicAdd(&window.warps, 1ull);
}

/// Memory on GPU 0 for the records of one launch.
class RecordStore {
 public:
  explicit RecordStore(const Gpu& gpu)
      : records_(gpu.index, static_cast<std::size_t>(gpu.sm_count) *
                                kMaxBlocksPerSm * kMaxThreads / 32),
        windows_(gpu.index, kSmSlots),
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

  /// The windows of all SM slots for the first `count` records.
  std::vector<SmWindow> read_windows(unsigned count) const {
    reset_windows_kernel<<<kSmSlots / 256, 256>>>(windows_.get());
    merge_windows_kernel<<<(count + 255) / 256, 256>>>(records_.get(), count,
                                                       windows_.get());
    CUDA_CHECK(cudaGetLastError());
    std::vector<SmWindow> host(kSmSlots);
    CUDA_CHECK(cudaMemcpy(host.data(), windows_.get(),
                          kSmSlots * sizeof(SmWindow), cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  DeviceBuffer<WarpRecord> records_;
  DeviceBuffer<SmWindow> windows_;
  DeviceBuffer<unsigned> sink_;
};

/// Cycles from the last warp to enter to the first to leave the last of three
/// trips (two bring the code into the instruction cache), for one block.
template <class Method, int kRepeats>
double block_latency(const RecordStore& store, int threads, int active_lanes) {
  constexpr int kTrips = 3;
  timed_kernel<Method, kRepeats><<<1, threads>>>(
      kTrips, kTrips - 1, active_lanes, store.records(), store.sink(), {});
  CUDA_CHECK(cudaGetLastError());
  return latency_window(store.read((threads + 31) / 32));
}

/// Latency of one operation in cycles: two straight-line lengths, one twice the
/// other, so that clock reads and all else they share cancel (Eq. 7).
template <class Method>
Summary measure_latency(const MeasuringRun& run, const RecordStore& store,
                        int threads, int active_lanes) {
  constexpr int kRepeats = Method::kRepeats;
  std::vector<double> shorter, longer;
  const int samples = run.options().samples;
  for (int sample = -1; sample < samples; ++sample) {  // -1: warm-up
    check_interrupt();
    const double short_cycles =
        block_latency<Method, kRepeats>(store, threads, active_lanes);
    const double long_cycles =
        block_latency<Method, 2 * kRepeats>(store, threads, active_lanes);
    if (sample < 0) continue;
    shorter.push_back(short_cycles);
    longer.push_back(long_cycles);
  }
  return difference(summarize(longer), summarize(shorter), kRepeats);
}

/// Mean over the SMs of the cycles from first entry to last exit.
struct GridWindow {
  double cycles;
  double warps;  ///< mean warps an SM
};

template <class Method, int kRepeats>
GridWindow grid_window(const RecordStore& store, int trips, int blocks,
                       int threads, int active_lanes) {
  timed_kernel<Method, kRepeats><<<blocks, threads>>>(
      trips, 0, active_lanes, store.records(), store.sink(), {});
  CUDA_CHECK(cudaGetLastError());
  const unsigned records =
      static_cast<unsigned>(blocks) * ((threads + 31) / 32);
  GridWindow mean = {0, 0};
  int sms = 0;
  for (const SmWindow& window : store.read_windows(records)) {
    if (window.warps == 0) continue;
    ++sms;
    mean.cycles += static_cast<double>(window.end - window.start);
    mean.warps += static_cast<double>(window.warps);
  }
  return {mean.cycles / sms, mean.warps / sms};
}

struct Throughput {
  int repeats;        ///< operations of each warp in `total`
  Summary total;      ///< cycles for all of them
  Summary per_cycle;  ///< warp operations a cycle and SM
};

/// Trips that keep an SM busy for at least `target_cycles` (a power of two):
/// long against the launch of a wave of blocks, behind which a shorter window
/// would hide. `trip_cycles` is the window of one trip.
inline int trips_for(double target_cycles, double trip_cycles) {
  constexpr int kMostTrips = 1024;
  int trips = 1;
  while (trips < kMostTrips && trips * trip_cycles < target_cycles) trips *= 2;
  return trips;
}

/// Throughput of an SM with `blocks` blocks in the grid. The same kernel at t
/// and at 2 t trips: start-up, launch skew between warps and clock reads
/// cancel.
template <class Method>
Throughput measure_throughput(const MeasuringRun& run, const RecordStore& store,
                              int blocks, int threads, int active_lanes) {
  constexpr int kRepeats = 2 * Method::kRepeats;
  constexpr double kTargetCycles = 1e5;
  const auto window = [&](int trips) {
    return grid_window<Method, kRepeats>(store, trips, blocks, threads,
                                         active_lanes);
  };
  window(1);  // warm-up
  const int trips = trips_for(kTargetCycles, window(1).cycles);
  std::vector<double> shorter, longer;
  double warps = 0;
  for (int sample = 0; sample < run.options().samples; ++sample) {
    check_interrupt();
    shorter.push_back(window(trips).cycles);
    const GridWindow long_window = window(2 * trips);
    longer.push_back(long_window.cycles);
    warps += long_window.warps / run.options().samples;
  }
  Throughput result;
  result.repeats = kRepeats * trips;
  result.total = difference(summarize(std::move(longer)),
                            summarize(std::move(shorter)), 1);
  const double operations = warps * result.repeats;
  result.per_cycle.count = result.total.count;
  result.per_cycle.mean = operations / result.total.mean;
  result.per_cycle.median = operations / result.total.median;
  result.per_cycle.ci95 =
      result.per_cycle.mean * result.total.ci95 / result.total.mean;
  return result;
}

}  // namespace syncbench
