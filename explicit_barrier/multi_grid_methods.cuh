// Barriers of all blocks of several GPUs (study, section VI-C).
#pragma once

#include <cooperative_groups.h>

#include "explicit_barrier/method.cuh"
#include "explicit_barrier/peer_grid_barrier.cuh"

namespace syncbench {

/// This suite's barrier over peer memory; one cooperative launch a GPU.
struct PeerGridSync {
  static constexpr const char* kName = "peer_grid_sync";
  static constexpr int kRepeats = 1;
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
  static constexpr const char* kCaution =
      "on several GPUs each process draws its level, up to 9% apart on H200; "
      "compare several runs";
  static constexpr int kRepeats = 1;
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

inline constexpr bool kHasMultiGrid = true;
using MultiGridMethods = MethodList<MultiGridSync, PeerGridSync>;

#else

inline constexpr bool kHasMultiGrid = false;
using MultiGridMethods = MethodList<PeerGridSync>;

#endif

}  // namespace syncbench
