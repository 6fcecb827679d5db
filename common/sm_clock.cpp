#include "common/sm_clock.hpp"

#include "common/check.hpp"

namespace syncbench {

double SmClockProbe::read_mhz() {
  const DeviceGuard guard(device_);
  long long duration = kDurationNs;
  long long* address = result_.get();
  void* arguments[] = {&duration, &address};
  CUDA_CHECK(cudaLaunchKernel(kClockRateKernel, dim3(1), dim3(1), arguments, 0,
                              stream_.get()));
  long long result[2];
  CUDA_CHECK(cudaMemcpyAsync(result, result_.get(), sizeof result,
                             cudaMemcpyDeviceToHost, stream_.get()));
  CUDA_CHECK(cudaStreamSynchronize(stream_.get()));
  return 1e3 * static_cast<double>(result[0]) / static_cast<double>(result[1]);
}

}  // namespace syncbench
