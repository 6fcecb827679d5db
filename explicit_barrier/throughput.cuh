// Throughput of one SM (study, section IX-C), by its own clock.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "explicit_barrier/intra_sm.cuh"

namespace syncbench {

inline constexpr int kSmSlots = 1024;  ///< more than any GPU's SM numbers

/// From the first warp to enter to the last to leave, for one SM; unused SMs
/// have end == 0.
struct SmWindow {
  unsigned long long start;
  unsigned long long end;
};

static __global__ void reset_windows_kernel(SmWindow* windows) {
  const unsigned sm = blockIdx.x * blockDim.x + threadIdx.x;
  if (sm < kSmSlots) windows[sm] = {~0ull, 0};
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
}

/// The windows of all SM slots for the first `count` records.
class WindowStore {
 public:
  explicit WindowStore(const Gpu& gpu) : windows_(gpu.index, kSmSlots) {}

  std::vector<SmWindow> merge(const RecordStore& store, unsigned count) const {
    reset_windows_kernel<<<kSmSlots / 256, 256>>>(windows_.get());
    merge_windows_kernel<<<(count + 255) / 256, 256>>>(store.records(), count,
                                                       windows_.get());
    CUDA_CHECK(cudaGetLastError());
    std::vector<SmWindow> host(kSmSlots);
    CUDA_CHECK(cudaMemcpy(host.data(), windows_.get(),
                          kSmSlots * sizeof(SmWindow), cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  DeviceBuffer<SmWindow> windows_;
};

/// A grid whose warps all do the same, and where its records go.
struct ThroughputShape {
  int blocks;
  int threads;
  int active_lanes;
  const RecordStore& records;
  const WindowStore& windows;
};

/// Mean over the SMs that took part.
struct GridWindow {
  double cycles;  ///< from first entry to last exit
  double warps;
};

template <class Method, int kRepeats>
GridWindow grid_window(const ThroughputShape& shape, int trips) {
  timed_kernel<Method, kRepeats><<<shape.blocks, shape.threads>>>(
      trips, 0, shape.active_lanes, shape.records.records(),
      shape.records.sink(), {});
  CUDA_CHECK(cudaGetLastError());
  const unsigned records =
      static_cast<unsigned>(shape.blocks) * ((shape.threads + 31) / 32);
  double cycles = 0;
  int sms = 0;
  for (const SmWindow& window : shape.windows.merge(shape.records, records)) {
    if (window.end == 0) continue;
    ++sms;
    cycles += static_cast<double>(window.end - window.start);
  }
  return {cycles / sms, static_cast<double>(records) / sms};
}

/// What kRepeats times `trips` operations of each warp take.
struct WindowDifference {
  Summary cycles;
  double warps;  ///< of an SM, mean
};

/// The same number of trips round bodies of twice and of once as many
/// operations: the loop cancels as well as start-up, launch skew and clock
/// reads.
template <class Method, int kRepeats>
WindowDifference window_difference(const ThroughputShape& shape, int trips,
                                   int samples) {
  std::vector<double> shorter, longer;
  double warps = 0;
  for (int sample = -1; sample < samples; ++sample) {  // -1: warm-up
    check_interrupt();
    const GridWindow one = grid_window<Method, kRepeats>(shape, trips);
    const GridWindow two = grid_window<Method, 2 * kRepeats>(shape, trips);
    if (sample < 0) continue;
    shorter.push_back(one.cycles);
    longer.push_back(two.cycles);
    warps += two.warps / samples;
  }
  return {difference(summarize(std::move(longer)),
                     summarize(std::move(shorter)), 1),
          warps};
}

struct Throughput {
  Summary total;       ///< cycles of an SM for all operations
  Repeated per_cycle;  ///< warp operations a cycle and SM
};

/// Operations of each warp: `few` for up to 8 warps that an SM holds at once,
/// half as many for twice as many warps. The same in every run, whatever they
/// take.
inline int throughput_repeats(int few, int warps_at_once) {
  constexpr int kFewWarps = 8;
  int repeats = few;
  for (int warps = kFewWarps; warps < warps_at_once; warps *= 2) repeats /= 2;
  return repeats;
}

/// Throughput of an SM; `few` as throughput_repeats takes it, which gives each
/// warp of each wave of blocks so much to do that the waves' starts and ends,
/// which do not quite cancel, stay hidden: tile_shufl of 64 x 1024 a SM read
/// 0.14% more than the hardware can with 128 operations a warp on H200, 0.04%
/// with 256 and less than 0.01% from 512 on.
template <class Method>
Throughput measure_throughput(const ThroughputShape& shape, int blocks_per_sm,
                              int few, int samples) {
  constexpr int kRepeats = kLoopRepeats<Method>;
  const int at_once = std::min(
      blocks_per_sm, blocks_that_fit<Method, 2 * kRepeats>(shape.threads));
  const int repeats =
      throughput_repeats(few, at_once * ((shape.threads + 31) / 32));
  const int trips = repeats / kRepeats;
  const auto once = window_difference<Method, kRepeats>(shape, trips, samples);
  const auto twice =
      window_difference<Method, kRepeats>(shape, 2 * trips, kCheckSamples);
  Throughput result;
  result.total = once.cycles;
  const double operations = once.warps * repeats;
  Summary rate;
  rate.count = once.cycles.count;
  rate.mean = operations / once.cycles.mean;
  rate.median = operations / once.cycles.median;
  rate.ci95 = rate.mean * once.cycles.ci95 / once.cycles.mean;
  result.per_cycle = {repeats, rate,
                      2 * twice.warps * repeats / twice.cycles.mean};
  return result;
}

}  // namespace syncbench
