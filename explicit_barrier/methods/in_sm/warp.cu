// Synchronization and data exchange inside a warp (study, section V-A).
#include <cooperative_groups.h>

#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench::explicit_barrier {

namespace cg = cooperative_groups;

/// What a barrier of `size` lanes is when many stand in a row, by machine code
/// seen of every toolkit from 11.8 to 13.0: one each only on sm_90, of less
/// than a warp or of coalesced threads (size 0), by toolkits before
/// `last_toolkit`, as in CUDART_VERSION.
constexpr ExpectedCode warp_barrier(int size, int architecture,
                                    int last_toolkit) {
  const bool there =
      CUDART_VERSION < last_toolkit && architecture >= 90 && size < 32;
  const int test = CUDART_VERSION < 13000 ? 7 : 6;
  const int others = there ? 2 : architecture >= 90 ? 0 : test;
  return ExpectedCode(R"(WARPSYNC\b.*)")
      .others(others)
      .proof(there ? Proof::kEach : Proof::kNothing);
}
constexpr const char* kNoBarrier =
    "in a sequence compiled to no barrier, at most to tests for convergence";
constexpr const char* warp_barrier_caution(int last_toolkit) {
  return CUDART_VERSION < last_toolkit
             ? "in a sequence compiled to barriers only for sm_90 and less "
               "than a warp, else to none or to tests for convergence"
             : kNoBarrier;
}
constexpr const char* coalesced_caution(int last_toolkit) {
  return CUDART_VERSION < last_toolkit
             ? "in a sequence compiled to barriers only for sm_90, else to "
               "none or to tests for convergence"
             : kNoBarrier;
}

/// A partition of the block into tiles of kSize threads, fixed when compiling.
template <int kSize>
struct Tiled : Method {
  static constexpr void describe(About& about) {
    about.groups = Sizes{kSize, kSize};
  }
  cg::thread_block_tile<kSize> tile =
      cg::tiled_partition<kSize>(cg::this_thread_block());
};

/// Barrier of a tile.
template <int kSize>
struct TileSync : Tiled<kSize> {
  static constexpr void describe(About& about) {
    Tiled<kSize>::describe(about);
    about.barrier(Scope::kWarp, "tile_sync",
                  "sync() of a warp tile of 1 to 32 threads");
    about.caution = warp_barrier_caution(12030);
    about.set = about.between = Set::kStudy;
    about.throughput_repeats = [](int group) {
      return group == 32 ? 65536 : 0;
    };
    about.code = warp_barrier(kSize, about.architecture, 12030);
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    this->tile.sync();
    return value;
  }
};

/// What a thread gets from the next of its group, the last one from itself.
inline unsigned from_next(const Position& position, const Values& before) {
  const bool last = position.thread % 32 % position.group + 1 == position.group;
  return before.of_thread(position, position.thread + (last ? 0 : 1));
}

/// Shuffle down by one lane inside a tile: the exchange of a tree reduction.
template <int kSize>
struct TileShuffle : Tiled<kSize> {
  static constexpr void describe(About& about) {
    Tiled<kSize>::describe(about);
    about.operation(Scope::kWarp, "tile_shufl",
                    "shfl_down() in a warp tile of 1 to 32 threads");
    about.set = about.between = Set::kStudy;
    about.throughput_limit = 1;  // 32 lanes
    about.throughput_repeats = [](int group) { return group == 32 ? 8192 : 0; };
    // CUDA 11.8 lets the lanes of a part of a warp meet before each.
    const bool meets =
        CUDART_VERSION < 13000 && about.architecture >= 90 && kSize < 32;
    about.code = ExpectedCode(R"(SHFL\.DOWN .*, 0x1, .*)")
                     .others(meets ? 1 : 0)
                     .proof(Proof::kChain);
    about.expected = from_next;
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    return this->tile.shfl_down(value, 1);
  }
};

/// The lanes that are active together.
struct Coalesced : Method {
  static constexpr void describe(About& about) { about.groups = Sizes{1, 32}; }
  static constexpr __host__ __device__ bool takes_part(
      const Position& position) {
    return first_lanes(position);
  }
  cg::coalesced_group group = cg::coalesced_threads();
};

/// Barrier of the lanes that are active together.
struct CoalescedSync : Coalesced {
  static constexpr void describe(About& about) {
    Coalesced::describe(about);
    about.barrier(Scope::kWarp, "coales_sync",
                  "sync() of 1 to 32 coalesced threads");
    about.caution = coalesced_caution(12050);
    about.set = about.between = Set::kStudy;
    about.throughput_repeats = [](int group) {
      return group == 16 || group == 32 ? 65536 : 0;
    };
    about.code = warp_barrier(0, about.architecture, 12050);
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    group.sync();
    return value;
  }
};

/// Shuffle down by one rank among the active lanes. Each operation asks whether
/// all 32 take part. If not, the library searches the source lane in software.
struct CoalescedShuffle : Coalesced {
  static constexpr void describe(About& about) {
    Coalesced::describe(about);
    about.operation(Scope::kWarp, "coales_shufl",
                    "shfl_down() among 1 to 32 coalesced threads");
    about.set = about.between = Set::kStudy;
    about.throughput_limit = 1;  // 32 lanes
    // Of a whole warp the cost depends on how many stand in a row (TestRepeat).
    about.repeats = [](int group) { return group == 32 ? 2 : 4; };
    about.throughput_repeats = [](int group) {
      return group == 32 ? 8192 : group == 16 ? 512 : 0;
    };
    const int others = about.architecture >= 100 ? 0 : 50;
    about.code = ExpectedCode(R"(SHFL\.(DOWN|IDX) .*)")
                     .others(others)
                     .proof(Proof::kChain)
                     .paths(2);
    about.expected = from_next;
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    return group.shfl_down(value, 1);
  }
};

/// __syncwarp() of the first kLanes lanes of each warp.
template <int kLanes>
struct WarpSync : Method {
  static constexpr void describe(About& about) {
    about.barrier(Scope::kWarp, "syncwarp",
                  "__syncwarp() of the first 8, 16 or 32 lanes");
    about.caution = warp_barrier_caution(12050);
    about.groups = Sizes{kLanes, kLanes};
    about.code = warp_barrier(kLanes, about.architecture, 12050);
  }
  static constexpr __host__ __device__ bool takes_part(
      const Position& position) {
    return first_lanes(position);
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    __syncwarp(0xffffffffu >> (32 - kLanes));
    return value;
  }
};

std::vector<MethodEntry> list_warp() {
  return entries<TileSync<1>, TileSync<2>, TileSync<4>, TileSync<8>,
                 TileSync<16>, TileSync<32>, TileShuffle<1>, TileShuffle<2>,
                 TileShuffle<4>, TileShuffle<8>, TileShuffle<16>,
                 TileShuffle<32>, CoalescedSync, CoalescedShuffle, WarpSync<8>,
                 WarpSync<16>, WarpSync<32>>();
}

}  // namespace syncbench::explicit_barrier
