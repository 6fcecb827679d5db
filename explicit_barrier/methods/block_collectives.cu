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
  static constexpr int kMostInLine = 4;
  static constexpr int repeats(int) { return 8; }
  static constexpr int kTrips = 8;
  static constexpr bool fits(int threads) { return threads == kThreads; }
  static constexpr Sizes groups(int) { return {kThreads, kThreads}; }
};

constexpr const char* kOfThread0 =
    "thread 0 alone gets the result; one more barrier each, so that the memory "
    "can be used again";

/// A reduction; the result goes to thread 0, the others keep their value.
template <int kThreads>
struct BlockReduction : BlockCollective<kThreads> {
  using Reduce = cub::BlockReduce<unsigned, kThreads>;
  static constexpr ExpectedCode expected_code(int) {
    const int others = CUDART_VERSION < 13000 ? 150 : kThreads > 128 ? 66 : 35;
    return {R"(BAR\.SYNC\S* 0x0)", 2, others};
  }
  using Shared = typename Reduce::TempStorage;
};

template <int kThreads>
struct BlockSum : BlockReduction<kThreads> {
  using typename BlockReduction<kThreads>::Reduce;
  using typename BlockReduction<kThreads>::Shared;
  static constexpr About kAbout = {"block_sum", "cub::BlockReduce, sum",
                                   Scope::kBlock, Window::kBarrier, kOfThread0};
  static unsigned expected(const Position& position, const Values& before) {
    if (position.thread > 0) return before(position);
    return before.sum(position, 0, kThreads);
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
  static constexpr About kAbout = {"block_max", "cub::BlockReduce, greatest",
                                   Scope::kBlock, Window::kBarrier, kOfThread0};
  static unsigned expected(const Position& position, const Values& before) {
    unsigned greatest = before(position);
    if (position.thread > 0) return greatest;
    for (unsigned thread = 1; thread < kThreads; ++thread) {
      greatest = std::max(greatest, before.of_thread(position, thread));
    }
    return greatest;
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
  static constexpr About kAbout = {"block_min", "cub::BlockReduce, least",
                                   Scope::kBlock, Window::kBarrier, kOfThread0};
  // Of values that fall from thread to thread.
  static unsigned expected(const Position& position, const Values& before) {
    unsigned least = ~before(position);
    if (position.thread > 0) return least;
    for (unsigned thread = 1; thread < kThreads; ++thread) {
      least = std::min(least, ~before.of_thread(position, thread));
    }
    return least;
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
  static constexpr About kAbout = {"block_prefix_sum",
                                   "cub::BlockScan, inclusive sum",
                                   Scope::kBlock, Window::kBarrier,
                                   "one more barrier each, so that the memory "
                                   "can be used again"};
  static constexpr ExpectedCode expected_code(int) {
    const int others = CUDART_VERSION < 13000 ? 300 : kThreads > 128 ? 168 : 40;
    return {R"(BAR\.SYNC\S* 0x0)", 3, others};
  }
  using Shared = typename Scan::TempStorage;
  static unsigned expected(const Position& position, const Values& before) {
    return before.sum(position, 0, position.thread + 1);
  }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) const {
    Scan(here.shared).InclusiveSum(value, value);
    __syncthreads();
    return value;
  }
};

/// Thread 0's value for all, through shared memory; CUB has none.
struct BlockBroadcast : Method {
  static constexpr About kAbout = {"block_broadcast",
                                   "thread 0's value to all through shared "
                                   "memory",
                                   Scope::kBlock, Window::kBarrier,
                                   "two barriers each, the second so that the "
                                   "memory can be used again"};
  static constexpr ExpectedCode expected_code(int) {
    return {R"(BAR\.SYNC\S* 0x0)", 2, 3};
  }
  struct Shared {
    unsigned value;
  };
  static unsigned expected(const Position& position, const Values& before) {
    return before.of_thread(position, 0);
  }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) const {
    if (here.thread == 0) here.shared.value = value;
    __syncthreads();
    value = here.shared.value;
    __syncthreads();
    return value;
  }
};

std::vector<MethodEntry> block_collective_methods() {
  return entries<BlockBroadcast, BlockSum<128>, BlockSum<1024>, BlockMax<128>,
                 BlockMax<1024>, BlockMin<128>, BlockMin<1024>,
                 BlockPrefixSum<128>, BlockPrefixSum<1024>>();
}

}  // namespace syncbench::explicit_barrier
