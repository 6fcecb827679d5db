// Barriers of one thread block (study, section V-B).
#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench::explicit_barrier {

/// __syncthreads(): all threads of the block.
struct BlockSync : Method {
  using Late = BlockSync;
  static constexpr Set kSet = Set::kStudy;
  static constexpr Set kBetween = Set::kStudy;
  static constexpr About kAbout = {"blocksync", "__syncthreads() of a block",
                                   Scope::kBlock, Window::kBarrier};
  static constexpr ExpectedCode expected_code(int) {
    return {R"(BAR\.(SYNC|RED)\S* 0x0)"};
  }
  static constexpr int throughput_repeats(int) { return 8192; }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    __syncthreads();
    return value;
  }
};

/// A barrier of the first kThreads of a block, which are its half or all, as
/// most programs write it: the size is known when compiling.
template <int kThreads>
struct NamedBarrierConstant : Method {
  static constexpr int kFirstToolkit = 12000;
  static constexpr Set kSet = Set::kEvidence;
  static constexpr About kAbout = {"named_barrier_constant",
                                   "barrier.sync of half a block and of all, "
                                   "its size a constant",
                                   Scope::kBlock, Window::kBarrier};
  static constexpr ExpectedCode expected_code(int) {
    return {R"(BAR\.SYNC\S* 0x1, 0xSIZE)"};
  }
  static constexpr bool kInTestRepeat = false;
  static constexpr bool fits(int threads) {
    return threads >= 64 && (threads == kThreads || threads == 2 * kThreads);
  }
  static constexpr Sizes groups(int) { return {kThreads, kThreads}; }
  static constexpr __host__ __device__ bool takes_part(
      const Position& position) {
    return position.thread < kThreads;
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    asm volatile("barrier.sync 1, %0;" ::"n"(kThreads) : "memory");
    return value;
  }
};

/// The same with the size in a register.
struct NamedBarrier : Method {
  static constexpr About kAbout = {
      "named_barrier", "barrier.sync of half a block and of all", Scope::kBlock,
      Window::kBarrier, "its size is in a register"};
  static constexpr ExpectedCode expected_code(int) {
    return {R"(BAR\.SYNC\S* 0x1, U?R\d+)"};
  }
  static constexpr bool fits(int threads) { return threads >= 64; }
  static constexpr Sizes groups(int n) { return {n / 2, n, 2}; }
  static constexpr __host__ __device__ bool takes_part(
      const Position& position) {
    return position.thread < position.group;
  }
  __device__ unsigned operator()(unsigned value, Here<>& here) const {
    asm volatile("barrier.sync 1, %0;" ::"r"(here.group) : "memory");
    return value;
  }
};

/// __syncthreads() that also counts the threads that say so: the odd values.
struct SyncCount : Method {
  static constexpr About kAbout = {"syncthreads_count",
                                   "__syncthreads_count() of a block",
                                   Scope::kBlock, Window::kBarrier};
  static constexpr ExpectedCode expected_code(int) {
    return {R"(BAR\.RED\.POPC\S* 0x0.*)", 1, 2};
  }
  static unsigned expected(const Position& position, const Values& before) {
    unsigned odd = 0;
    for (unsigned thread = 0; thread < position.threads; ++thread) {
      odd += before.of_thread(position, thread) & 1;
    }
    return odd;
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    return __syncthreads_count(value & 1);
  }
};

/// Whether a thread of the block has a 0.
inline bool has_zero(const Position& position, const Values& before) {
  for (unsigned thread = 0; thread < position.threads; ++thread) {
    if (before.of_thread(position, thread) == 0) return true;
  }
  return false;
}

/// __syncthreads() that also tells whether all threads say so. All do, for no
/// start value is 0. What comes out goes in again as it is, a predicate.
struct SyncAnd : Method {
  static constexpr About kAbout = {"syncthreads_and",
                                   "__syncthreads_and() of a block",
                                   Scope::kBlock, Window::kBarrier};
  static constexpr ExpectedCode expected_code(int) {
    return {R"(BAR\.RED\.AND\S* 0x0.*)", 1, 2};
  }
  static unsigned expected(const Position& position, const Values& before) {
    return !has_zero(position, before);
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    return __syncthreads_and(value != 0) != 0;
  }
};

/// __syncthreads() that also tells whether any thread says so: at first none
/// does, then all and none in turn.
struct SyncOr : Method {
  static constexpr About kAbout = {"syncthreads_or",
                                   "__syncthreads_or() of a block",
                                   Scope::kBlock, Window::kBarrier};
  static constexpr ExpectedCode expected_code(int) {
    return {R"(BAR\.RED\.OR\S* 0x0.*)", 1, 2};
  }
  static unsigned expected(const Position& position, const Values& before) {
    return has_zero(position, before);
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    return __syncthreads_or(value == 0) != 0;
  }
};

/// Two halves of a block hand over to each other and back, as a producer and a
/// consumer of a buffer do: each waits for the other's arrival, then arrives
/// for the other. Before the first operation the second half has arrived. The
/// size is known when compiling, else each would be computed into an operand.
template <int kThreads>
struct SplitBarrier : Method {
  static constexpr About kAbout = {"split_barrier",
                                   "bar.sync for one half of a block, "
                                   "bar.arrive for the other",
                                   Scope::kBlock, Window::kBarrier,
                                   "one operation is there and back, two "
                                   "barriers one after the other"};
  static constexpr ExpectedCode expected_code(int) {
    return {R"(BAR\.SYNC\S* R\d+, 0xSIZE)",   1, 2, Proof::kEach, 1,
            {{R"(BAR\.ARV\S* R\d+, 0xSIZE)"}}};
  }
  static constexpr int kMeetsIn = 2;
  static constexpr bool fits(int threads) { return threads == kThreads; }
  static constexpr Sizes groups(int) { return {kThreads, kThreads}; }
  __device__ SplitBarrier() {
    if (own == 2) arrive(1);
  }
  __device__ ~SplitBarrier() {  // of the last operation
    if (own == 1) wait(1);
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    wait(own);
    arrive(3 - own);
    return value;
  }
  static __device__ void wait(int barrier) {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(kThreads) : "memory");
  }
  static __device__ void arrive(int barrier) {
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "n"(kThreads) : "memory");
  }
  int own = threadIdx.x < kThreads / 2 ? 1 : 2;
};

std::vector<MethodEntry> block_methods() {
  return entries<BlockSync, SyncCount, SyncAnd, SyncOr,
                 NamedBarrierConstant<64>, NamedBarrierConstant<128>,
                 NamedBarrierConstant<256>, NamedBarrierConstant<512>,
                 NamedBarrierConstant<1024>, NamedBarrier, SplitBarrier<64>,
                 SplitBarrier<128>, SplitBarrier<256>, SplitBarrier<512>,
                 SplitBarrier<1024>>();
}

}  // namespace syncbench::explicit_barrier
