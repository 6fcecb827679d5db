// What a warp computes together, by cooperative groups: one instruction from
// sm_80 on for some, five rounds of shuffles for the others.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <algorithm>

#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench::explicit_barrier {

namespace cg = cooperative_groups;

struct WholeWarp : Method {
  cg::thread_block_tile<32> tile =
      cg::tiled_partition<32>(cg::this_thread_block());
};

/// What one of the reductions is compiled to: `name` from sm_80 on, shuffles
/// and as many operations before.
constexpr ExpectedCode reduction(const char* name, int architecture) {
  if (architecture >= 80) return ExpectedCode(name).others(2);
  return ExpectedCode(R"(SHFL\.\w+ .*)", 5).others(10).proof(Proof::kChain);
}

struct WarpSum : WholeWarp {
  static constexpr void describe(About& about) {
    about.operation(Scope::kWarp, "warp_sum", "reduce() of a warp, plus");
    about.throughput_limit = 0.5;  // 16 lanes
    about.throughput_repeats = 2048;
    about.most_checked = 4;  // values are 0 after 8
    about.code = reduction(R"(REDUX\.SUM .*)", about.architecture);
    about.expected = [](const Position& position, const Values& before) {
      return before.sum(position, position.thread / 32 * 32, 32);
    };
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    return cg::reduce(tile, value, cg::plus<unsigned>());
  }
};

struct WarpMax : WholeWarp {
  static constexpr void describe(About& about) {
    about.operation(Scope::kWarp, "warp_max", "reduce() of a warp, greater");
    about.repeats = 32;
    about.code = reduction(R"(C?REDUX\.MAX.*)", about.architecture);
    about.expected = [](const Position& position, const Values& before) {
      unsigned greatest = 0;
      for (unsigned lane = 0; lane < 32; ++lane) {
        greatest = std::max(greatest, before.of_lane(position, lane));
      }
      return greatest;
    };
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    return cg::reduce(tile, value, cg::greater<unsigned>());
  }
};

struct WarpMin : WholeWarp {
  static constexpr void describe(About& about) {
    about.operation(Scope::kWarp, "warp_min", "reduce() of a warp, less");
    about.repeats = 32;
    about.code = reduction(R"(C?REDUX\.MIN.*)", about.architecture);
    about.expected = [](const Position& position, const Values& before) {
      unsigned least = before(position);
      for (unsigned lane = 0; lane < 32; ++lane) {
        least = std::min(least, before.of_lane(position, lane));
      }
      return least;
    };
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    return cg::reduce(tile, value, cg::less<unsigned>());
  }
};

/// The lane with the greatest value, the last of several: value and lane are
/// the halves of one number. Were the lane's half always the same, the compiler
/// would shuffle it once.
struct WarpArgmax : WholeWarp {
  static constexpr void describe(About& about) {
    about.operation(Scope::kWarp, "warp_argmax",
                    "reduce() of a warp, value and lane");
    about.repeats = 8;
    about.code = ExpectedCode(R"(SHFL\.\w+ .*)", 10).others(40);
    about.expected = [](const Position& position, const Values& before) {
      unsigned last = 0;
      for (unsigned lane = 0; lane < 32; ++lane) {
        if (before.of_lane(position, lane) >= before.of_lane(position, last)) {
          last = lane;
        }
      }
      return last;
    };
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    using Pair = unsigned long long;
    const unsigned zero = value >> 31;
    const Pair pair = Pair{value} << 32 | (tile.thread_rank() + zero);
    return cg::reduce(tile, pair, cg::greater<Pair>());
  }
};

/// Sum up to a lane, its own value included.
struct WarpInclusiveSum : WholeWarp {
  static constexpr void describe(About& about) {
    about.operation(Scope::kWarp, "warp_inclusive_sum",
                    "inclusive_scan() of a warp, plus");
    about.repeats = 8;
    about.code =
        ExpectedCode(R"(SHFL\.UP .*)", 5).others(15).proof(Proof::kChain);
    about.expected = [](const Position& position, const Values& before) {
      return before.sum(position, position.thread / 32 * 32,
                        position.thread % 32 + 1);
    };
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    return cg::inclusive_scan(tile, value, cg::plus<unsigned>());
  }
};

/// Sum of the lanes before.
struct WarpExclusiveSum : WholeWarp {
  static constexpr void describe(About& about) {
    about.operation(Scope::kWarp, "warp_exclusive_sum",
                    "exclusive_scan() of a warp, plus");
    about.repeats = 8;
    about.code =
        ExpectedCode(R"(SHFL\.UP .*)", 5).others(20).proof(Proof::kChain);
    about.expected = [](const Position& position, const Values& before) {
      return before.sum(position, position.thread / 32 * 32,
                        position.thread % 32);
    };
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    return cg::exclusive_scan(tile, value, cg::plus<unsigned>());
  }
};

std::vector<MethodEntry> list_warp_collectives() {
  return entries<WarpSum, WarpMax, WarpMin, WarpArgmax, WarpInclusiveSum,
                 WarpExclusiveSum>();
}

}  // namespace syncbench::explicit_barrier
