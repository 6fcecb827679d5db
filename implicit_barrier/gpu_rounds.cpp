#include "implicit_barrier/gpu_rounds.hpp"

#include <utility>

#include "common/errors.hpp"

namespace syncbench {
namespace {

void* driver_entry(const char* name) {
  void* entry = nullptr;
#if CUDART_VERSION >= 13000
  cudaDriverEntryPointQueryResult found = {};
  CUDA_ASK(cudaGetDriverEntryPointByVersion(name, &entry, 12000,
                                            cudaEnableDefault, &found));
#elif CUDART_VERSION >= 12000
  cudaDriverEntryPointQueryResult found = {};
  CUDA_ASK(cudaGetDriverEntryPoint(name, &entry, cudaEnableDefault, &found));
#else
  CUDA_ASK(cudaGetDriverEntryPoint(name, &entry, cudaEnableDefault));
#endif
  if (entry != nullptr) return entry;
  throw CannotMeasure("no-stream-memory-operations",
                      std::string("the driver has no ") + name);
}

// The flags of each GPU in its own memory, or all in the host's.
class FlagsInMemory : public FlagsOfStreams {
 public:
  FlagsInMemory(std::vector<DeviceBuffer<unsigned>> memory,
                std::vector<unsigned*> flags)
      : FlagsOfStreams(std::move(flags)), memory_(std::move(memory)) {}

 private:
  std::vector<DeviceBuffer<unsigned>> memory_;
};

class FlagsOnHost : public FlagsOfStreams {
 public:
  FlagsOnHost(PinnedArray<unsigned> memory, std::vector<unsigned*> flags)
      : FlagsOfStreams(std::move(flags)), memory_(std::move(memory)) {}

 private:
  PinnedArray<unsigned> memory_;
};

// Words of one GPU are this far from those of the next: a line each.
constexpr std::size_t kApart = 64;

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
  PinnedArray<unsigned> memory(gpus.size() * kApart);
  std::vector<unsigned*> flags;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    flags.push_back(memory.get() + i * kApart);
    std::fill_n(flags.back(), kApart, 0u);
  }
  return std::make_unique<EnqueuedRounds>(
      pool, calls,
      std::make_unique<FlagsOnHost>(std::move(memory), std::move(flags)));
}

std::unique_ptr<LaunchMethod> make_flags_of_peers(const StreamPool& pool,
                                                  const std::vector<Gpu>& gpus,
                                                  const RoundCalls& calls) {
  std::vector<DeviceBuffer<unsigned>> memory;
  std::vector<unsigned*> flags;
  for (const Gpu& gpu : gpus) {
    const DeviceGuard guard(gpu.index);
    memory.emplace_back(gpu.index, kApart);
    memory.back().set_to_zero();
    flags.push_back(memory.back().get());
  }
  return std::make_unique<EnqueuedRounds>(
      pool, calls,
      std::make_unique<FlagsInMemory>(std::move(memory), std::move(flags)));
}

}  // namespace

FlagsOfStreams::FlagsOfStreams(std::vector<unsigned*> flags)
    : batch_(reinterpret_cast<BatchMemOp>(driver_entry("cuStreamBatchMemOp"))),
      flags_(std::move(flags)) {}

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
    const auto check = works_ ? check_cuda : check_asked;
    check(static_cast<cudaError_t>(
              batch_(reinterpret_cast<CUstream>(streams[i]),
                     static_cast<unsigned>(writes.size()), writes.data(), 0)),
          "cuStreamBatchMemOp", __FILE__, __LINE__);
    works_ = true;
  }
}

void FlagsOfStreams::release() {
  constexpr unsigned kLast = 0x7fffffff;  // no round comes after it
  const std::vector<unsigned> last(flags_.size(), kLast);
  for (unsigned* flags : flags_) {
    KEEP_FAILURE(cudaMemcpy(flags, last.data(), last.size() * sizeof last[0],
                            cudaMemcpyDefault));
  }
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
      {"graph_of_gpus", "events_to_all, all rounds in one graph",
       [](const StreamPool& pool, const std::vector<Gpu>&,
          const RoundCalls& calls) -> std::unique_ptr<LaunchMethod> {
         return std::make_unique<GraphOfGpus>(pool, calls);
       }}};
  return all;
}

}  // namespace syncbench
