// The host's part of barrier.cuh, which includes this.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "peer_grid_barrier/barrier.cuh"

namespace peer_grid {

/// A call of CUDA failed, or what was asked for makes no sense.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// These GPUs cannot be joined by a barrier; what() names them and says why.
struct CannotJoin : Error {
  using Error::Error;
};

/// Owns a barrier's memory on a set of GPUs. Move-only. It must outlive the
/// kernels that use it.
class BarrierSet {
 public:
  /// `devices`: 1 to kMaxGpus different CUDA devices, all of one kind, each
  /// with access to the memory of every other, which is switched on here and
  /// stays on. A device's rank is its place in this list. A block that waits
  /// longer than `wait_limit` ends its kernel with an error. The current device
  /// is the same afterwards. Throws CannotJoin where that is not so, and where
  /// CUDA_LAUNCH_BLOCKING would make several GPUs wait for each other for ever;
  /// Error for an empty or too long list and where CUDA fails.
  explicit BarrierSet(
      const std::vector<int>& devices,
      std::chrono::milliseconds wait_limit = std::chrono::seconds(10));

  /// The ends of all ranks, for kernels of `blocks` blocks on each GPU (1 to
  /// 65,535, all of them resident; else Error). A kernel of another number of
  /// blocks ends with an error at its first barrier.
  template <class Machine = GpuMachine>
  std::vector<BasicBarrier<Machine>> for_blocks(unsigned blocks) const;

  /// Why kernels of this set ended with an error, a line a GPU; nothing where
  /// no barrier gave up. May be called whatever state the GPUs are in.
  std::optional<std::string> failure() const;

  /// Makes the numbers of barriers start at `number`, to see them wrap around;
  /// for tests, with no kernel running.
  void start_at(unsigned number);

 private:
  using GpuState = State<GpuMachine::kLines>;
  struct FreeState {
    void operator()(GpuState* memory) const { cudaFree(memory); }
  };
  struct FreeFailures {
    void operator()(Failure* memory) const { cudaFreeHost(memory); }
  };

  std::vector<int> devices_;
  std::vector<std::unique_ptr<GpuState, FreeState>> states_;  // one a rank
  std::unique_ptr<Failure, FreeFailures> failures_;           // one a rank
  std::chrono::nanoseconds wait_limit_;
  unsigned crowd_ = 0;  // more blocks than this need a leader
};

namespace detail {

/// Throws Error "`call`: why" unless the call succeeded.
inline void check(cudaError_t result, const std::string& call) {
  if (result == cudaSuccess) return;
  cudaGetLastError();
  throw Error(call + ": " + cudaGetErrorString(result));
}

/// Restores the current device when it goes.
class CurrentDevice {
 public:
  CurrentDevice() { check(cudaGetDevice(&device_), "cudaGetDevice"); }
  CurrentDevice(const CurrentDevice&) = delete;
  ~CurrentDevice() { cudaSetDevice(device_); }

