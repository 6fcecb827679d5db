// What the lanes of a warp tell each other by one instruction: votes, matches,
// a sum, shuffles. All lanes take part and so wait for each other.
#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench::explicit_barrier {

constexpr unsigned kAllLanes = 0xffffffffu;

/// Whether any lane says so. At first that of lane 5 does, and no other.
struct VoteAny : Method {
  static constexpr void describe(About& about) {
    about.operation(Scope::kWarp, "vote_any", "__any_sync() of a warp");
    about.caution = "with a comparison before and a number made of the result";
    about.code = ExpectedCode(R"(VOTE\.ANY (P\d|R\d+, PT), !?P\d)").others(3);
    about.expected = [](const Position& position, const Values& before) {
      unsigned any = 0;
      for (unsigned lane = 0; lane < 32; ++lane) {
        const unsigned thread = position.thread / 32 * 32 + lane;
        any |= before.of_lane(position, lane) == wanted_in(thread);
      }
      return any;
    };
  }
  static constexpr __host__ __device__ unsigned wanted_in(unsigned thread) {
    return thread % 32 == 5 ? thread + 32 : 1;
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    return __any_sync(kAllLanes, value == wanted);
  }
  unsigned wanted = wanted_in(threadIdx.x);
};

/// A bit of each lane: the one of its value that has the lane's number.
struct VoteBallot : Method {
  static constexpr void describe(About& about) {
    about.operation(Scope::kWarp, "vote_ballot", "__ballot_sync() of a warp");
    about.caution = "with a test of one bit before";
    about.code = ExpectedCode(R"(VOTE\.ANY U?R\d+, PT, !?P\d)").others(2);
    about.expected = [](const Position& position, const Values& before) {
      unsigned ballot = 0;
      for (unsigned lane = 0; lane < 32; ++lane) {
        ballot |= before.of_lane(position, lane) & 1u << lane;
      }
      return ballot;
    };
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    return __ballot_sync(kAllLanes, (value & bit) != 0);
  }
  unsigned bit = 1u << threadIdx.x % 32;
};

/// The lanes with an equal value; all differ.
struct MatchAny : Method {
  static constexpr void describe(About& about) {
    about.operation(Scope::kWarp, "match_any",
                    "__match_any_sync() of 32 different values");
    about.first_architecture = 70;
    about.code = ExpectedCode(R"(MATCH\.ANY .*)").proof(Proof::kChain);
    about.expected = [](const Position& position, const Values& before) {
      unsigned lanes = 0;
      for (unsigned lane = 0; lane < 32; ++lane) {
        lanes |= unsigned{before.of_lane(position, lane) == before(position)}
                 << lane;
      }
      return lanes;
    };
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    unsigned lanes;
    asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;"
                 : "=r"(lanes)
                 : "r"(value));
    return lanes;
  }
};

/// Whether all lanes have an equal value: at first they do, then never. Before
/// CUDA 13 and sm_80 it is MATCH.ANY, and whether it finds all lanes.
struct MatchAll : Method {
  static constexpr void describe(About& about) {
    about.operation(Scope::kWarp, "match_all",
                    "__match_all_sync() of different values");
    about.caution = "with one subtraction each";
    about.first_architecture = 70;
    const bool one = about.architecture >= 80 && CUDART_VERSION >= 13000;
    about.code = one ? ExpectedCode(R"(MATCH\.ALL .*)").others(1)
                     : ExpectedCode(R"(MATCH\.A(NY|LL) .*)").others(5);
    about.expected = [](const Position& position, const Values& before) {
      for (unsigned lane = 1; lane < 32; ++lane) {
        if (before.of_lane(position, lane) - lane !=
            before.of_lane(position, 0)) {
          return 0u;
        }
      }
      return kAllLanes;
    };
  }
  __device__ unsigned operator()(unsigned value, Here<>& here) const {
    unsigned lanes;
    asm volatile("match.all.sync.b32 %0, %1, 0xffffffff;"
                 : "=r"(lanes)
                 : "r"(value - here.thread));
    return lanes;
  }
};

/// Sum of all lanes by one instruction, which no GPU has before sm_80.
struct ReduxAdd : Method {
  static constexpr void describe(About& about) {
    about.operation(Scope::kWarp, "redux_add", "__reduce_add_sync() of a warp");
    about.first_architecture = 80;
    about.most_checked = 4;  // values are 0 after 8
    about.code = ExpectedCode(R"(REDUX\.SUM .*)").others(1);
    about.expected = [](const Position& position, const Values& before) {
      return before.sum(position, position.thread / 32 * 32, 32);
    };
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    unsigned sum;
    asm volatile("redux.sync.add.u32 %0, %1, 0xffffffff;"
                 : "=r"(sum)
                 : "r"(value));
    return sum;
  }
};

/// Shuffle from any lane: here the next one, the last reads the first.
struct ShuffleIndex : Method {
  static constexpr void describe(About& about) {
    about.operation(Scope::kWarp, "shufl_idx", "__shfl_sync(), from any lane");
    about.code =
        ExpectedCode(R"(SHFL\.IDX .*, R\d+, 0x1f)").proof(Proof::kChain);
    about.expected = [](const Position& position, const Values& before) {
      return before.of_lane(position, (position.thread + 1) % 32);
    };
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    return __shfl_sync(kAllLanes, value, source);
  }
  unsigned source = (threadIdx.x + 1) % 32;
};

/// Shuffle up by one lane: the exchange of a prefix sum.
struct ShuffleUp : Method {
  static constexpr void describe(About& about) {
    about.operation(Scope::kWarp, "shufl_up", "__shfl_up_sync() by one lane");
    about.code = ExpectedCode(R"(SHFL\.UP .*, 0x1, .*)").proof(Proof::kChain);
    about.expected = [](const Position& position, const Values& before) {
      return before.of_thread(position,
                              position.thread - (position.thread % 32 > 0));
    };
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    return __shfl_up_sync(kAllLanes, value, 1);
  }
};

/// Pairs of lanes exchange their values: a step of a butterfly.
struct ShuffleXor : Method {
  static constexpr void describe(About& about) {
    about.operation(Scope::kWarp, "shufl_xor", "__shfl_xor_sync() by one lane");
    about.code = ExpectedCode(R"(SHFL\.BFLY .*, 0x1, .*)").proof(Proof::kChain);
    about.expected = [](const Position& position, const Values& before) {
      return before.of_thread(position, position.thread ^ 1);
    };
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    return __shfl_xor_sync(kAllLanes, value, 1);
  }
};

/// Lane 0's value for all. Of what all lanes have the compiler makes no second
/// shuffle, so each lane adds its number.
struct ShuffleBroadcast : Method {
  static constexpr void describe(About& about) {
    about.operation(Scope::kWarp, "shufl_broadcast",
                    "__shfl_sync() from lane 0 to all");
    about.caution = "with one integer addition each";
    about.code = ExpectedCode(R"(SHFL\.IDX .*, RZ, 0x1f)")
                     .others(1)
                     .proof(Proof::kChain);
    about.expected = [](const Position& position, const Values& before) {
      return before.of_lane(position, 0) + position.thread;
    };
  }
  __device__ unsigned operator()(unsigned value, Here<>& here) const {
    return __shfl_sync(kAllLanes, value, 0) + here.thread;
  }
};

std::vector<MethodEntry> list_exchange() {
  return entries<VoteAny, VoteBallot, MatchAny, MatchAll, ReduxAdd,
                 ShuffleIndex, ShuffleUp, ShuffleXor, ShuffleBroadcast>();
}

}  // namespace syncbench::explicit_barrier
