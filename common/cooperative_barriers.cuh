// Barriers of cooperative groups in the form of peer_grid::Barrier, so that a
// kernel can be written for any of them: each thread makes one from the End
// that its kernel is given.
#pragma once

#include <cooperative_groups.h>

namespace syncbench {

/// Of all blocks of a grid, launched cooperatively.
struct GridBarrier {
  struct End {};
  __device__ explicit GridBarrier(const End&) {}
  __device__ void sync() { cooperative_groups::this_grid().sync(); }
};

#if CUDART_VERSION < 13000

/// Of all blocks of all grids of one multi-device launch.
struct MultiGridBarrier {
  struct End {};
  __device__ explicit MultiGridBarrier(const End&) {}
#pragma nv_diag_suppress 1215  // deprecated, which is why it is measured
  __device__ void sync() { cooperative_groups::this_multi_grid().sync(); }
#pragma nv_diag_default 1215
};

#endif

}  // namespace syncbench
