// SPDX-License-Identifier: MIT
// The host's part of the barrier: memory on the GPUs, and errors.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "peer_grid_barrier/gpu_machine.cuh"
#include "peer_grid_barrier/protocol.hpp"

namespace peer_grid {

/// A call of CUDA failed, or what was asked for makes no sense.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// These GPUs cannot be joined by a barrier; what() says why.
struct CannotJoin : Error {
  using Error::Error;
};

namespace detail {
struct FreeHost {
  void operator()(Failure* memory) const { cudaFreeHost(memory); }
};
using Failures = std::unique_ptr<Failure, FreeHost>;

}  // namespace detail

/// Owns a barrier's memory on a set of GPUs. Move-only. Kernels of all its GPUs
/// write there, so destroying a set, or assigning to it, first waits for all
/// that runs on them; a barrier that waits itself ends by its limit.
class BarrierSet {
 public:
  /// `devices`: 1 to kMaxGpus different CUDA devices, all of one kind, each
  /// with access to the memory of every other, which is switched on here and
  /// stays on. A device's rank is its place in this list. A block that waits
  /// longer than `wait_limit` (2 ms to a day) ends its kernel with an error.
  /// The current device is the same afterwards. Throws CannotJoin where the
  /// devices are not as said here, and where CUDA_LAUNCH_BLOCKING would make
  /// several GPUs wait for each other for ever; Error for another limit and
  /// where CUDA fails.
  explicit BarrierSet(
      const std::vector<int>& devices,
      std::chrono::milliseconds wait_limit = std::chrono::seconds(10));
  BarrierSet(BarrierSet&&) = default;
  BarrierSet& operator=(BarrierSet other) noexcept;
  ~BarrierSet();

  /// The ends of all ranks, for kernels of `blocks` blocks on each GPU (1 to
  /// 65,535; else Error). A kernel of another number of blocks ends with an
  /// error when it makes its Barrier.
  template <class Machine = GpuMachine>
  std::vector<BasicBarrierEnd<Machine>> for_blocks(unsigned blocks) const;

  /// Why kernels of this set ended with an error, a line a GPU; nothing where
  /// no barrier gave up. May be called whatever state the GPUs are in.
  std::optional<std::string> failure() const;

  /// Makes the numbers of barriers start at `number`, to see them wrap around.
  /// For tests. Waits for the GPUs.
  void start_at(unsigned number);

 private:
  using GpuState = State<GpuMachine::kLines>;
  struct FreeState {
    void operator()(GpuState* memory) const { cudaFree(memory); }
  };

  std::vector<int> devices_;
  std::vector<std::unique_ptr<GpuState, FreeState>> states_;  // one a rank
  detail::Failures failures_;                                 // one a rank
  std::chrono::milliseconds wait_limit_;
  unsigned crowd_ = 0;  // more blocks than this need a leader
};

namespace detail {

/// Throws Error "peer grid barrier: `call`: why" unless the call succeeded.
inline void check(cudaError_t result, const std::string& call) {
  if (result == cudaSuccess) return;
  cudaGetLastError();
  throw Error("peer grid barrier: " + call + ": " + cudaGetErrorString(result));
}

/// Restores the current device when it goes.
class CurrentDevice {
 public:
  CurrentDevice() { check(cudaGetDevice(&device_), "cudaGetDevice"); }
  CurrentDevice(const CurrentDevice&) = delete;
  ~CurrentDevice() { cudaSetDevice(device_); }
  /// Before that, where a failure can be told.
  void restore() const { check(cudaSetDevice(device_), "cudaSetDevice"); }

