#include "implicit_barrier/gpu_rounds.hpp"

#include <utility>

#include "common/devices.hpp"
#include "common/errors.hpp"
#include "implicit_barrier/launch_methods.hpp"

namespace syncbench::implicit_barrier {
namespace {

/// Keeps the memory of its flags.
template <class Memory>
class FlagsIn : public FlagsOfStreams {
 public:
  FlagsIn(Memory memory, std::vector<unsigned*> flags)
      : FlagsOfStreams(std::move(flags)), memory_(std::move(memory)) {}

 private:
  Memory memory_;
};

template <class Memory>
std::unique_ptr<LaunchMethod> make_flags(const StreamPool& pool,
                                         const RoundCalls& calls, Memory memory,
                                         std::vector<unsigned*> flags) {
  return std::make_unique<EnqueuedRounds>(
      pool, calls,
      std::make_unique<FlagsIn<Memory>>(std::move(memory), std::move(flags)));
}

/// A kernel a GPU, which writes a word in host memory and polls those of the
/// others.
class MeetingKernels : public EnqueuedBarrier {
 public:
  explicit MeetingKernels(std::vector<int> devices)
      : devices_(std::move(devices)),
        memory_((devices_.size() + 1) * kFlagsApart) {
    std::fill_n(memory_.get(), (devices_.size() + 1) * kFlagsApart, 0u);
    const auto gpus = static_cast<unsigned>(devices_.size());
    flags_ = {memory_.get(), memory_.get() + devices_.size() * kFlagsApart,
              gpus};
  }

  void enqueue(const std::vector<cudaStream_t>& streams) override {
    if (*static_cast<volatile unsigned*>(flags_.failed) != 0) {
      throw std::runtime_error("a kernel waited too long for another GPU");
    }
    ++round_;
    for (unsigned here = 0; here < flags_.gpus; ++here) {
      CUDA_CHECK(cudaSetDevice(devices_[here]));
      void* arguments[] = {&flags_, &here, &round_};
      CUDA_CHECK(
          launch_traditional({reinterpret_cast<const void*>(meeting_kernel),
                              dim3(1), dim3(1), arguments},
                             streams[here]));
    }
  }
  void release() override {
    for (unsigned here = 0; here < flags_.gpus; ++here) {
      static_cast<volatile unsigned*>(flags_.rounds)[here * kFlagsApart] = ~0u;
    }
  }

 private:
  std::vector<int> devices_;
  PinnedArray<unsigned> memory_;
  MeetingFlags flags_ = {};
  unsigned round_ = 0;
};

std::unique_ptr<LaunchMethod> make_events_to_all(const StreamPool& pool,
                                                 const std::vector<Gpu>& gpus,
                                                 const RoundCalls& calls) {
  return std::make_unique<EnqueuedRounds>(
      pool, calls, std::make_unique<EventsToAll>(device_numbers(gpus)));
}

std::unique_ptr<LaunchMethod> make_events_of_star(const StreamPool& pool,
                                                  const std::vector<Gpu>& gpus,
                                                  const RoundCalls& calls) {
  return std::make_unique<EnqueuedRounds>(
      pool, calls, std::make_unique<EventsOfStar>(device_numbers(gpus)));
}

std::unique_ptr<LaunchMethod> make_flags_on_host(const StreamPool& pool,
                                                 const std::vector<Gpu>& gpus,
                                                 const RoundCalls& calls) {
  PinnedArray<unsigned> memory(gpus.size() * kFlagsApart);
  std::vector<unsigned*> flags;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    flags.push_back(memory.get() + i * kFlagsApart);
    std::fill_n(flags.back(), kFlagsApart, 0u);
  }
  return make_flags(pool, calls, std::move(memory), std::move(flags));
}

std::unique_ptr<LaunchMethod> make_flags_of_peers(const StreamPool& pool,
                                                  const std::vector<Gpu>& gpus,
                                                  const RoundCalls& calls) {
  std::vector<DeviceBuffer<unsigned>> memory;
  std::vector<unsigned*> flags;
  for (const Gpu& gpu : gpus) {
    const DeviceGuard guard(gpu.index);
    memory.emplace_back(gpu.index, kFlagsApart);
    memory.back().set_to_zero();
    flags.push_back(memory.back().get());
  }
  return make_flags(pool, calls, std::move(memory), std::move(flags));
}

}  // namespace

