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
  static constexpr void describe(About& about) {
    about.most_in_line = 2;
    about.repeats = 16;
    about.expected = of_neighbour;
  }
  static constexpr __host__ __device__ bool takes_part(
      const Position& position) {
    return first_lanes(position);
  }
  struct Shared {
    unsigned values[2][1024];
  };
  static unsigned of_neighbour(const Position& position, const Values& before) {
    return before.of_thread(position,
                            neighbour(position.thread, position.group));
  }
  static constexpr const char *kWritten = R"(STS\b.*)", *kRead = R"(LDS\b.*)";
  static constexpr ExpectedCode writes_and_reads() {
    return ExpectedCode(kRead).others(2).also(kWritten);
  }
  /// With a warp's barrier between: of one or two in a row a NOP is left of it.
  /// For sm_90 older toolkits add a NOP to a barrier, but not to every one.
  static constexpr ExpectedCode writes_meets_and_reads(int architecture,
                                                       int others) {
    if (CUDART_VERSION < 13000 && architecture >= 90) {
      return ExpectedCode(kRead).others(1 + others).also(kWritten);
    }
    return ExpectedCode(R"(WARPSYNC\b.*|NOP)")
        .others(2 + others)
        .also(kWritten)
        .also(kRead);
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
  static constexpr void describe(About& about) {
    InUse::describe(about);
    about.operation(Scope::kWarp, "in_use_none",
                    "shared memory written, a neighbour's read, in a warp "
                    "without a barrier");
    about.caution =
        "nothing orders what it writes and reads; the price of a barrier is "
        "in_use_syncwarp or in_use_coalesced less this row; their loops are "
        "not the same code, so a few cycles are no price";
    about.checked = false;
    about.groups = Sizes{1, 32, 2};
    about.code = writes_and_reads();
  }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    return exchange(value, here, here.group, [] {});
  }
};

template <int kLanes>
struct InUseSyncWarp : InUse {
  static constexpr void describe(About& about) {
    InUse::describe(about);
    about.operation(Scope::kWarp, "in_use_syncwarp",
                    "shared memory written, __syncwarp() of the first 8, 16 or "
                    "32 lanes, a neighbour's read");
    about.groups = Sizes{kLanes, kLanes};
    about.code = writes_meets_and_reads(about.architecture, 4);
  }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    return exchange(value, here, kLanes,
                    [] { __syncwarp(0xffffffffu >> (32 - kLanes)); });
  }
};

template <int kSize>
struct InUseTile : InUse {
  static constexpr void describe(About& about) {
    InUse::describe(about);
    about.operation(Scope::kWarp, "in_use_tile",
                    "shared memory written, sync() of a tile of 1 to 32 "
                    "threads, a neighbour's read");
    about.caution =
        "after the first barrier the tiles continue one after the other; the "
        "warp runs the loop once for each tile, which is in the row";
    about.groups = Sizes{kSize, kSize};
    about.code = writes_meets_and_reads(about.architecture, 4);
  }
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
  static constexpr void describe(About& about) {
    InUse::describe(about);
    about.operation(Scope::kWarp, "in_use_coalesced",
                    "shared memory written, sync() of 1 to 32 coalesced "
                    "threads, a neighbour's read");
    about.groups = Sizes{1, 32, 2};
    about.code = writes_meets_and_reads(about.architecture, 4);
  }
  cg::coalesced_group lanes = cg::coalesced_threads();
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    return exchange(value, here, here.group, [&] { lanes.sync(); });
  }
};

/// Odd and even lanes come from different branches. Both are so long that the
/// compiler does not make predicates of them.
struct FromBranches : InUse {
  static constexpr int kLength = 8;
  static constexpr void describe(About& about) {
    InUse::describe(about);
    about.expected = [](const Position& position, const Values& before) {
      unsigned value = of_neighbour(position, before);
      const bool odd = position.thread % 2 == 0;  // is its neighbour
      for (int i = 0; i < kLength; ++i) value = value * (odd ? 5 : 3) + 1;
      return value;
    };
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
  static constexpr void describe(About& about) {
    FromBranches::describe(about);
    about.operation(Scope::kWarp, "in_use_branches",
                    "lanes come from two branches, write to shared memory, "
                    "__syncwarp(), read");
    about.code = writes_meets_and_reads(about.architecture, 24);
  }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    return exchange(branches(value, here.thread), here, 32,
                    [] { __syncwarp(); });
  }
};

