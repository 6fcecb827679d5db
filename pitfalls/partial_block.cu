// Half of the lanes of a warp synchronize, half of the warps of a block, or
// half of the lanes of each.
#include <cooperative_groups.h>

#include <new>

#include "pitfalls/partial_group.cuh"

namespace syncbench::pitfalls {
namespace {

namespace cg = cooperative_groups;

constexpr unsigned kAllLanes = 0xffffffff;
constexpr unsigned kHalf = 0x0000ffff;  // those that come

/// One warp, whose part is allowed where it names itself.
struct HalfOfLanes : PartialGroup {
  using PartialGroup::PartialGroup;
  static constexpr int kBlocks = 1, kThreads = 32;
  static constexpr bool kPartIsAllowed = true;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
  static constexpr bool kHoldsPaths = true;  // before, they have to converge
#endif
  __device__ static bool comes(const Here&) { return threadIdx.x < 16; }
};

/// Control: nothing waits, which has to be seen.
struct NoSync : HalfOfLanes {
  using HalfOfLanes::HalfOfLanes;
  static constexpr int kFirstArchitecture = 70;  // as kHoldsPaths
  __device__ void sync(bool) const {}
};

struct WarpSync : HalfOfLanes {
  using HalfOfLanes::HalfOfLanes;
  __device__ void sync(bool allowed) const {
    __syncwarp(allowed ? kHalf : kAllLanes);
  }
};

struct TileSync : HalfOfLanes {
  using HalfOfLanes::HalfOfLanes;
  cg::thread_block_tile<32> tile =
      cg::tiled_partition<32>(cg::this_thread_block());
  cg::thread_block_tile<16> half =
      cg::tiled_partition<16>(cg::this_thread_block());
  __device__ void sync(bool allowed) const {
    if (allowed) {
      half.sync();
    } else {
      tile.sync();
    }
  }
};

struct CoalescedSync : HalfOfLanes {
  using HalfOfLanes::HalfOfLanes;
  cg::coalesced_group group = cg::coalesced_threads();
  __device__ void part_comes(bool allowed) {
    // CUDA declares the assignment and does not define it.
    if (allowed) new (&group) cg::coalesced_group(cg::coalesced_threads());
  }
  __device__ void sync(bool) const { group.sync(); }
};

struct Shuffle : HalfOfLanes {
  using HalfOfLanes::HalfOfLanes;
  __device__ void sync(bool allowed) const {
    const unsigned got =
        __shfl_sync(allowed ? kHalf : kAllLanes, threadIdx.x, 0);
    asm volatile("" ::"r"(got));  // or there would be no shuffle
  }
};

struct HalfOfWarps : PartialGroup {
  using PartialGroup::PartialGroup;
  static constexpr int kBlocks = 1, kThreads = 256;
  __device__ static bool comes(const Here&) { return threadIdx.x < 128; }
};

struct BlockSync : HalfOfWarps {
  using HalfOfWarps::HalfOfWarps;
  __device__ void sync(bool) const { __syncthreads(); }
};

struct BlockSyncOfLanes : BlockSync {
  using BlockSync::BlockSync;
  __device__ static bool comes(const Here&) { return threadIdx.x % 32 < 16; }
};

struct NamedBarrier : HalfOfWarps {
  using HalfOfWarps::HalfOfWarps;
  static constexpr bool kPartIsAllowed = true;
  __device__ void sync(bool allowed) const {
    asm volatile("barrier.sync 1, %0;" ::"r"(allowed ? 128 : kThreads)
                 : "memory");
  }
};

struct Mbarrier : HalfOfWarps {
  static constexpr bool kPartIsAllowed = true;
  static constexpr int kFirstArchitecture = 80;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  __device__ Mbarrier(const Argument& argument, Form form)
      : HalfOfWarps(argument, form) {
    __shared__ unsigned long long memory;
    barrier = static_cast<unsigned>(__cvta_generic_to_shared(&memory));
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier),
                   "r"(form == Form::kAllowed ? 128 : kThreads)
                   : "memory");
    }
    __syncthreads();
  }
  __device__ void sync(bool) const {
    unsigned long long token;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];"
                 : "=l"(token)
                 : "r"(barrier)
                 : "memory");
    spin_until([&] {
      unsigned done;
      asm volatile(
          "{\n .reg .pred p;\n"
          " mbarrier.test_wait.shared.b64 p, [%1], %2;\n"
          " selp.u32 %0, 1, 0, p;\n}"
          : "=r"(done)
          : "r"(barrier), "l"(token)
          : "memory");
      return done != 0;
    });
  }
  unsigned barrier;
#else
  using HalfOfWarps::HalfOfWarps;
  __device__ void sync(bool) const {}
#endif
};

}  // namespace

std::vector<Case> partial_block_cases() {
  return {{"part_no_sync",
           "control: half of a warp, no synchronization",
           Section::kPartialGroup,
           {Form::kExits, Form::kStays},
           1,
           &run_partial_group<NoSync>,
           1,
           true,
           Set::kStudy},
          partial_case<WarpSync>(
              "part_syncwarp",
              "half of a warp, __syncwarp() of all; allowed: of that half"),
          partial_case<TileSync>(
              "part_tile_sync",
              "half of a warp, sync() of a tile of 32; allowed: of 16"),
          partial_case<CoalescedSync>(
              "part_coales_sync",
              "half of a warp, sync() of a group that all made; allowed: that "
              "the half made"),
          in_set(Set::kEvidence,
                 partial_case<Shuffle>("part_shuffle",
                                       "half of a warp, __shfl_sync() of all; "
                                       "allowed: of that half")),
          partial_case<BlockSync>("part_blocksync",
                                  "half of the warps, __syncthreads()"),
          in_set(Set::kEvidence,
                 partial_case<BlockSyncOfLanes>(
                     "part_blocksync_lanes",
                     "half of the lanes of each warp, __syncthreads()")),
          in_set(Set::kEvidence,
                 partial_case<NamedBarrier>("part_named_barrier",
                                            "half of the warps, barrier.sync "
                                            "of all; allowed: of that half")),
          in_set(Set::kEvidence,
                 partial_case<Mbarrier>("part_mbarrier",
                                        "half of the warps, mbarrier of all; "
                                        "allowed: of that half"))};
}

}  // namespace syncbench::pitfalls
