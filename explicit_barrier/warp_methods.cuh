// Synchronization and data exchange inside a warp (study, section V-A).
#pragma once

#include <cooperative_groups.h>

#include <vector>

#include "explicit_barrier/method.cuh"

namespace syncbench {

/// What a sequence of warp barriers compiles to, by machine code seen of every
/// toolkit from 11.8 to 13.0; tests/machine_code_test.py checks it for this
/// one.
inline constexpr const char* kNoWarpBarrier =
    "in a sequence compiled to no barrier, at most to tests for convergence";
inline constexpr const char* kWarpBarrierFrom90 =
    "in a sequence compiled to barriers only for sm_90 and less than a warp, "
    "else to none or to tests for convergence";

/// Barrier of a tile of kSize threads, a partition fixed when compiling.
template <int kSize>
struct TileSync {
  static constexpr const char* kName = "tile_sync";
  static constexpr const char* kCaution =
      CUDART_VERSION < 12030 ? kWarpBarrierFrom90 : kNoWarpBarrier;
  static constexpr int kRepeats = 64;
  static constexpr int kThroughputRepeats = 65536;
  static constexpr int kTile = kSize;
  __device__ unsigned operator()(unsigned value) const {
    tile.sync();
    return value;
  }
  cooperative_groups::thread_block_tile<kSize> tile =
      cooperative_groups::tiled_partition<kSize>(
          cooperative_groups::this_thread_block());
};

/// Shuffle down by one lane inside a tile: the exchange of a tree reduction.
template <int kSize>
struct TileShuffle {
  static constexpr const char* kName = "tile_shufl";
  static constexpr int kRepeats = 64;
  static constexpr int kThroughputRepeats = 8192;
  static constexpr int kTile = kSize;
  __device__ unsigned operator()(unsigned value) const {
    return tile.shfl_down(value, 1);
  }
  cooperative_groups::thread_block_tile<kSize> tile =
      cooperative_groups::tiled_partition<kSize>(
          cooperative_groups::this_thread_block());
};

/// Barrier of the lanes that are active together.
struct CoalescedSync {
  static constexpr const char* kName = "coales_sync";
  static constexpr const char* kCaution =
      CUDART_VERSION < 12050 ? kWarpBarrierFrom90 : kNoWarpBarrier;
  static constexpr int kRepeats = 64;
  static constexpr int kThroughputRepeats = 65536;
  static constexpr int kTile = 0;
  __device__ unsigned operator()(unsigned value) const {
    group.sync();
    return value;
  }
  cooperative_groups::coalesced_group group =
      cooperative_groups::coalesced_threads();
};

/// Shuffle down by one rank among the active lanes. For fewer than 32 lanes the
/// library searches the source lane in software, some 40 instructions.
struct CoalescedShuffle {
  static constexpr const char* kName = "coales_shufl";
  static constexpr int kRepeats = 2;
  static constexpr int kThroughputRepeats = 8192;
  struct Part {
    static constexpr int kRepeats = 4;
    static constexpr int kThroughputRepeats = 512;
  };
  static constexpr int kTile = 0;
  __device__ unsigned operator()(unsigned value) const {
    return group.shfl_down(value, 1);
  }
  cooperative_groups::coalesced_group group =
      cooperative_groups::coalesced_threads();
};

using WarpMethods =
    MethodList<TileSync<1>, TileSync<2>, TileSync<4>, TileSync<8>, TileSync<16>,
               TileSync<32>, TileShuffle<1>, TileShuffle<2>, TileShuffle<4>,
               TileShuffle<8>, TileShuffle<16>, TileShuffle<32>, CoalescedSync,
               CoalescedShuffle>;

/// The warp methods for --list, sizes taken together.
inline void add_warp_methods(std::vector<MethodInfo>& infos) {
  infos.push_back(
      method_info<TileSync<32>>("sync() of a warp tile of 1 to 32 threads"));
  infos.push_back(method_info<TileShuffle<32>>(
      "shfl_down() in a warp tile of 1 to 32 threads"));
  infos.push_back(
      method_info<CoalescedSync>("sync() of 1 to 32 coalesced threads"));
  infos.push_back(method_info<CoalescedShuffle>(
      "shfl_down() among 1 to 32 coalesced threads"));
}

}  // namespace syncbench
