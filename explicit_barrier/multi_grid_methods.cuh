// Barriers of all blocks of several GPUs (study, section VI-C).
#pragma once

#include <cooperative_groups.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/check.hpp"
#include "explicit_barrier/method.cuh"
#include "peer_grid_barrier/barrier.cuh"

namespace syncbench {

/// This suite's barrier over peer memory; one cooperative launch a GPU.
struct PeerGridSync {
  static constexpr const char* kName = "peer_grid_sync";
  static constexpr int kRepeats = 4;
  static constexpr int kTile = 32;
  static constexpr int kMostInLine = 64;
  using Parameter = peer_grid::BarrierEnd;

  __device__ explicit PeerGridSync(const Parameter& parameter)
      : barrier(parameter) {}
  __device__ unsigned operator()(unsigned value) {
    barrier.sync();
    return value;
  }
  peer_grid::Barrier barrier;
};

/// Calls measure(). Where it fails because a barrier of `set` gave up, the
/// error says which and for what it waited.
template <class Measure>
void explain_failure(const std::optional<peer_grid::BarrierSet>& set,
                     Measure measure) {
  try {
    measure();
  } catch (const CudaError& error) {
    const auto failure = set ? set->failure() : std::nullopt;
    if (!failure) throw;
    throw std::runtime_error(*failure + "\n" + error.what());
  }
}

/// Fewest GPUs that a method is measured on.
template <class Method>
inline constexpr int kFewestGpus = 1;

/// Does a process draw the level of a method, once for all launches?
template <class Method>
inline constexpr bool kDrawnByProcess = false;

#if CUDART_VERSION < 13000

/// Cooperative groups' multi-grid barrier; one multi-device launch. Where the
/// GPUs have access to each other's memory its counter is there.
struct MultiGridSync {
  static constexpr const char* kName = "multi_grid_sync";
  static constexpr bool kPeerAccess = true;
  static constexpr int kRepeats = 8;
  static constexpr int kTile = 32;
#pragma nv_diag_suppress 1215  // deprecated, which is why it is measured
  __device__ unsigned operator()(unsigned value) const {
    group.sync();
    return value;
  }
  cooperative_groups::multi_grid_group group =
      cooperative_groups::this_multi_grid();
#pragma nv_diag_default 1215
};

/// The same without peer access: the library's counter is in host memory.
struct MultiGridSyncNoPeer : MultiGridSync {
  static constexpr const char* kName = "multi_grid_sync_no_peer";
  static constexpr const char* kCaution =
      "access to each other's memory is switched off for these rows; a process "
      "draws their level, so they are of several processes";
  static constexpr bool kPeerAccess = false;
};

template <>
inline constexpr int kFewestGpus<MultiGridSyncNoPeer> = 2;
template <>
inline constexpr bool kDrawnByProcess<MultiGridSyncNoPeer> = true;

using MultiGridMethods =
    MethodList<MultiGridSync, MultiGridSyncNoPeer, PeerGridSync>;
/// Those that one GPU can have.
using OneGpuMultiGridMethods = MethodList<MultiGridSync, PeerGridSync>;

#else

using MultiGridMethods = MethodList<PeerGridSync>;
using OneGpuMultiGridMethods = MultiGridMethods;

#endif

/// What this build cannot measure, and why.
inline std::vector<MethodInfo> missing_multi_grid_methods() {
  if (CUDART_VERSION < 13000) return {};
  const std::string reason =
      "CUDA 13 removed it; a build with CUDA 11 or 12 measures it (cmake "
      "--preset cuda11)";
  return {{"multi_grid_sync", reason}, {"multi_grid_sync_no_peer", reason}};
}

}  // namespace syncbench
