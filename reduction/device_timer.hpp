// How long queued work keeps a GPU busy, by its events.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "common/check.hpp"
#include "common/cuda_resources.hpp"
#include "common/sm_clock.hpp"

namespace syncbench::reduction {

/// Times what is queued into a stream behind a kernel that spins until all of
/// it is there, so that the pace of the CPU is not in the time.
class DeviceTimer {
 public:
  explicit DeviceTimer(int device)
      : stream_(device),
        spun_(device, 2),
        before_(make(device)),
        after_(make(device)) {}

  cudaStream_t stream() const { return stream_.get(); }

  /// Nanoseconds between events before and after what `queue()` puts into
  /// stream(). If the spin ends too early, again with twice the length; throws
  /// if 10 ms are not enough.
  template <class Queue>
  double time_ns(Queue queue) {
    for (long long spin_ns = 40'000;; spin_ns *= 2) {
      spin(spin_ns);
      CUDA_CHECK(cudaEventRecord(before_.get(), stream()));
      queue();
      CUDA_CHECK(cudaEventRecord(after_.get(), stream()));
      const cudaError_t state = cudaEventQuery(before_.get());
      const bool waits = state == cudaErrorNotReady;
      if (!waits) check_cuda(state, "cudaEventQuery", __FILE__, __LINE__);
      CUDA_CHECK(cudaEventSynchronize(after_.get()));
      if (waits) break;
      if (spin_ns > kLongestSpinNs) {
        throw std::runtime_error(
            "queueing a sum takes more than 10 ms, or launches wait for "
            "kernels here (CUDA_LAUNCH_BLOCKING): no time by the GPU's events");
      }
    }
    cudaGetLastError();  // "not ready" is no error
    float milliseconds = 0;
    CUDA_CHECK(
        cudaEventElapsedTime(&milliseconds, before_.get(), after_.get()));
    if (!(milliseconds >= 0)) {
      throw std::runtime_error("the GPU's events are " +
                               std::to_string(milliseconds) +
                               " ms apart, which cannot be");
    }
    return 1e6 * static_cast<double>(milliseconds);
  }

  /// The same with nothing between: an event takes time itself.
  double events_ns() {
    return time_ns([] {});
  }

 private:
  struct Destroy {
    void operator()(cudaEvent_t event) const {
      KEEP_FAILURE(cudaEventDestroy(event));
    }
  };
  using Event = std::unique_ptr<CUevent_st, Destroy>;

  static constexpr long long kLongestSpinNs = 10'000'000;

  static Event make(int device) {
    const DeviceGuard guard(device);
    cudaEvent_t event = nullptr;
    CUDA_CHECK(cudaEventCreate(&event));
    return Event(event);
  }

  void spin(long long duration_ns) {
    long long* result = spun_.get();
    void* arguments[] = {&duration_ns, &result};
    CUDA_CHECK(cudaLaunchKernel(kClockRateKernel, dim3(1), dim3(1), arguments,
                                0, stream()));
  }

  Stream stream_;
  DeviceBuffer<long long> spun_;
  Event before_, after_;
};

}  // namespace syncbench::reduction
