// Barriers of one thread block (study, section V-B).
#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench::explicit_barrier {

/// __syncthreads(): all threads of the block.
struct BlockSync : Method {
  static constexpr void describe(About& about) {
    about.barrier(Scope::kBlock, "blocksync", "__syncthreads() of a block");
    about.set = about.between = Set::kStudy;
    about.late = true;
    about.throughput_repeats = 8192;
    about.code = ExpectedCode(R"(BAR\.(SYNC|RED)\S* 0x0)");
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    __syncthreads();
    return value;
  }
};

/// A barrier of the first kThreads of a block, which are its half or all, as
/// most programs write it: the size is known when compiling.
template <int kThreads>
struct NamedBarrierConstant : Method {
  static constexpr void describe(About& about) {
    about.barrier(
        Scope::kBlock, "named_barrier_constant",
        "barrier.sync of half a block and of all, its size a constant");
    about.first_toolkit = 12000;
    about.set = Set::kEvidence;
    about.fits = [](int threads) {
      return threads >= 64 && (threads == kThreads || threads == 2 * kThreads);
    };
    about.groups = Sizes{kThreads, kThreads};
    about.code = ExpectedCode(R"(BAR\.SYNC\S* 0x1, 0xSIZE)");
  }
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
  static constexpr void describe(About& about) {
    about.barrier(Scope::kBlock, "named_barrier",
                  "barrier.sync of half a block and of all");
    about.caution = "its size is in a register";
    about.fits = [](int threads) { return threads >= 64; };
    about.groups = [](int n) { return Sizes{n / 2, n, 2}; };
    about.code = ExpectedCode(R"(BAR\.SYNC\S* 0x1, U?R\d+)");
  }
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
  static constexpr void describe(About& about) {
    about.barrier(Scope::kBlock, "syncthreads_count",
                  "__syncthreads_count() of a block");
    about.most_checked = 2;  // all later ones are 0
    about.code = ExpectedCode(R"(BAR\.RED\.POPC\S* 0x0.*)").others(2);
    about.expected = [](const Position& position, const Values& before) {
      unsigned odd = 0;
      for (unsigned thread = 0; thread < position.threads; ++thread) {
        odd += before.of_thread(position, thread) & 1;
      }
      return odd;
    };
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    return __syncthreads_count(value & 1);
  }
};

/// 1 if a thread of the block has a 0.
inline unsigned has_zero(const Position& position, const Values& before) {
  for (unsigned thread = 0; thread < position.threads; ++thread) {
    if (before.of_thread(position, thread) == 0) return 1;
  }
  return 0;
}

/// __syncthreads() that also tells whether all threads say so. All do, for no
/// start value is 0. What comes out goes in again as it is, a predicate.
struct SyncAnd : Method {
  static constexpr void describe(About& about) {
    about.barrier(Scope::kBlock, "syncthreads_and",
                  "__syncthreads_and() of a block");
    about.code = ExpectedCode(R"(BAR\.RED\.AND\S* 0x0.*)").others(2);
    about.expected = [](const Position& position, const Values& before) {
      return 1 - has_zero(position, before);
    };
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    return __syncthreads_and(value != 0) != 0;
  }
};

/// __syncthreads() that also tells whether any thread says so: at first none
/// does, then all and none in turn.
struct SyncOr : Method {
  static constexpr void describe(About& about) {
    about.barrier(Scope::kBlock, "syncthreads_or",
                  "__syncthreads_or() of a block");
    about.code = ExpectedCode(R"(BAR\.RED\.OR\S* 0x0.*)").others(2);
    about.expected = has_zero;
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
  static constexpr void describe(About& about) {
    about.barrier(Scope::kBlock, "split_barrier",
                  "bar.sync for one half of a block, bar.arrive for the other");
    about.caution =
        "one operation is there and back, two barriers one after the other";
    about.meets_in = 2;
    about.fits = [](int threads) { return threads == kThreads; };
    about.groups = Sizes{kThreads, kThreads};
    about.code = ExpectedCode(R"(BAR\.SYNC\S* R\d+, 0xSIZE)")
                     .others(2)
                     .also(R"(BAR\.ARV\S* R\d+, 0xSIZE)");
  }
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

std::vector<MethodEntry> list_block() {
  return entries<BlockSync, SyncCount, SyncAnd, SyncOr,
                 NamedBarrierConstant<64>, NamedBarrierConstant<128>,
                 NamedBarrierConstant<256>, NamedBarrierConstant<512>,
                 NamedBarrierConstant<1024>, NamedBarrier, SplitBarrier<64>,
                 SplitBarrier<128>, SplitBarrier<256>, SplitBarrier<512>,
                 SplitBarrier<1024>>();
}

}  // namespace syncbench::explicit_barrier
