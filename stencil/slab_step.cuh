// A time step of what one GPU has of a field: from and to global memory, or in
// shared memory. Cells are loaded as usual, never through the read-only path
// and never by way of __restrict__: other blocks and GPUs write them while the
// kernels of several steps run.
#pragma once

#include "stencil/field.hpp"
#include "stencil/relax.hpp"

namespace syncbench::stencil {

using Quad = float4;

__device__ inline Quad load_quad(const float* cells) {
  return *reinterpret_cast<const Quad*>(cells);
}

__device__ inline void store_quad(float* cells, const Quad& quad) {
  *reinterpret_cast<Quad*>(cells) = quad;
}

/// The quad `here`, at cell `at` of a layer, in the next step. `cells`: where
/// it lies in its layer; `before` and `after`: the same quad of the layers
/// beside it. The sides of a layer stay as they are.
template <int kDimensions>
__device__ __forceinline__ Quad next_quad(const Slab& slab, const float* cells,
                                          int at, const Quad& before,
                                          const Quad& here, const Quad& after) {
  const bool first = (at & (slab.width - 1)) == 0;
  const bool last = (at & (slab.width - 1)) == slab.width - kQuad;
  const float left = first ? 0 : cells[-1];
  const float right = last ? 0 : cells[kQuad];
  Quad next;
  if constexpr (kDimensions == 2) {
    next.x = relaxed(here.x, left, here.y, before.x, after.x);
    next.y = relaxed(here.y, here.x, here.z, before.y, after.y);
    next.z = relaxed(here.z, here.y, here.w, before.z, after.z);
    next.w = relaxed(here.w, here.z, right, before.w, after.w);
  } else {
    if (at < slab.width || at >= slab.layer - slab.width) return here;
    const Quad above = load_quad(cells - slab.width);
    const Quad below = load_quad(cells + slab.width);
    next.x = relaxed(here.x, left, here.y, above.x, below.x, before.x, after.x);
    next.y =
        relaxed(here.y, here.x, here.z, above.y, below.y, before.y, after.y);
    next.z =
        relaxed(here.z, here.y, here.w, above.z, below.z, before.z, after.z);
    next.w =
        relaxed(here.w, here.z, right, above.w, below.w, before.w, after.w);
  }
  if (first) next.x = here.x;
  if (last) next.w = here.w;
  return next;
}

/// Copy `which` (0 or 1) of what slabs have two of.
__device__ __forceinline__ float* copy_of(float* const (&copies)[2],
                                          int which) {
  return which == 0 ? copies[0] : copies[1];
}

/// Stores a quad of layer `number` (1 to layers) where another GPU reads it.
/// `to`: the copy that is written.
__device__ __forceinline__ void store_halos(const Slab& slab, int to,
                                            int number, int at,
                                            const Quad& quad) {
  if (number == 1) {
    float* halo = copy_of(slab.halo_before, to);
    if (halo != nullptr) store_quad(halo + at, quad);
  }
  if (number == slab.layers) {
    float* halo = copy_of(slab.halo_after, to);
    if (halo != nullptr) store_quad(halo + at, quad);
  }
}

/// Step `step` of the whole slab, by all threads of the grid. Each goes through
/// `march` layers and keeps what it has loaded of the last three. `part`: of
/// the block, from 0 to gridDim.x - 1, each by one block.
template <int kDimensions>
__device__ __forceinline__ void step_in_memory(const Slab& slab, int step,
                                               unsigned part) {
  const int to = (step + 1) & 1;
  float* const source = copy_of(slab.copies, step & 1);
  const long long there = copy_of(slab.copies, to) - source;  // the same cell
  const long long layer = slab.layer;
  const int marches = (slab.layers - 1) / slab.march + 1;
  const int items = marches << slab.quad_bits;
  const int threads = static_cast<int>(gridDim.x * blockDim.x);
  for (int item = static_cast<int>(part * blockDim.x + threadIdx.x);
       item < items; item += threads) {
    const int at = (item & ((1 << slab.quad_bits) - 1)) * kQuad;
    const int first = 1 + (item >> slab.quad_bits) * slab.march;
    const int end = min(first + slab.march, slab.layers + 1);
    float* cells = source + first * layer + at;
    Quad before = load_quad(cells - layer);
    Quad here = load_quad(cells);
    Quad after = load_quad(cells + layer);
    for (int number = first; number < end; ++number) {
      Quad ahead = after;  // loaded early, while this layer is computed
      if (number + 1 < end) ahead = load_quad(cells + 2 * layer);
      const Quad next =
          next_quad<kDimensions>(slab, cells, at, before, here, after);
      store_quad(cells + there, next);
      store_halos(slab, to, number, at, next);
      before = here;
      here = after;
      after = ahead;
      cells += layer;
    }
  }
}

/// The tile of one block: as many layers as those of others. It lies in shared
/// memory twice; its first and its last layer are in global memory, too, in
/// their places in the field, where the blocks beside it read them.
template <int kDimensions>
class Tile {
 public:
  __device__ Tile(const Slab& slab, float* shared)
      : depth_(slab.layers / static_cast<int>(gridDim.x)),
        first_(1 + static_cast<int>(blockIdx.x) * depth_),
        now_(shared),
        next_(shared + depth_ * slab.layer) {}

  /// Copy 0 of the field, into shared memory.
  __device__ void load(const Slab& slab) {
    const float* cells =
        copy_of(slab.copies, 0) + first_ * static_cast<long long>(slab.layer);
    for (int i = kQuad * threadIdx.x; i < depth_ * slab.layer;
         i += kQuad * blockDim.x) {
      store_quad(now_ + i, load_quad(cells + i));
    }
    __syncthreads();
  }

  /// Step `step`. The block's threads must meet before the next one.
  __device__ void step(const Slab& slab, int step) {
    const int to = (step + 1) & 1;
    const long long layer = slab.layer;
    const float* source = copy_of(slab.copies, step & 1) + first_ * layer;
    float* target = copy_of(slab.copies, to) + first_ * layer;
    const int items = depth_ << slab.quad_bits;
    for (int item = threadIdx.x; item < items; item += blockDim.x) {
      const int number = item >> slab.quad_bits;  // of the tile, from 0
      const int at = (item & ((1 << slab.quad_bits) - 1)) * kQuad;
      const float* cells = now_ + number * slab.layer + at;
      const Quad before = number > 0 ? load_quad(cells - slab.layer)
                                     : load_quad(source - layer + at);
      const Quad after = number + 1 < depth_
                             ? load_quad(cells + slab.layer)
                             : load_quad(source + depth_ * layer + at);
      const Quad next = next_quad<kDimensions>(slab, cells, at, before,
                                               load_quad(cells), after);
      store_quad(next_ + number * slab.layer + at, next);
      if (number > 0 && number + 1 < depth_) continue;
      store_quad(target + number * layer + at, next);
      store_halos(slab, to, first_ + number, at, next);
    }
    float* const done = next_;
    next_ = now_;
    now_ = done;
  }

  /// Back to the field's copy after so many steps. Each thread stores what it
  /// has computed itself.
  __device__ void store(const Slab& slab, int steps) const {
    float* cells = copy_of(slab.copies, steps & 1) +
                   first_ * static_cast<long long>(slab.layer);
    for (int i = kQuad * threadIdx.x; i < depth_ * slab.layer;
         i += kQuad * blockDim.x) {
      store_quad(cells + i, load_quad(now_ + i));
    }
  }

 private:
  int depth_;  // layers of the tile
  int first_;  // of its layers, in the slab
  float* now_;
  float* next_;
};

}  // namespace syncbench::stencil
