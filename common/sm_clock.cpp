#include "common/sm_clock.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/check.hpp"

namespace syncbench {

double clock_rate_mhz(long long cycles, long long nanoseconds) {
  const double mhz =
      1e3 * static_cast<double>(cycles) / static_cast<double>(nanoseconds);
  if (nanoseconds > 0 && mhz >= 1 && mhz <= 10000) return mhz;
  throw std::runtime_error("the SM clock cannot be: " + std::to_string(cycles) +
                           " cycles in " + std::to_string(nanoseconds) + " ns");
}

double SmClockProbe::read_mhz() {
  const DeviceGuard guard(device_);
  long long duration = kDurationNs;
  long long* address = result_.get();
  void* arguments[] = {&duration, &address};
  CUDA_CHECK(cudaLaunchKernel(kClockRateKernel, dim3(1), dim3(1), arguments, 0,
                              cudaStreamLegacy));
  const std::vector<long long> result = result_.read();
  const double mhz = clock_rate_mhz(result[0], result[1]);
  highest_mhz_ = std::max(highest_mhz_, mhz);
  return mhz;
}

}  // namespace syncbench
