// Barriers of all blocks of one GPU (study, section V-C).
#pragma once

#include <cooperative_groups.h>

#include "explicit_barrier/method.cuh"

namespace syncbench {

/// Cooperative groups' grid barrier: every block adds to one counter (release,
/// GPU scope) and polls it (acquire).
struct GridSync {
  static constexpr const char* kName = "grid_sync";
  static constexpr int kRepeats = 8;
  static constexpr int kTile = 32;
  __device__ unsigned operator()(unsigned value) const {
    group.sync();
    return value;
  }
  cooperative_groups::grid_group group = cooperative_groups::this_grid();
};

using GridMethods = MethodList<GridSync>;

}  // namespace syncbench
