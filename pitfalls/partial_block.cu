// Half of the warps of a block, or half of the lanes of each, synchronize.
#include "pitfalls/partial_group.cuh"

namespace syncbench {
namespace {

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
  return {partial_case<BlockSync>("part_blocksync",
                                  "half of the warps, __syncthreads()"),
          partial_case<BlockSyncOfLanes>(
              "part_blocksync_lanes",
              "half of the lanes of each warp, __syncthreads()"),
          partial_case<NamedBarrier>(
              "part_named_barrier",
              "half of the warps, barrier.sync of all; allowed: of that half"),
          partial_case<Mbarrier>("part_mbarrier",
                                 "half of the warps, mbarrier of all; allowed: "
                                 "of that half")};
}

}  // namespace syncbench
