// What a block computes together, by CUB: results go through shared memory,
// and a barrier ends each operation so that the memory can be used again.
#include <algorithm>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench::explicit_barrier {

/// The block size is known when compiling, as CUB wants it.
template <int kThreads>
struct BlockCollective : Method {
  static constexpr void describe(About& about) {
    about.most_in_line = 4;
    about.trips = 8;
    about.repeats = 8;
    about.fits = [](int threads) { return threads == kThreads; };
    about.groups = Sizes{kThreads, kThreads};
  }
};

constexpr const char* kOfThread0 =
    "thread 0 alone gets the result; one more barrier each, so that the memory "
    "can be used again";

/// A reduction; the result goes to thread 0, the others keep their value.
template <int kThreads>
struct BlockReduction : BlockCollective<kThreads> {
  using Reduce = cub::BlockReduce<unsigned, kThreads>;
  static constexpr void describe(About& about) {
    BlockCollective<kThreads>::describe(about);
    const int others = CUDART_VERSION < 13000 ? 150 : kThreads > 128 ? 66 : 35;
    about.code = ExpectedCode(R"(BAR\.SYNC\S* 0x0)", 2).others(others);
  }
  using Shared = typename Reduce::TempStorage;
};

template <int kThreads>
struct BlockSum : BlockReduction<kThreads> {
  using typename BlockReduction<kThreads>::Reduce;
  using typename BlockReduction<kThreads>::Shared;
  static constexpr void describe(About& about) {
    BlockReduction<kThreads>::describe(about);
    about.barrier(Scope::kBlock, "block_sum", "cub::BlockReduce, sum");
    about.caution = kOfThread0;
    about.expected = [](const Position& position, const Values& before) {
      if (position.thread > 0) return before(position);
      return before.sum(position, 0, kThreads);
    };
  }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) const {
    const unsigned sum = Reduce(here.shared).Sum(value);
    __syncthreads();
    return here.thread == 0 ? sum : value;
  }
};

/// What cub::BlockReduce keeps of two, for BlockMax and BlockMin.
struct Greater {
  __device__ unsigned operator()(unsigned a, unsigned b) const {
    return a > b ? a : b;
  }
};
struct Less {
  __device__ unsigned operator()(unsigned a, unsigned b) const {
    return a < b ? a : b;
  }
};

template <int kThreads>
struct BlockMax : BlockReduction<kThreads> {
  using typename BlockReduction<kThreads>::Reduce;
  using typename BlockReduction<kThreads>::Shared;
  static constexpr void describe(About& about) {
    BlockReduction<kThreads>::describe(about);
    about.barrier(Scope::kBlock, "block_max", "cub::BlockReduce, greatest");
    about.caution = kOfThread0;
    about.expected = [](const Position& position, const Values& before) {
      unsigned greatest = before(position);
      if (position.thread > 0) return greatest;
      for (unsigned thread = 1; thread < kThreads; ++thread) {
        greatest = std::max(greatest, before.of_thread(position, thread));
      }
      return greatest;
    };
  }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) const {
    const unsigned greatest = Reduce(here.shared).Reduce(value, Greater());
    __syncthreads();
    return here.thread == 0 ? greatest : value;
  }
};

template <int kThreads>
struct BlockMin : BlockReduction<kThreads> {
  using typename BlockReduction<kThreads>::Reduce;
  using typename BlockReduction<kThreads>::Shared;
  static constexpr void describe(About& about) {
    BlockReduction<kThreads>::describe(about);
    about.barrier(Scope::kBlock, "block_min", "cub::BlockReduce, least");
    about.caution = kOfThread0;
    // Of values that fall from thread to thread.
    about.expected = [](const Position& position, const Values& before) {
      unsigned least = ~before(position);
      if (position.thread > 0) return least;
      for (unsigned thread = 1; thread < kThreads; ++thread) {
        least = std::min(least, ~before.of_thread(position, thread));
      }
      return least;
    };
  }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) const {
    const unsigned least = Reduce(here.shared).Reduce(~value, Less());
    __syncthreads();
    return here.thread == 0 ? least : ~value;
  }
};

/// Sum up to a thread, its own value included.
template <int kThreads>
struct BlockPrefixSum : BlockCollective<kThreads> {
  using Scan = cub::BlockScan<unsigned, kThreads>;
  static constexpr void describe(About& about) {
    BlockCollective<kThreads>::describe(about);
    about.barrier(Scope::kBlock, "block_prefix_sum",
                  "cub::BlockScan, inclusive sum");
    about.caution =
        "one more barrier each, so that the memory can be used again";
    const int others = CUDART_VERSION < 13000 ? 300 : kThreads > 128 ? 168 : 40;
    about.code = ExpectedCode(R"(BAR\.SYNC\S* 0x0)", 3).others(others);
    about.expected = [](const Position& position, const Values& before) {
      return before.sum(position, 0, position.thread + 1);
    };
  }
  using Shared = typename Scan::TempStorage;
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) const {
    Scan(here.shared).InclusiveSum(value, value);
    __syncthreads();
    return value;
  }
};

/// Thread 0's value for all, through shared memory; CUB has none.
struct BlockBroadcast : Method {
  static constexpr void describe(About& about) {
    about.barrier(Scope::kBlock, "block_broadcast",
                  "thread 0's value to all through shared memory");
    about.caution =
        "two barriers each, the second so that the memory can be used again";
    about.code = ExpectedCode(R"(BAR\.SYNC\S* 0x0)", 2).others(3);
    about.expected = [](const Position& position, const Values& before) {
      return before.of_thread(position, 0);
    };
  }
  struct Shared {
    unsigned value;
  };
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) const {
    if (here.thread == 0) here.shared.value = value;
    __syncthreads();
    value = here.shared.value;
    __syncthreads();
    return value;
  }
};

std::vector<MethodEntry> list_block_collectives() {
  return entries<BlockBroadcast, BlockSum<128>, BlockSum<1024>, BlockMax<128>,
                 BlockMax<1024>, BlockMin<128>, BlockMin<1024>,
                 BlockPrefixSum<128>, BlockPrefixSum<1024>>();
}

}  // namespace syncbench::explicit_barrier
