// Throughput of one SM (study, section IX-C), by its own clock.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>

#include "explicit_barrier/latency.hpp"
#include "explicit_barrier/sm_windows.hpp"

namespace syncbench {

/// Mean cycles, over the SMs that took part in the last launch, from first
/// entry to last exit; *sms gets the number of these SMs.
inline double sm_cycles(const TimedLaunch& launch,
                        const DeviceBuffer<SmWindow>& windows, int* sms) {
  const DeviceBuffer<WarpRecord>& records = launch.device_records();
  const auto count = static_cast<unsigned>(records.size());
  merge_windows(records.get(), count, windows.get());
  double cycles = 0;
  *sms = 0;
  for (const SmWindow& window : windows.read()) {
    if (window.end == 0) continue;
    check_order(window.start, window.end);
    ++*sms;
    cycles += static_cast<double>(window.end - window.start);
  }
  if (*sms == 0) throw std::runtime_error("no warp took part");
  return cycles / *sms;
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

/// Of the samples asked for a fifth, or a tenth where blocks run in waves, each
/// of which takes as long as all of a smaller row; but five. A sample of
/// 100,000 cycles and more spreads by 0.3% at most, by 0.004% in the median row
/// (H100, H200).
inline int throughput_samples(int samples, bool waves) {
  return std::max(std::min(samples, 5), samples / (waves ? 10 : 5));
}

/// Throughput of an SM that gets `blocks_per_sm` blocks. The same number of
/// trips round bodies of twice and of once as many operations: the loop cancels
/// as well as start-up, launch skew and clock reads. Each warp of each wave of
/// blocks has so much to do that the waves' starts and ends, which do not quite
/// cancel, stay hidden: tile_shufl of 64 x 1024 a SM read 0.14% more than the
/// hardware can with 128 operations a warp on H200, 0.04% with 256 and less
/// than 0.01% from 512 on.
inline Throughput measure_throughput(TimedLaunch& launch, int blocks_per_sm,
                                     int samples) {
  const MethodEntry& method = launch.method();
  const Shape& shape = launch.shape();
  const int in_line = method.most_repeats();
  const int at_once = std::min(
      blocks_per_sm, blocks_that_fit(method, 2 * in_line, shape.threads));
  const int warps_per_block = (shape.threads + 31) / 32;
  const int repeats = throughput_repeats(method.throughput_repeats(shape.group),
                                         at_once * warps_per_block);
  if (repeats < in_line) {
    throw std::invalid_argument(std::string(method.name) +
                                ": too few throughput_repeats()");
  }
  const DeviceBuffer<SmWindow> windows(launch.device(), kSmSlots);
  int sms = 0;
  const auto difference_at = [&](int trips, int count, int warm_ups) {
    const auto measure = [&](int line) {
      launch.run_lines(line, {trips, 0});
      return sm_cycles(launch, windows, &sms);
    };
    const auto cycles =
        sample_in_turn({in_line, 2 * in_line}, count, measure, warm_ups);
    return difference(cycles[1], cycles[0], 1);
  };
  const int count = throughput_samples(samples, at_once < blocks_per_sm);
  const Summary once = difference_at(repeats / in_line, count, 1);
  const Summary twice = difference_at(2 * repeats / in_line, 2, 0);
  const double warps =
      static_cast<double>(shape.blocks) * warps_per_block / sms;
  Summary rate;
  rate.count = once.count;
  rate.mean = warps * repeats / once.mean;
  rate.median = warps * repeats / once.median;
  rate.ci95 = rate.mean * once.ci95 / once.mean;
  return {once, {repeats, rate, 2 * warps * repeats / twice.mean}};
}

}  // namespace syncbench