 private:
  int device_ = 0;
};

inline cudaDeviceProp properties_of(int device) {
  cudaDeviceProp properties = {};
  check(cudaGetDeviceProperties(&properties, device),
        "cudaGetDeviceProperties of GPU " + std::to_string(device));
  return properties;
}

inline std::string name_of(int device) {
  return "GPU " + std::to_string(device) + " (" + properties_of(device).name +
         ")";
}

/// Throws unless two devices are of one kind and the first can access the
/// memory of the second.
inline void check_pair(int device, int peer) {
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
}

inline void check_count(std::size_t gpus) {
  if (gpus < 1 || gpus > kMaxGpus) {
    throw CannotJoin("a barrier takes 1 to " + std::to_string(kMaxGpus) +
                     " GPUs, not " + std::to_string(gpus));
  }
}

inline void check_limit(std::chrono::milliseconds wait_limit) {
  using namespace std::chrono_literals;
  if (wait_limit < 2ms || wait_limit > 24h) {
    throw Error("a wait limit is 2 ms to a day, not " +
                std::to_string(wait_limit.count()) + " ms");
  }
}

inline void check_capability(int device) {
  if (properties_of(device).major < 7) {
    throw CannotJoin(name_of(device) +
                     " is older than compute capability 7.0, which the "
                     "barrier needs");
  }
}

/// Throws unless a barrier can join all of these devices.
inline void check_devices(const std::vector<int>& devices) {
  check_count(devices.size());
  const char* blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
  if (devices.size() > 1 && blocking != nullptr &&
      std::strcmp(blocking, "0") != 0) {
    throw CannotJoin(
        "CUDA_LAUNCH_BLOCKING is set: a launch would wait for its kernel, and "
        "the kernel for those of the other GPUs");
  }
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    check_capability(devices[rank]);
    for (std::size_t peer = 0; peer < devices.size(); ++peer) {
      if (peer != rank) check_pair(devices[rank], devices[peer]);
    }
  }
}

/// Lets the current device access the memory of `peer`.
inline void enable_access(int peer) {
  const cudaError_t result = cudaDeviceEnablePeerAccess(peer, 0);
  if (result == cudaErrorPeerAccessAlreadyEnabled) {
    cudaGetLastError();
  } else {
    check(result, "cudaDeviceEnablePeerAccess to " + name_of(peer));
  }
}

/// Words that kernels of all GPUs write to, none yet.
inline Failures make_failures(int count) {
  Failure* failures = nullptr;
  check(cudaHostAlloc(&failures, count * sizeof *failures,
                      cudaHostAllocPortable | cudaHostAllocMapped),
        "cudaHostAlloc");
  std::fill_n(failures, count, Failure{0});
  return Failures(failures);
}

/// From more blocks on, a leader instead of one counter for all, as chosen on
/// an H200. It needs a block for each of its counters.
inline unsigned crowd_of(int sms, int gpus) {
  return std::max(GpuMachine::kLines,
                  static_cast<unsigned>(sms * (gpus == 1 ? 8 : 4)));
}

/// That of a rank, whose memory is `states[rank]`.
template <class Machine, class States>
BasicBarrierEnd<Machine> end_of(const States& states, int rank, unsigned blocks,
                                unsigned crowd, Failure* failure,
                                std::chrono::milliseconds wait_limit) {
  if (blocks < 1 || blocks >= kLap) {
    throw Error("a barrier takes 1 to " + std::to_string(kLap - 1) +
                " blocks a GPU, not " + std::to_string(blocks));
  }
  BasicBarrierEnd<Machine> made;
  auto& end = made.end;
  end.gpus = static_cast<int>(states.size());
  end.blocks = blocks;
  end.meeting = blocks > crowd ? Meeting::kLeaderTells
                : end.gpus > 1 ? Meeting::kLastTells
                               : Meeting::kFlat;
  for (int gpu = 0; gpu < end.gpus; ++gpu) {
    end.of_rank[gpu] = states[gpu];
  }
  end.rank = rank;
  end.own = end.of_rank[rank];
  made.machine.failure = failure;
  made.machine.wait_limit = static_cast<unsigned>(
      std::chrono::nanoseconds(wait_limit).count() / GpuMachine::kTick);
  return made;
}

/// What a GPU's block has left; "" where none gave up. name(rank): of a GPU.
template <class Name>
std::string failure_text(const volatile Failure* at, int rank,
                         std::chrono::milliseconds wait_limit, Name name) {
  const Failure found = *at;
  const auto reason = static_cast<Reason>(found >> 60);
  const int whom = (found >> 32) & 0xfffffff;
  if (reason == Reason::kNone) return "";
  if (reason == Reason::kBlockCount) {
    return name(rank) + " was launched with " + std::to_string(whom) +
           " blocks, for which its end of the barrier was not made";
  }
  return name(rank) + " waited " + std::to_string(wait_limit.count()) +
         " ms in barrier " + std::to_string(found & 0xffffffff) +
         " of its kernel for " +
         (reason == Reason::kOwnBlocks ? "its own blocks" : name(whom));
}

}  // namespace detail

