// Barriers of all blocks of several GPUs (study, section VI-C).
#pragma once

#include <cooperative_groups.h>

#include <vector>

#include "explicit_barrier/method.cuh"
#include "explicit_barrier/peer_grid_barrier.cuh"

namespace syncbench {

/// This suite's barrier over peer memory; one cooperative launch a GPU.
struct PeerGridSync {
  static constexpr const char* kName = "peer_grid_sync";
  static constexpr int kRepeats = 4;
  static constexpr int kTile = 32;
  static constexpr int kMostInLine = 64;
  using Parameter = PeerGridBarrier;

  __device__ explicit PeerGridSync(const Parameter& parameter)
      : barrier(parameter) {}
  __device__ unsigned operator()(unsigned value) {
    barrier.sync();
    return value;
  }
  PeerGridBarrier barrier;
};

#if CUDART_VERSION < 13000

/// Cooperative groups' multi-grid barrier; one multi-device launch.
struct MultiGridSync {
  static constexpr const char* kName = "multi_grid_sync";
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

using MultiGridMethods = MethodList<MultiGridSync, PeerGridSync>;

#else

using MultiGridMethods = MethodList<PeerGridSync>;

#endif

/// What this build cannot measure, and why.
inline std::vector<MethodInfo> missing_multi_grid_methods() {
  if (CUDART_VERSION < 13000) return {};
  return {{"multi_grid_sync",
           "CUDA 13 removed it; a build with CUDA 11 or 12 measures it (cmake "
           "--preset cuda11)"}};
}

}  // namespace syncbench
