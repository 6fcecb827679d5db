// What a barrier costs where it is needed: every thread writes to shared
// memory, meets the others and reads what its neighbour wrote, which it writes
// next. The same without the barrier is beside it: the difference is the price.
#include <cooperative_groups.h>

#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench::explicit_barrier {

namespace cg = cooperative_groups;

/// The next thread of a group of 2^n neighbours, of the last the first.
constexpr __host__ __device__ unsigned neighbour(unsigned thread,
                                                 unsigned group) {
  return thread ^ ((thread ^ (thread + 1)) & (group - 1));
}

/// Two buffers in turn: all have read one before it is written again, as they
/// met at the other's barrier since. In a loop: else the compiler would test
/// convergence once and leave NOPs.
struct InUse : Method {
  static constexpr int repeats(int) { return 16; }
  static constexpr int kMostInLine = 2;
  static constexpr __host__ __device__ bool takes_part(
      const Position& position) {
    return first_lanes(position);
  }
  struct Shared {
    unsigned values[2][1024];
  };
  static unsigned expected(const Position& position, const Values& before) {
    return before.of_thread(position,
                            neighbour(position.thread, position.group));
  }
  static constexpr const char *kWritten = R"(STS\b.*)", *kRead = R"(LDS\b.*)";
  static constexpr ExpectedCode writes_and_reads() {
    return {kRead, 1, 2, Proof::kEach, 1, {{kWritten}}};
  }
  /// With a warp's barrier between: of one or two in a row a NOP is left of it.
  /// For sm_90 older toolkits add a NOP to a barrier, but not to every one.
  static constexpr ExpectedCode writes_meets_and_reads(int architecture,
                                                       int others) {
    if (CUDART_VERSION < 13000 && architecture >= 90) {
      return {kRead, 1, 1 + others, Proof::kEach, 1, {{kWritten}}};
    }
    return {R"(WARPSYNC\b.*|NOP)", 1, 2 + others,
            Proof::kEach,          1, {{kWritten, kRead}}};
  }
  /// `meet()` is the barrier. Volatile, for without one the compiler might keep
  /// values in registers.
  template <class Meet>
  __device__ unsigned exchange(unsigned value, Here<Shared>& here,
                               unsigned group, Meet meet) {
    volatile unsigned* values = here.shared.values[turn];
    turn ^= 1;
    values[here.thread] = value;
    meet();
    return values[neighbour(here.thread, group)];
  }
  unsigned turn = 0;
};

/// The chain without a barrier, in a warp.
struct InUseNone : InUse {
  static constexpr About kAbout = {
      "in_use_none",
      "shared memory written, a neighbour's read, "
      "in a warp without a barrier",
      Scope::kWarp, Window::kOperation,
      "nothing orders what it writes and reads; the price of a barrier is "
      "in_use_syncwarp or in_use_coalesced less this row; their loops are not "
      "the same code, so a few cycles are no price"};
  static constexpr bool kChecked = false;
  static constexpr ExpectedCode expected_code(int) {
    return writes_and_reads();
  }
  static constexpr Sizes groups(int) { return {1, 32, 2}; }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    return exchange(value, here, here.group, [] {});
  }
};

template <int kLanes>
struct InUseSyncWarp : InUse {
  static constexpr About kAbout = {"in_use_syncwarp",
                                   "shared memory written, __syncwarp() of "
                                   "the first 8, 16 or 32 lanes, a "
                                   "neighbour's read",
                                   Scope::kWarp, Window::kOperation};
  static constexpr ExpectedCode expected_code(int architecture) {
    return writes_meets_and_reads(architecture, 4);
  }
  static constexpr Sizes groups(int) { return {kLanes, kLanes}; }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    return exchange(value, here, kLanes,
                    [] { __syncwarp(0xffffffffu >> (32 - kLanes)); });
  }
};

template <int kSize>
struct InUseTile : InUse {
  static constexpr About kAbout = {
      "in_use_tile",
      "shared memory written, sync() of a tile "
      "of 1 to 32 threads, a neighbour's read",
      Scope::kWarp, Window::kOperation,
      "after the first barrier the tiles continue one after the other; the "
      "warp runs the loop once for each tile, which is in the row"};
  static constexpr ExpectedCode expected_code(int architecture) {
    return writes_meets_and_reads(architecture, 4);
  }
  static constexpr Sizes groups(int) { return {kSize, kSize}; }
  static constexpr __host__ __device__ bool takes_part(const Position&) {
    return true;
  }
  cg::thread_block_tile<kSize> tile =
      cg::tiled_partition<kSize>(cg::this_thread_block());
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    return exchange(value, here, kSize, [&] { tile.sync(); });
  }
};

struct InUseCoalesced : InUse {
  static constexpr About kAbout = {"in_use_coalesced",
                                   "shared memory written, sync() of 1 to 32 "
                                   "coalesced threads, a neighbour's read",
                                   Scope::kWarp, Window::kOperation};
  static constexpr ExpectedCode expected_code(int architecture) {
    return writes_meets_and_reads(architecture, 4);
  }
  static constexpr Sizes groups(int) { return {1, 32, 2}; }
  cg::coalesced_group lanes = cg::coalesced_threads();
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    return exchange(value, here, here.group, [&] { lanes.sync(); });
  }
};