inline BarrierSet::BarrierSet(const std::vector<int>& devices,
                              std::chrono::milliseconds wait_limit)
    : devices_(devices), wait_limit_(wait_limit) {
  detail::check_limit(wait_limit);
  detail::check_devices(devices);
  crowd_ =
      detail::crowd_of(detail::properties_of(devices[0]).multiProcessorCount,
                       static_cast<int>(devices.size()));
  const detail::CurrentDevice current;
  for (const int device : devices) {
    const std::string name = detail::name_of(device);
    detail::check(cudaSetDevice(device), "cudaSetDevice to " + name);
    for (const int peer : devices) {
      if (peer != device) detail::enable_access(peer);
    }
    GpuState* state = nullptr;
    detail::check(cudaMalloc(&state, sizeof *state), "cudaMalloc on " + name);
    states_.emplace_back(state);
  }
  current.restore();
  start_at(0);
  failures_ = detail::make_failures(kMaxGpus);
}

inline BarrierSet& BarrierSet::operator=(BarrierSet other) noexcept {
  std::swap(devices_, other.devices_);
  std::swap(states_, other.states_);
  std::swap(failures_, other.failures_);
  std::swap(wait_limit_, other.wait_limit_);
  std::swap(crowd_, other.crowd_);
  return *this;
}

// cudaFree waits for one GPU only, while a peer's kernel may still write to the
// memory of it: say that one of the launches has failed, and the other's kernel
// runs. It waits for as much as cudaFree on each GPU would.
inline BarrierSet::~BarrierSet() {
  int current = 0;
  if (devices_.empty() || cudaGetDevice(&current) != cudaSuccess) return;
  for (const int device : devices_) {
    if (cudaSetDevice(device) == cudaSuccess) cudaDeviceSynchronize();
  }
  cudaSetDevice(current);
}

template <class Machine>
std::vector<BasicBarrierEnd<Machine>> BarrierSet::for_blocks(
    unsigned blocks) const {
  std::vector<State<Machine::kLines>*> states;
  for (const auto& state : states_) states.push_back(state.get());
  std::vector<BasicBarrierEnd<Machine>> ends;
  for (std::size_t rank = 0; rank < states.size(); ++rank) {
    ends.push_back(
        detail::end_of<Machine>(states, static_cast<int>(rank), blocks, crowd_,
                                failures_.get() + rank, wait_limit_));
  }
  return ends;
}

inline std::optional<std::string> BarrierSet::failure() const {
  std::string text;
  for (std::size_t rank = 0; rank < devices_.size(); ++rank) {
    const std::string line = detail::failure_text(
        failures_.get() + rank, static_cast<int>(rank), wait_limit_,
        [this](int of) { return "GPU " + std::to_string(devices_[of]); });
    if (!line.empty()) text += (text.empty() ? "" : "\n") + line;
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
  const detail::CurrentDevice current;
  for (std::size_t rank = 0; rank < states_.size(); ++rank) {
    detail::check(cudaSetDevice(devices_[rank]), "cudaSetDevice");
    detail::check(cudaMemcpy(states_[rank].get(), &state, sizeof state,
                             cudaMemcpyHostToDevice),
                  "cudaMemcpy");
    detail::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  current.restore();
}

}  // namespace peer_grid
