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
  if (architecture >= 80) return {name, 1, 2};
  return {R"(SHFL\.\w+ .*)", 5, 10, Proof::kChain};
}

struct WarpSum : WholeWarp {
  static constexpr About kAbout = {"warp_sum", "reduce() of a warp, plus",
                                   Scope::kWarp, Window::kOperation};
  static constexpr ExpectedCode expected_code(int architecture) {
    return reduction(R"(REDUX\.SUM .*)", architecture);
  }
  static constexpr int throughput_repeats(int) { return 2048; }
  static constexpr double kThroughputLimit = 0.5;  // 16 lanes
  static unsigned expected(const Position& position, const Values& before) {
    return before.sum(position, position.thread / 32 * 32, 32);
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    return cg::reduce(tile, value, cg::plus<unsigned>());
  }
};

struct WarpMax : WholeWarp {
  static constexpr About kAbout = {"warp_max", "reduce() of a warp, greater",
                                   Scope::kWarp, Window::kOperation};
  static constexpr ExpectedCode expected_code(int architecture) {
    return reduction(R"(C?REDUX\.MAX.*)", architecture);
  }
  static constexpr int repeats(int) { return 32; }
  static unsigned expected(const Position& position, const Values& before) {
    unsigned greatest = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
      greatest = std::max(greatest, before.of_lane(position, lane));
    }
    return greatest;
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    return cg::reduce(tile, value, cg::greater<unsigned>());
  }
};

struct WarpMin : WholeWarp {
  static constexpr About kAbout = {"warp_min", "reduce() of a warp, less",
                                   Scope::kWarp, Window::kOperation};
  static constexpr ExpectedCode expected_code(int architecture) {
    return reduction(R"(C?REDUX\.MIN.*)", architecture);
  }
  static constexpr int repeats(int) { return 32; }
  static unsigned expected(const Position& position, const Values& before) {
    unsigned least = before(position);
    for (unsigned lane = 0; lane < 32; ++lane) {
      least = std::min(least, before.of_lane(position, lane));
    }
    return least;
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    return cg::reduce(tile, value, cg::less<unsigned>());
  }
};

/// The lane with the greatest value, the last of several: value and lane are
/// the halves of one number. Were the lane's half always the same, the compiler
/// would shuffle it once.
struct WarpArgmax : WholeWarp {
  static constexpr About kAbout = {"warp_argmax",
                                   "reduce() of a warp, value and lane",
                                   Scope::kWarp, Window::kOperation};
  static constexpr ExpectedCode expected_code(int) {
    return {R"(SHFL\.\w+ .*)", 10, 40, Proof::kEach};
  }
  static constexpr int repeats(int) { return 8; }
  static constexpr int kMostInLine = 32;
  static unsigned expected(const Position& position, const Values& before) {
    unsigned last = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (before.of_lane(position, lane) >= before.of_lane(position, last)) {
        last = lane;
      }
    }
    return last;
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
  static constexpr About kAbout = {"warp_inclusive_sum",
                                   "inclusive_scan() of a warp, plus",
                                   Scope::kWarp, Window::kOperation};
  static constexpr ExpectedCode expected_code(int) {
    return {R"(SHFL\.UP .*)", 5, 15, Proof::kChain};
  }
  static constexpr int repeats(int) { return 8; }
  static constexpr int kMostInLine = 32;
  static unsigned expected(const Position& position, const Values& before) {
    return before.sum(position, position.thread / 32 * 32,
                      position.thread % 32 + 1);
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    return cg::inclusive_scan(tile, value, cg::plus<unsigned>());
  }
};

/// Sum of the lanes before.
struct WarpExclusiveSum : WholeWarp {
  static constexpr About kAbout = {"warp_exclusive_sum",
                                   "exclusive_scan() of a warp, plus",
                                   Scope::kWarp, Window::kOperation};
  static constexpr ExpectedCode expected_code(int) {
    return {R"(SHFL\.UP .*)", 5, 20, Proof::kChain};
  }
  static constexpr int repeats(int) { return 8; }
  static constexpr int kMostInLine = 32;
  static unsigned expected(const Position& position, const Values& before) {
    return before.sum(position, position.thread / 32 * 32,
                      position.thread % 32);
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    return cg::exclusive_scan(tile, value, cg::plus<unsigned>());
  }
};

std::vector<MethodEntry> warp_collective_methods() {
  return entries<WarpSum, WarpMax, WarpMin, WarpArgmax, WarpInclusiveSum,
                 WarpExclusiveSum>();
}

}  // namespace syncbench::explicit_barrier