FlagsOfStreams::FlagsOfStreams(std::vector<unsigned*> flags)
    : batch_(reinterpret_cast<BatchMemOp>(
          find_driver_entry("cuStreamBatchMemOp", 12000))),
      flags_(std::move(flags)) {
  if (batch_ == nullptr) {
    throw CannotMeasure("no-stream-memory-operations",
                        "the driver has no cuStreamBatchMemOp");
  }
}

void FlagsOfStreams::enqueue(const std::vector<cudaStream_t>& streams) {
  ++round_;
  const auto address = [&](std::size_t of, std::size_t from) {
    return reinterpret_cast<CUdeviceptr>(flags_[of] + from);
  };
  for (std::size_t i = 0; i < streams.size(); ++i) {
    std::vector<CUstreamBatchMemOpParams> writes, waits;
    for (std::size_t j = 0; j < streams.size(); ++j) {
      if (i == j) continue;
      CUstreamBatchMemOpParams operation = {};
      operation.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
      operation.writeValue.address = address(j, i);
      operation.writeValue.value = round_;
      writes.push_back(operation);
      operation = {};
      operation.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
      operation.waitValue.address = address(i, j);
      operation.waitValue.value = round_;
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

void FlagsOfStreams::release() {
  constexpr unsigned kLast = 0x7fffffff;  // no round comes after it
  const std::vector<unsigned> last(flags_.size(), kLast);
  for (unsigned* flags : flags_) {
    KEEP_FAILURE(cudaMemcpy(flags, last.data(), last.size() * sizeof last[0],
                            cudaMemcpyDefault));
  }
  KEEP_FAILURE(cudaStreamSynchronize(cudaStreamLegacy));  // they have arrived
}

const std::vector<GpuBarrierInfo>& gpu_barriers() {
  static const std::vector<GpuBarrierInfo> all = {
      {"multi_cooperative_launch", "",
       [](const StreamPool& pool, const std::vector<Gpu>& gpus,
          const RoundCalls& calls) -> std::unique_ptr<LaunchMethod> {
         require_cooperative(gpus);
         return std::make_unique<MultiDeviceRounds>(pool, calls);
       },
       false, true},
      {"single_omp_traditional_launch", "",
       [](const StreamPool& pool, const std::vector<Gpu>& gpus,
          const RoundCalls& calls) -> std::unique_ptr<LaunchMethod> {
         return std::make_unique<ThreadRounds>(pool, gpus, calls);
       },
       false, true},
      {"events_to_all", "each GPU's stream waits for an event of each other",
       make_events_to_all},
      {"events_of_star",
       "the first GPU's stream waits for all events, the others for its own",
       make_events_of_star},
      {"stream_flags_host",
       "streams write and wait for words in host memory (cuStreamBatchMemOp)",
       make_flags_on_host},
      {"stream_flags_peer", "the same for words in the other GPU's memory",
       make_flags_of_peers, true},
      {"kernel_flags_host",
       "a kernel a GPU writes a word in host memory and polls the others'",
       [](const StreamPool& pool, const std::vector<Gpu>& gpus,
          const RoundCalls& calls) -> std::unique_ptr<LaunchMethod> {
         return std::make_unique<EnqueuedRounds>(
             pool, calls,
             std::make_unique<MeetingKernels>(device_numbers(gpus)));
       }},
      {"graph_of_gpus", "events_to_all, all rounds in one graph",
       [](const StreamPool& pool, const std::vector<Gpu>&,
          const RoundCalls& calls) -> std::unique_ptr<LaunchMethod> {
         return std::make_unique<GraphOfGpus>(pool, calls);
       },
       false, false, true}};
  return all;
}

}  // namespace syncbench::implicit_barrier
