// The host's part of peer_grid_barrier.cuh, which includes this.
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/check.hpp"
#include "common/launch.hpp"
#include "common/peer_access.hpp"

namespace syncbench {

/// The GPUs of a set cannot be joined by a barrier; what() names them.
struct PeerGridError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Owns a barrier's memory on a set of GPUs. Move-only.
class PeerGridBarrierSet {
 public:
  /// `devices`: 1 to kMaxPeers different CUDA devices, all of one kind, each
  /// with access to the memory of every other (which is switched on here).
  /// Throws PeerGridError that names the GPUs where that is not so, and where
  /// CUDA_LAUNCH_BLOCKING would make several GPUs wait for each other for ever.
  explicit PeerGridBarrierSet(const std::vector<int>& devices);
  PeerGridBarrierSet(PeerGridBarrierSet&&) = default;
  PeerGridBarrierSet(const PeerGridBarrierSet&) = delete;
  ~PeerGridBarrierSet();

  /// The end of devices[rank], for the kernel that runs there.
  template <class Traits = PeerGridTraits>
  BasicPeerGridBarrier<Traits> on_rank(int rank) const;

  /// Makes the epochs start at `epoch` and the laps of counters at its lower
  /// half, to see them wrap around; for tests, with no kernel running.
  void set_epoch(unsigned epoch);

 private:
  std::vector<peer_grid::Memory*> memory_;
  unsigned crowd_ = 0;
};

namespace peer_grid {

// More blocks per SM than this, and a leader is faster than one counter for
// all; measured on H200, on one GPU and on several.
inline constexpr unsigned kCrowdOnOneGpu = 8;
inline constexpr unsigned kCrowdOnMany = 4;

/// Launches that wait for their kernels, which wait for each other, never end.
inline void refuse_blocking_launches() {
  if (launches_wait_for_kernels()) {
    throw PeerGridError(
        "CUDA_LAUNCH_BLOCKING is set: a launch would wait for its kernel, and "
        "the kernel for those of the other GPUs");
  }
}

inline std::string name_of(int device) {
  cudaDeviceProp properties = {};
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  return "GPU " + std::to_string(device) + " (" + properties.name + ")";
}

/// Throws unless both are of one kind and `device` can access `peer`'s memory;
/// then switches the access on.
inline void require_peer_access(int device, int peer) {
  cudaDeviceProp ours = {}, theirs = {};
  CUDA_CHECK(cudaGetDeviceProperties(&ours, device));
  CUDA_CHECK(cudaGetDeviceProperties(&theirs, peer));
  const std::string pair = name_of(device) + " and " + name_of(peer);
  if (ours.major != theirs.major || ours.minor != theirs.minor ||
      ours.multiProcessorCount != theirs.multiProcessorCount) {
    throw PeerGridError(pair + " are of different kinds");
  }
  if (!enable_peer_access(device, peer)) {
    throw PeerGridError(pair +
                        " cannot access each other's memory (no peer "
                        "access)");
  }
}

}  // namespace peer_grid

inline PeerGridBarrierSet::PeerGridBarrierSet(const std::vector<int>& devices) {
  if (devices.empty() || devices.size() > kMaxPeers) {
    throw PeerGridError("a peer grid barrier takes 1 to " +
                        std::to_string(kMaxPeers) + " GPUs, not " +
                        std::to_string(devices.size()));
  }
  if (devices.size() > 1) peer_grid::refuse_blocking_launches();
  int previous = 0;
  CUDA_CHECK(cudaGetDevice(&previous));
  for (const int device : devices) {
    CUDA_CHECK(cudaSetDevice(device));
    cudaDeviceProp properties = {};
    CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
    if (properties.major < 7) {
      throw PeerGridError(peer_grid::name_of(device) +
                          " is older than compute capability 7.0, which "
                          "a peer grid barrier needs");
    }
    for (const int peer : devices) {
      if (peer != device) peer_grid::require_peer_access(device, peer);
    }
    // At least kLines: a leader's barrier uses all counters or none.
    crowd_ = std::max(peer_grid::kLines,
                      static_cast<unsigned>(properties.multiProcessorCount) *
                          (devices.size() == 1 ? peer_grid::kCrowdOnOneGpu
                                               : peer_grid::kCrowdOnMany));
    peer_grid::Memory* memory = nullptr;
    CUDA_CHECK(cudaMalloc(&memory, sizeof *memory));
    memory_.push_back(memory);
    CUDA_CHECK(cudaMemset(memory, 0, sizeof *memory));
    CUDA_CHECK(cudaDeviceSynchronize());
  }
  CUDA_CHECK(cudaSetDevice(previous));
}

inline PeerGridBarrierSet::~PeerGridBarrierSet() {
  for (peer_grid::Memory* memory : memory_) cudaFree(memory);
}

template <class Traits>
BasicPeerGridBarrier<Traits> PeerGridBarrierSet::on_rank(int rank) const {
  BasicPeerGridBarrier<Traits> barrier;
  barrier.own_ = memory_[rank];
  for (std::size_t peer = 0; peer < memory_.size(); ++peer) {
    barrier.memory_[peer] = memory_[peer];
  }
  barrier.rank_ = rank;
  barrier.peer_count_ = static_cast<int>(memory_.size());
  barrier.crowd_ = crowd_;
  return barrier;
}

inline void PeerGridBarrierSet::set_epoch(unsigned epoch) {
  peer_grid::Memory memory = {};
  memory.counter.value = epoch * peer_grid::kLap;
  for (unsigned line = 0; line < peer_grid::kLines; ++line) {
    memory.counters[line].value = epoch * peer_grid::kLap;
    for (unsigned& announced : memory.announced[line].epoch) announced = epoch;
  }
  for (peer_grid::Memory* target : memory_) {
    CUDA_CHECK(cudaMemcpy(target, &memory, sizeof memory, cudaMemcpyDefault));
  }
}

}  // namespace syncbench