struct InUseBranchesNone : FromBranches {
  static constexpr void describe(About& about) {
    FromBranches::describe(about);
    about.operation(Scope::kWarp, "in_use_branches_none",
                    "in_use_branches without __syncwarp()");
    about.caution = "the compiler lets the branches meet all the same";
    about.checked = false;
    about.code = ExpectedCode(kRead).others(25).also(kWritten);
  }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    return exchange(branches(value, here.thread), here, 32, [] {});
  }
};

/// In a block; groups as named_barrier has them.
struct InUseOfBlock : InUse {
  static constexpr void describe(About& about) {
    InUse::describe(about);
    about.most_in_line = About().most_in_line;
    about.groups = [](int n) { return Sizes{n, n}; };
  }
  static constexpr __host__ __device__ bool takes_part(
      const Position& position) {
    return position.thread < position.group;
  }
};

struct InUseBlockNone : InUseOfBlock {
  static constexpr void describe(About& about) {
    InUseOfBlock::describe(about);
    about.operation(Scope::kBlock, "in_use_block_none",
                    "shared memory written, a neighbour's read, in a block "
                    "without a barrier");
    about.caution =
        "nothing orders what it writes and reads; the price of a barrier is "
        "in_use_blocksync or in_use_named_barrier less this row";
    about.checked = false;
    about.code = writes_and_reads();
  }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    return exchange(value, here, here.group, [] {});
  }
};

struct InUseBlockSync : InUseOfBlock {
  static constexpr void describe(About& about) {
    InUseOfBlock::describe(about);
    about.operation(
        Scope::kBlock, "in_use_blocksync",
        "shared memory written, __syncthreads(), a neighbour's read");
    about.code = ExpectedCode(R"(BAR\.SYNC\S* 0x0)")
                     .others(3)
                     .also(kWritten)
                     .also(kRead);
  }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    return exchange(value, here, here.group, [] { __syncthreads(); });
  }
};

/// The same with four words a thread.
struct InUse4BlockSync : InUseOfBlock {
  static constexpr void describe(About& about) {
    InUseOfBlock::describe(about);
    about.operation(Scope::kBlock, "in_use_4_blocksync",
                    "four words written to shared memory, __syncthreads(), a "
                    "neighbour's read");
    about.first_toolkit = 12000;
    about.set = Set::kEvidence;
    about.most_checked = 8;  // values are 0 after 16
    about.code = ExpectedCode(R"(BAR\.SYNC\S* 0x0)")
                     .others(2 * kWords + 8)
                     .also(kWritten, kWords)
                     .also(kRead, kWords);
    about.expected = [](const Position& position, const Values& before) {
      return kWords * of_neighbour(position, before);
    };
  }
  static constexpr int kWords = 4;
  struct Shared {
    unsigned values[2][kWords][1024];
  };
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
  static constexpr void describe(About& about) {
    InUseOfBlock::describe(about);
    about.operation(Scope::kBlock, "in_use_named_barrier",
                    "shared memory written, barrier.sync of half a block or "
                    "all, a neighbour's read");
    about.fits = [](int threads) { return threads >= 64; };
    about.groups = [](int n) { return Sizes{n / 2, n, 2}; };
    about.code = ExpectedCode(R"(BAR\.SYNC\S* 0x1, U?R\d+)")
                     .others(6)
                     .also(kWritten)
                     .also(kRead);
  }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    return exchange(value, here, here.group, [&] {
      asm volatile("barrier.sync 1, %0;" ::"r"(here.group) : "memory");
    });
  }
};

std::vector<MethodEntry> list_in_use() {
  return entries<InUseNone, InUseSyncWarp<8>, InUseSyncWarp<16>,
                 InUseSyncWarp<32>, InUseTile<1>, InUseTile<2>, InUseTile<4>,
                 InUseTile<8>, InUseTile<16>, InUseTile<32>, InUseCoalesced,
                 InUseBranches, InUseBranchesNone, InUseBlockNone,
                 InUseBlockSync, InUse4BlockSync, InUseNamedBarrier>();
}

}  // namespace syncbench::explicit_barrier
