#include <cuda.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "common/device_clock.cuh"
#include "common/errors.hpp"
#include "ways/flags.hpp"

namespace syncbench::ways {

__global__ void meeting_kernel(MeetingFlags flags, unsigned here,
                               unsigned step) {
  volatile unsigned* steps = flags.steps;
  __threadfence_system();
  steps[here * kFlagsApart] = step;
  const long long start = read_global_timer();
  for (unsigned i = 0; i < flags.gpus; ++i) {
    while (steps[i * kFlagsApart] < step) {
      if (read_global_timer() - start > kMeetingLimitNs) {
        *flags.failed = 1;
        return;
      }
    }
  }
  __threadfence_system();
}

namespace {

class StreamFlags : public EnqueuedBarrier {
 public:
  /// flags[i]: a word of each GPU, which GPU i waits for. `memory` keeps them.
  StreamFlags(std::shared_ptr<void> memory, std::vector<unsigned*> flags)
      : batch_(reinterpret_cast<BatchMemOp>(
            find_driver_entry("cuStreamBatchMemOp", 12000))),
        memory_(std::move(memory)),
        flags_(std::move(flags)) {
    if (batch_ == nullptr) {
      throw CannotMeasure("no-stream-memory-operations",
                          "the driver has no cuStreamBatchMemOp");
    }
  }

  void enqueue(const std::vector<cudaStream_t>& streams) override {
    ++step_;
    for (std::size_t i = 0; i < streams.size(); ++i) {
      std::vector<CUstreamBatchMemOpParams> writes, waits;
      for (std::size_t j = 0; j < streams.size(); ++j) {
        if (i == j) continue;
        CUstreamBatchMemOpParams operation = {};
        operation.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
        operation.writeValue.address = address(j, i);
        operation.writeValue.value = step_;
        writes.push_back(operation);
        operation = {};
        operation.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
        operation.waitValue.address = address(i, j);
        operation.waitValue.value = step_;
        operation.waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
        waits.push_back(operation);
      }
      writes.insert(writes.end(), waits.begin(), waits.end());
      api_.check(static_cast<cudaError_t>(batch_(
                     reinterpret_cast<CUstream>(streams[i]),
                     static_cast<unsigned>(writes.size()), writes.data(), 0)),
                 __FILE__, __LINE__);
    }
  }

  void release() override {
    constexpr unsigned kLast = 0x7fffffff;  // no step comes after it
    const std::vector<unsigned> last(flags_.size(), kLast);
    for (unsigned* flags : flags_) {
      KEEP_FAILURE(cudaMemcpy(flags, last.data(), last.size() * sizeof last[0],
                              cudaMemcpyDefault));
    }
    KEEP_FAILURE(cudaStreamSynchronize(cudaStreamLegacy));  // they have arrived
  }

 private:
  using BatchMemOp = CUresult (*)(CUstream, unsigned, CUstreamBatchMemOpParams*,
                                  unsigned);

  CUdeviceptr address(std::size_t of, std::size_t from) const {
    return reinterpret_cast<CUdeviceptr>(flags_[of] + from);
  }

  BatchMemOp batch_;
  std::shared_ptr<void> memory_;
  std::vector<unsigned*> flags_;
  unsigned step_ = 0;
  AskedApi api_{"cuStreamBatchMemOp"};
};

class KernelFlags : public EnqueuedBarrier {
 public:
  explicit KernelFlags(std::vector<int> devices)
      : devices_(std::move(devices)),
        memory_((devices_.size() + 1) * kFlagsApart) {
    std::fill_n(memory_.get(), (devices_.size() + 1) * kFlagsApart, 0u);
    flags_ = {memory_.get(), memory_.get() + devices_.size() * kFlagsApart,
              static_cast<unsigned>(devices_.size())};
  }

  void enqueue(const std::vector<cudaStream_t>& streams) override {
    if (*static_cast<volatile unsigned*>(flags_.failed) != 0) {
      throw std::runtime_error("a kernel waited too long for another GPU");
    }
    ++step_;
    for (unsigned here = 0; here < flags_.gpus; ++here) {
      CUDA_CHECK(cudaSetDevice(devices_[here]));
      void* arguments[] = {&flags_, &here, &step_};
      CUDA_CHECK(
          launch_traditional({reinterpret_cast<const void*>(meeting_kernel),
                              dim3(1), dim3(1), arguments},
                             streams[here]));
    }
  }
  void release() override {
    for (unsigned here = 0; here < flags_.gpus; ++here) {
      static_cast<volatile unsigned*>(flags_.steps)[here * kFlagsApart] = ~0u;
    }
  }

 private:
  std::vector<int> devices_;
  PinnedArray<unsigned> memory_;
  MeetingFlags flags_ = {};
  unsigned step_ = 0;
};

}  // namespace

std::unique_ptr<EnqueuedBarrier> stream_flags_on_host(
    const std::vector<int>& devices) {
  const auto memory =
      std::make_shared<PinnedArray<unsigned>>(devices.size() * kFlagsApart);
  std::vector<unsigned*> flags;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    flags.push_back(memory->get() + i * kFlagsApart);
    std::fill_n(flags.back(), kFlagsApart, 0u);
  }
  return std::make_unique<StreamFlags>(memory, flags);
}

std::unique_ptr<EnqueuedBarrier> stream_flags_of_peers(
    const std::vector<int>& devices) {
  const auto memory = std::make_shared<std::vector<DeviceBuffer<unsigned>>>();
  std::vector<unsigned*> flags;
  for (const int device : devices) {
    const DeviceGuard guard(device);
    memory->emplace_back(device, kFlagsApart);
    memory->back().set_to_zero();
    flags.push_back(memory->back().get());
  }
  return std::make_unique<StreamFlags>(memory, flags);
}

std::unique_ptr<EnqueuedBarrier> kernel_flags(const std::vector<int>& devices) {
  return std::make_unique<KernelFlags>(devices);
}

}  // namespace syncbench::ways
