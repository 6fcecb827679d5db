// The rate of an SM's clock.
#pragma once

#include <cuda_runtime_api.h>

#include "common/cuda_resources.hpp"

namespace syncbench {

/// Spins from one tick of the global timer to the first one at least
/// `duration_ns` later; result[0] gets the cycles, result[1] the nanoseconds.
__global__ void clock_rate_kernel(long long duration_ns, long long* result);
/// What the runtime's calls take for it.
inline const void* const kClockRateKernel =
    reinterpret_cast<const void*>(clock_rate_kernel);

/// MHz of a clock that made `cycles` in so many nanoseconds. std::runtime_error
/// where that is no clock of an SM, say below 1 MHz or above 10 GHz.
double clock_rate_mhz(long long cycles, long long nanoseconds);

/// Measures the SM clock of one GPU. A probe keeps the GPU busy for 0.2 ms, in
/// its default stream: so that is the first stream that a program uses.
class SmClockProbe {
 public:
  explicit SmClockProbe(int device) : device_(device), result_(device, 2) {}

  /// SM clock in MHz, seen on the device just now.
  double read_mhz();

  /// The highest that it has read.
  double highest_mhz() const { return highest_mhz_; }

 private:
  // Long beside the two reads of the clock; it begins and ends at a tick, so
  // that a coarse timer does no harm.
  static constexpr long long kDurationNs = 200000;

  int device_;
  DeviceBuffer<long long> result_;
  double highest_mhz_ = 0;
};

}  // namespace syncbench