 private:
  int device_ = 0;
};

inline cudaDeviceProp properties_of(int device) {
  cudaDeviceProp properties = {};
  check(cudaGetDeviceProperties(&properties, device),
        "GPU " + std::to_string(device));
  return properties;
}

inline std::string name_of(int device) {
  return "GPU " + std::to_string(device) + " (" + properties_of(device).name +
         ")";
}

/// Lets the current device, `device`, access the memory of `peer`; throws
/// unless they are of one kind and it can.
inline void join(int device, int peer) {
  const cudaDeviceProp ours = properties_of(device);
  const cudaDeviceProp theirs = properties_of(peer);
  const auto refuse = [=](const char* why) {
    throw CannotJoin(name_of(device) + " and " + name_of(peer) + " " + why);
  };
  if (device == peer) refuse("are the same");
  if (ours.major != theirs.major || ours.minor != theirs.minor ||
      ours.multiProcessorCount != theirs.multiProcessorCount) {
    refuse("are of different kinds");
  }
  int can_access = 0;
  check(cudaDeviceCanAccessPeer(&can_access, device, peer),
        "cudaDeviceCanAccessPeer");
  if (!can_access) {
    refuse("cannot access each other's memory (no peer access)");
  }
  const cudaError_t result = cudaDeviceEnablePeerAccess(peer, 0);
  if (result == cudaErrorPeerAccessAlreadyEnabled) {
    cudaGetLastError();
  } else {
    check(result, "cudaDeviceEnablePeerAccess of " + name_of(device));
  }
}

/// Launches that wait for their kernels, which wait for each other, never end.
inline void refuse_blocking_launches() {
  const char* blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
  if (blocking != nullptr && std::strcmp(blocking, "0") != 0) {
    throw CannotJoin(
        "CUDA_LAUNCH_BLOCKING is set: a launch would wait for its kernel, and "
        "the kernel for those of the other GPUs");
  }
}

}  // namespace detail

inline BarrierSet::BarrierSet(const std::vector<int>& devices,
                              std::chrono::milliseconds wait_limit)
    : devices_(devices), wait_limit_(wait_limit) {
  if (devices.empty() || devices.size() > kMaxGpus) {
    throw Error("a barrier takes 1 to " + std::to_string(kMaxGpus) +
                " GPUs, not " + std::to_string(devices.size()));
  }
  if (devices.size() > 1) detail::refuse_blocking_launches();
  const detail::CurrentDevice restored;
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    const int device = devices[rank];
    const cudaDeviceProp properties = detail::properties_of(device);
    if (properties.major < 7) {
      throw CannotJoin(detail::name_of(device) +
                       " is older than compute capability 7.0, which the "
                       "barrier needs");
    }
    const std::string name = detail::name_of(device);
    detail::check(cudaSetDevice(device), name);
    for (std::size_t peer = 0; peer < devices.size(); ++peer) {
      if (peer != rank) detail::join(device, devices[peer]);
    }
    // More blocks per SM, and a leader is faster than one counter for all;
    // measured on H200. It needs a block for each of its counters.
    const int per_sm = devices.size() == 1 ? 8 : 4;
    crowd_ = std::max(
        GpuState::kLines,
        static_cast<unsigned>(properties.multiProcessorCount * per_sm));
    GpuState* state = nullptr;
    detail::check(cudaMalloc(&state, sizeof *state), "cudaMalloc on " + name);
    states_.emplace_back(state);
    detail::check(cudaMemset(state, 0, sizeof *state), "cudaMemset");
    detail::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize on " + name);
  }
  Failure* failures = nullptr;
  detail::check(cudaHostAlloc(&failures, kMaxGpus * sizeof *failures,
                              cudaHostAllocPortable | cudaHostAllocMapped),
                "cudaHostAlloc");
  failures_.reset(failures);
  std::fill_n(failures, kMaxGpus, Failure{0});
}

template <class Machine>
std::vector<BasicBarrier<Machine>> BarrierSet::for_blocks(
    unsigned blocks) const {
  if (blocks < 1 || blocks >= kLap) {
    throw Error("a barrier takes 1 to " + std::to_string(kLap - 1) +
                " blocks a GPU, not " + std::to_string(blocks));
  }
  End<Machine::kLines> end;
  end.gpus = static_cast<int>(states_.size());
  end.blocks = blocks;
  end.meeting = blocks > crowd_ ? Meeting::kLeaderTells
                : end.gpus > 1  ? Meeting::kLastTells
                                : Meeting::kFlat;
  for (int rank = 0; rank < end.gpus; ++rank) {
    end.of_rank[rank] = states_[rank].get();
  }
  std::vector<BasicBarrier<Machine>> ends;
  for (int rank = 0; rank < end.gpus; ++rank) {
    end.rank = rank;
    end.own = end.of_rank[rank];
    Machine machine;
    machine.failure = failures_.get() + rank;
    machine.wait_limit =
        static_cast<unsigned>(wait_limit_.count() / GpuMachine::kTick);
    ends.emplace_back(end, machine);
  }
  return ends;
}

inline std::optional<std::string> BarrierSet::failure() const {
  std::string text;
  for (std::size_t rank = 0; rank < devices_.size(); ++rank) {
    const Failure found =
        static_cast<const volatile Failure*>(failures_.get())[rank];
    const auto reason = static_cast<Reason>(found >> 60);
    const std::size_t whom = (found >> 32) & 0xfffffff;
    if (reason == Reason::kNone) continue;
    if (!text.empty()) text += "\n";
    text += "GPU " + std::to_string(devices_[rank]);
    if (reason == Reason::kBlockCount) {
      text += " was launched with " + std::to_string(whom) +
              " blocks, for which its end of the barrier was not made";
      continue;
    }
    text += " waited " + std::to_string(wait_limit_.count() / 1000000) +
            " ms in barrier " + std::to_string(found & 0xffffffff) + " for ";
    text += reason == Reason::kOwnBlocks
                ? "its own blocks"
                : "GPU " + std::to_string(devices_[whom]);
  }
  if (text.empty()) return std::nullopt;
  return "peer grid barrier: " + text;
}

inline void BarrierSet::start_at(unsigned number) {
  GpuState state = {};
  state.counter.value = number * kLap;
  for (Counter& counter : state.counters) counter.value = number * kLap;
  for (unsigned& announced : state.by_last.barrier) announced = number;
  for (Announcements& line : state.by_leader) {
    for (unsigned& announced : line.barrier) announced = number;
  }
  for (const auto& target : states_) {
    detail::check(
        cudaMemcpy(target.get(), &state, sizeof state, cudaMemcpyDefault),
        "cudaMemcpy");
  }
}

}  // namespace peer_grid
