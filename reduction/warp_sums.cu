// Sums of 32 values in shared memory by one warp, by every way in which its
// lanes can wait for each other (study, Figure 11 and Table V).
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <type_traits>

#include "explicit_barrier/timed_kernel.cuh"
#include "reduction/warp_sums.hpp"

namespace syncbench::reduction {

using namespace explicit_barrier;  // words of the contract, method.cuh

namespace cg = cooperative_groups;

/// What a method that adds values of Type has in common with the others. An
/// operation reads the 32 values and leaves their sum in lane 0. The tree
/// leaves its partial sums in place of the values, so that the next operation
/// has others to add; that takes as long.
template <class Type>
struct SumOf32 : Method {
  static constexpr void describe(About& about, const char* name,
                                 const char* text) {
    about.operation(Scope::kWarp, name, text);
    about.set = Set::kStudy;
    about.most_checked = 1;  // most sums overwrite values
    about.repeats = 4;
    about.has_result = [](const Position& position) {
      return position.thread == 0;
    };
    about.expected = [](const Position&, const Values&) {
      return 528u;  // 1 + 2 + ... + 32
    };
  }
  using Value = Type;
  struct Shared {
    Type values[32];
  };
  static __device__ void start(Shared& shared, const Position& position) {
    shared.values[position.thread] = static_cast<Type>(position.thread + 1);
  }
};

__device__ inline unsigned low_bits(double value) {
  return __double2loint(value);
}
__device__ inline unsigned low_bits(float value) {
  return __float_as_uint(value);
}
__device__ inline unsigned low_bits(int value) { return value; }

/// The values, where the compiler has to think that the sum before decides
/// where they are: so many bytes on in another block, of which there is none.
template <class Type, class Here>
__device__ __forceinline__ Type* values_behind(Type sum, Here& here) {
  char* values = reinterpret_cast<char*>(here.shared.values);
  return reinterpret_cast<Type*>(values + low_bits(sum) * here.block);
}

/// One lane adds all.
template <class Type>
struct SerialSum : SumOf32<Type> {
  static constexpr void describe(About& about) {
    SumOf32<Type>::describe(about, "serial", "sum of 32 values by one lane");
    // Of integers the compiler adds two at a time, in an order of its own.
    about.code =
        std::is_integral_v<Type>
            ? ExpectedCode(R"(LDS\S* .*)", 32).others(33)
            : ExpectedCode(R"([DF]ADD .*)", 31).others(34).proof(Proof::kChain);
  }
  static constexpr __host__ __device__ bool takes_part(
      const Position& position) {
    return position.thread == 0;
  }
  template <class Here>
  __device__ Type operator()(Type sum, Here& here) const {
    const Type* values = values_behind(sum, here);
    sum = values[0];
#pragma unroll
    for (int i = 1; i < 32; ++i) sum += values[i];
    return sum;
  }
};

struct NoGroup {
  __device__ void sync() const {}
};
struct Tile {
  __device__ void sync() const { group.sync(); }
  cg::thread_block_tile<32> group =
      cg::tiled_partition<32>(cg::this_thread_block());
};
struct Coalesced {
  __device__ void sync() const { group.sync(); }
  cg::coalesced_group group = cg::coalesced_threads();
};

/// The tree of Figure 11 over plain or volatile words, with the barrier of a
/// group behind each step. There, a lane adds where tid + step < 32, also what
/// another lane overwrites in the same step: a race, whatever the barrier. The
/// lanes whose sums are still needed are those below step.
/// The code has five steps, and each ends with a store. On sm_90 CUDA 11.8
/// leaves one instruction of each barrier of a coalesced group. Before sm_90
/// CUDA 11.8 and 12.4 leave a test for convergence of each barrier.
template <class Type, class Words, class Group>
struct TreeSum : SumOf32<Type> {
  static constexpr void describe(About& about, const char* name,
                                 const char* text) {
    SumOf32<Type>::describe(about, name, text);
    const int others =
        CUDART_VERSION < 13000 && about.architecture < 90 ? 48 : 25;
    about.code =
        ExpectedCode(R"(STS\S* .*)", 5).others(others).proof(Proof::kLanes);
    about.checked = !std::is_same_v<Group, NoGroup>;
  }
  template <class Here>
  __device__ Type operator()(Type sum, Here& here) const {
    Words* values = values_behind(sum, here);
    const unsigned lane = here.thread;
#pragma unroll
    for (unsigned step = 16; step >= 1; step /= 2) {
      if (lane < step) {
        sum = values[lane] + values[lane + step];
        values[lane] = sum;
      }
      group.sync();
    }
    return sum;
  }
  Group group;
};

template <class Type>
struct NoSyncSum : TreeSum<Type, Type, NoGroup> {
  static constexpr void describe(About& about) {
    TreeSum<Type, Type, NoGroup>::describe(
        about, "nosync", "tree without a barrier: a wrong program");
  }
};

template <class Type>
struct VolatileSum : TreeSum<Type, volatile Type, NoGroup> {
  static constexpr void describe(About& about) {
    TreeSum<Type, volatile Type, NoGroup>::describe(
        about, "volatile", "tree over volatile values without a barrier");
  }
};

template <class Type>
struct TileSum : TreeSum<Type, Type, Tile> {
  static constexpr void describe(About& about) {
    TreeSum<Type, Type, Tile>::describe(about, "tile",
                                        "tree with the barrier of a tile");
  }
};

template <class Type>
struct VolatileTileSum : TreeSum<Type, volatile Type, Tile> {
  static constexpr void describe(About& about) {
    TreeSum<Type, volatile Type, Tile>::describe(
        about, "volatile_tile",
        "tree over volatile values with the barrier of a tile");
  }
};

template <class Type>
struct CoalescedSum : TreeSum<Type, Type, Coalesced> {
  static constexpr void describe(About& about) {
    TreeSum<Type, Type, Coalesced>::describe(
        about, "coa", "tree with the barrier of a coalesced group");
  }
};

/// The value of each lane, then five shuffles.
template <class Group, class Type>
__device__ __forceinline__ Type shuffled_sum(const Group& group, Type sum) {
#pragma unroll
  for (int step = 16; step >= 1; step /= 2) sum += group.shfl_down(sum, step);
  return sum;
}

/// Five shuffles, each of which reads the sum that the one before led to. A
/// double is shuffled as two words.
template <class Type>
constexpr ExpectedCode five_shuffles(const char* instruction, int others,
                                     int paths) {
  if (sizeof(Type) == 4) {
    return ExpectedCode(instruction, 5)
        .others(others)
        .proof(Proof::kChain)
        .paths(paths);
  }
  return ExpectedCode(instruction, 10).others(others).paths(paths);
}

template <class Type>
struct TileShuffleSum : SumOf32<Type> {
  static constexpr void describe(About& about) {
    SumOf32<Type>::describe(about, "tile_shuffle",
                            "tree by shuffles of a tile");
    about.code = five_shuffles<Type>(R"(SHFL\.DOWN .*)", 8, 1);
  }
  template <class Here>
  __device__ Type operator()(Type sum, Here& here) const {
    return shuffled_sum(tile.group, values_behind(sum, here)[here.thread]);
  }
  Tile tile;
};

template <class Type>
struct CoalescedShuffleSum : SumOf32<Type> {
  static constexpr void describe(About& about) {
    SumOf32<Type>::describe(about, "coa_shuffle",
                            "tree by shuffles of a coalesced group");
    about.repeats = 1;
    about.code = five_shuffles<Type>(R"(SHFL\.(DOWN|IDX) .*)", 240, 2);
  }
  template <class Here>
  __device__ Type operator()(Type sum, Here& here) const {
    return shuffled_sum(lanes.group, values_behind(sum, here)[here.thread]);
  }
  Coalesced lanes;
};

constexpr ExpectedCode kOneReduction =
    ExpectedCode(R"(REDUX\.SUM\S* .*)").others(4);

template <class Type>
struct ReducedSum : SumOf32<Type> {
  static constexpr void describe(About& about) {
    SumOf32<Type>::describe(about, "warp_reduce",
                            "reduce() of cooperative groups");
    about.set = Set::kToday;
    const bool one = about.architecture >= 80 && std::is_integral_v<Type>;
    about.code =
        one ? kOneReduction : five_shuffles<Type>(R"(SHFL\.\w+ .*)", 8, 1);
  }
  template <class Here>
  __device__ Type operator()(Type sum, Here& here) const {
    return cg::reduce(tile.group, values_behind(sum, here)[here.thread],
                      cg::plus<Type>());
  }
  Tile tile;
};

struct ReduxSum : SumOf32<int> {
  static constexpr void describe(About& about) {
    SumOf32<int>::describe(about, "redux", "__reduce_add_sync(), of int only");
    about.set = Set::kToday;
    about.first_architecture = 80;
    about.code = kOneReduction;
  }
  template <class Here>
  __device__ int operator()(int sum, Here& here) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_add_sync(0xffffffff, values_behind(sum, here)[here.thread]);
#else
    return sum;
#endif
  }
};

template <class Type>
static std::vector<MethodEntry> sums_of() {
  return entries<SerialSum<Type>, NoSyncSum<Type>, VolatileTileSum<Type>,
                 TileSum<Type>, CoalescedSum<Type>, TileShuffleSum<Type>,
                 CoalescedShuffleSum<Type>, VolatileSum<Type>,
                 ReducedSum<Type>>();
}

std::vector<WarpSums> warp_sums() {
  std::vector<WarpSums> sums = {{"double", sums_of<double>()},
                                {"float", sums_of<float>()},
                                {"int", sums_of<int>()}};
  for (MethodEntry& method : entries<ReduxSum>()) {
    sums.back().methods.push_back(method);
  }
  return sums;
}

std::vector<MethodEntry> warp_sum_methods() {
  const std::vector<WarpSums> all = warp_sums();
  std::vector<MethodEntry> in_turn;  // all lists begin alike; the last is whole
  for (std::size_t i = 0; i < all.back().methods.size(); ++i) {
    for (const WarpSums& sums : all) {
      if (i < sums.methods.size()) in_turn.push_back(sums.methods[i]);
    }
  }
  return in_turn;
}

}  // namespace syncbench::reduction
