// How long queued work keeps a GPU busy, by its events.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "common/check.hpp"
#include "common/cuda_resources.hpp"
#include "common/sm_clock.hpp"

namespace syncbench {

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

  /// Nanoseconds from the event before to the event after what `queue()` puts
  /// into stream(). Where the spin had ended by then, once more behind one of
  /// twice the length, up to 10 ms.
  template <class Queue>
  double time_ns(Queue queue) {
    for (;; spin_ns_ *= 2) {
      spin();
      CUDA_CHECK(cudaEventRecord(before_.get(), stream()));
      queue();
      CUDA_CHECK(cudaEventRecord(after_.get(), stream()));
      const bool in_time = cudaEventQuery(before_.get()) == cudaErrorNotReady;
      cudaGetLastError();  // which is no error
      CUDA_CHECK(cudaEventSynchronize(after_.get()));
      if (in_time || spin_ns_ > kLongestSpinNs / 2) break;
    }
    float milliseconds = 0;
    CUDA_CHECK(
        cudaEventElapsedTime(&milliseconds, before_.get(), after_.get()));
    return 1e6 * static_cast<double>(milliseconds);
  }

 private:
  struct Destroy {
    void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
  };
  using Event = std::unique_ptr<CUevent_st, Destroy>;

  static constexpr long long kLongestSpinNs = 10'000'000;

  static Event make(int device) {
    const DeviceGuard guard(device);
    cudaEvent_t event = nullptr;
    CUDA_CHECK(cudaEventCreate(&event));
    return Event(event);
  }

  void spin() {
    long long* result = spun_.get();
    void* arguments[] = {&spin_ns_, &result};
    CUDA_CHECK(cudaLaunchKernel(kClockRateKernel, dim3(1), dim3(1), arguments,
                                0, stream()));
  }

  Stream stream_;
  DeviceBuffer<long long> spun_;
  Event before_, after_;
  long long spin_ns_ = 40'000;
};

}  // namespace syncbench