/// Odd and even lanes come from different branches. Both are so long that the
/// compiler does not make predicates of them.
struct FromBranches : InUse {
  static constexpr int kLength = 8;
  static unsigned expected(const Position& position, const Values& before) {
    unsigned value = InUse::expected(position, before);
    const bool odd = position.thread % 2 == 0;  // is its neighbour
    for (int i = 0; i < kLength; ++i) value = value * (odd ? 5 : 3) + 1;
    return value;
  }
  static __device__ unsigned branches(unsigned value, unsigned thread) {
    unsigned odd = thread % 2;
    asm volatile(""
                 : "+r"(odd));  // else compiled into a loop of trips for each
    if (odd) {
#pragma unroll
      for (int i = 0; i < kLength; ++i) {
        asm volatile("mad.lo.u32 %0, %0, 5, 1;" : "+r"(value));
      }
    } else {
#pragma unroll
      for (int i = 0; i < kLength; ++i) {
        asm volatile("mad.lo.u32 %0, %0, 3, 1;" : "+r"(value));
      }
    }
    return value;
  }
};

struct InUseBranches : FromBranches {
  static constexpr About kAbout = {"in_use_branches",
                                   "lanes come from two branches, write to "
                                   "shared memory, __syncwarp(), read",
                                   Scope::kWarp, Window::kOperation};
  static constexpr ExpectedCode expected_code(int architecture) {
    return writes_meets_and_reads(architecture, 24);
  }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    return exchange(branches(value, here.thread), here, 32,
                    [] { __syncwarp(); });
  }
};

struct InUseBranchesNone : FromBranches {
  static constexpr About kAbout = {
      "in_use_branches_none", "in_use_branches without __syncwarp()",
      Scope::kWarp, Window::kOperation,
      "the compiler lets the branches meet all the same"};
  static constexpr bool kChecked = false;
  static constexpr ExpectedCode expected_code(int) {
    return {kRead, 1, 25, Proof::kEach, 1, {{kWritten}}};
  }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    return exchange(branches(value, here.thread), here, 32, [] {});
  }
};

/// In a block; groups as named_barrier has them.
struct InUseOfBlock : InUse {
  static constexpr int kMostInLine = Method::kMostInLine;
  static constexpr Sizes groups(int n) { return {n, n}; }
  static constexpr __host__ __device__ bool takes_part(
      const Position& position) {
    return position.thread < position.group;
  }
};

struct InUseBlockNone : InUseOfBlock {
  static constexpr About kAbout = {
      "in_use_block_none",
      "shared memory written, a neighbour's read, "
      "in a block without a barrier",
      Scope::kBlock, Window::kOperation,
      "nothing orders what it writes and reads; the price of a barrier is "
      "in_use_blocksync or in_use_named_barrier less this row"};
  static constexpr bool kChecked = false;
  static constexpr ExpectedCode expected_code(int) {
    return writes_and_reads();
  }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    return exchange(value, here, here.group, [] {});
  }
};

struct InUseBlockSync : InUseOfBlock {
  static constexpr About kAbout = {"in_use_blocksync",
                                   "shared memory written, __syncthreads(), a "
                                   "neighbour's read",
                                   Scope::kBlock, Window::kOperation};
  static constexpr ExpectedCode expected_code(int) {
    return {R"(BAR\.SYNC\S* 0x0)", 1, 3, Proof::kEach, 1, {{kWritten, kRead}}};
  }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    return exchange(value, here, here.group, [] { __syncthreads(); });
  }
};

/// The same with four words a thread.
struct InUse4BlockSync : InUseOfBlock {
  static constexpr int kFirstToolkit = 12000;
  static constexpr Set kSet = Set::kEvidence;
  static constexpr About kAbout = {"in_use_4_blocksync",
                                   "four words written to shared memory, "
                                   "__syncthreads(), a neighbour's read",
                                   Scope::kBlock, Window::kOperation};
  static constexpr int kWords = 4;
  static constexpr ExpectedCode expected_code(int) {
    return {R"(BAR\.SYNC\S* 0x0)", 1, 2 * kWords + 8,
            Proof::kEach,          1, {{{kWritten, kWords}, {kRead, kWords}}}};
  }
  struct Shared {
    unsigned values[2][kWords][1024];
  };
  static unsigned expected(const Position& position, const Values& before) {
    return kWords * InUse::expected(position, before);
  }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    volatile auto& values = here.shared.values[turn];
    turn ^= 1;
    for (int i = 0; i < kWords; ++i) values[i][here.thread] = value;
    __syncthreads();
    value = 0;
    for (int i = 0; i < kWords; ++i) {
      value += values[i][neighbour(here.thread, here.group)];
    }
    return value;
  }
};

struct InUseNamedBarrier : InUseOfBlock {
  static constexpr About kAbout = {"in_use_named_barrier",
                                   "shared memory written, barrier.sync of "
                                   "half a block or all, a neighbour's read",
                                   Scope::kBlock, Window::kOperation};
  static constexpr ExpectedCode expected_code(int) {
    return {R"(BAR\.SYNC\S* 0x1, U?R\d+)",
            1,
            6,
            Proof::kEach,
            1,
            {{kWritten, kRead}}};
  }
  static constexpr bool fits(int threads) { return threads >= 64; }
  static constexpr Sizes groups(int n) { return {n / 2, n, 2}; }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    return exchange(value, here, here.group, [&] {
      asm volatile("barrier.sync 1, %0;" ::"r"(here.group) : "memory");
    });
  }
};

std::vector<MethodEntry> in_use_methods() {
  return entries<InUseNone, InUseSyncWarp<8>, InUseSyncWarp<16>,
                 InUseSyncWarp<32>, InUseTile<1>, InUseTile<2>, InUseTile<4>,
                 InUseTile<8>, InUseTile<16>, InUseTile<32>, InUseCoalesced,
                 InUseBranches, InUseBranchesNone, InUseBlockNone,
                 InUseBlockSync, InUse4BlockSync, InUseNamedBarrier>();
}

}  // namespace syncbench::explicit_barrier
