// Steps that barriers of blocks are made of: a word to another block and back;
// additions and reads of one word by all blocks; the barriers inside blocks.
// The report adds them up.
#include "explicit_barrier/methods/barrier_steps.cuh"
#include "peer_grid_barrier/scoped_memory.cuh"

namespace syncbench::explicit_barrier {

/// Each block of a grid and the one half a grid further on: the slowest pair
/// counts, as a barrier waits for the slowest word. Words are 256 bytes apart.
template <grid_barriers::Order kOrder>
struct BlocksPingPong : BarrierStep {
  static constexpr bool kOrdered = kOrder != grid_barriers::Order::kNone;
  using Machine = grid_barriers::GpuMachine<kOrder>;
  static constexpr void describe(About& about) {
    BarrierStep::describe(about);
    about.operation(Scope::kGrid, kOrdered ? "ping_pong_ordered" : "ping_pong",
                    kOrdered ? "the same with release and acquire"
                             : "a word from each block to one half a grid "
                               "away, and one back; the slowest pair counts");
    about.set = Set::kEvidence;
    about.places = 5;  // latency depends on where words lie
    about.code = ExpectedCode(R"(STG?\b.*STRONG\.GPU.*)")
                     .others(56)
                     .proof(Proof::kMessages)
                     .also(kOrdered ? R"(MEMBAR\.ALL\.GPU)" : "");
  }
  static constexpr long long global_words(long long threads) { return threads; }
  static constexpr __host__ __device__ bool takes_part(
      const Position& position) {
    return position.block / 2 < position.blocks / 2;
  }
  __device__ explicit BlocksPingPong(Here<>& here)
      : game(begins(here), word(here, !begins(here)),
             word(here, begins(here))) {}
  __device__ unsigned operator()(unsigned value, Here<>& here) {
    if (here.thread == 0) game.play();
    return value;
  }
  static __device__ bool begins(const Here<>& here) {
    return here.block < here.blocks / 2;
  }
  static __device__ unsigned* word(Here<>& here, bool of_second) {
    const unsigned pair = here.block % (here.blocks / 2);
    return reinterpret_cast<unsigned*>(here.global +
                                       32 * (2 * pair + of_second));
  }
  PingPong<Machine> game;
};

/// By a thread of each block, of the same word. Nobody waits for another block.
struct OfOneWord : BarrierStep {
  static constexpr void describe(About& about) {
    BarrierStep::describe(about);
    about.places = 5;
  }
  static constexpr long long global_words(long long) { return 32; }
  static constexpr __host__ __device__ bool takes_part(
      const Position& position) {
    return position.thread == 0;
  }

  __device__ static void add_one(unsigned long long* word) {
    peer_grid::global::Gpu::add_relaxed(word, 1);
  }
  __device__ static unsigned long long load(const unsigned long long* word) {
    return grid_barriers::GpuMachine<grid_barriers::Order::kNone>::load(word);
  }
};

/// The rate at which one word takes additions, as a barrier's counter does.
struct OneCounter : OfOneWord {
  static constexpr void describe(About& about) {
    OfOneWord::describe(about);
    about.operation(Scope::kGrid, "one_counter",
                    "every block adds 1 to the same word, and does not wait");
    about.set = Set::kEvidence;
    about.code = ExpectedCode(R"((RED|ATOM)G?\b.*ADD.*STRONG\.GPU.*)")
                     .others(8)
                     .proof(Proof::kRate);
  }
  __device__ unsigned operator()(unsigned value, Here<>& here) const {
    add_one(here.global);
    return value;
  }
};

/// The same with a poll behind each addition.
struct OneCounterRead : OfOneWord {
  static constexpr void describe(About& about) {
    OfOneWord::describe(about);
    about.operation(Scope::kGrid, "one_counter_read",
                    "every block adds 1 to the same word, then reads it");
    about.set = Set::kEvidence;
    about.code = ExpectedCode(R"((RED|ATOM)G?\b.*ADD.*STRONG\.GPU.*)")
                     .others(16)
                     .proof(Proof::kRate);
  }
  // The next addition has to wait for what was read.
  __device__ unsigned operator()(unsigned value, Here<>& here) {
    add_one(here.global + zero);
    zero = load(here.global + zero) >> 63;
    return value + zero;
  }
  unsigned zero = 0;
};

/// A poll that comes again when it has its answer.
struct OneWord : OfOneWord {
  static constexpr void describe(About& about) {
    OfOneWord::describe(about);
    about.operation(
        Scope::kGrid, "one_word",
        "every block reads the same word, each time when it has read the last");
    about.set = Set::kEvidence;
    about.code =
        ExpectedCode(R"(LDG?\b.*STRONG\.GPU.*)").others(16).proof(Proof::kRate);
  }
  __device__ unsigned operator()(unsigned value, Here<>& here) {
    zero = load(here.global + zero);
    return value + zero;
  }
  unsigned zero = 0;
};

/// What a barrier of blocks begins and ends with.
struct AllBlockSync : BarrierStep {
  static constexpr void describe(About& about) {
    BarrierStep::describe(about);
    about.operation(Scope::kGrid, "all_block_sync",
                    "__syncthreads() in all blocks");
    about.set = Set::kEvidence;
    about.repeats = 16;
    about.fits = true;
    about.code =
        ExpectedCode(R"(BAR\.SYNC\S* 0x0)").others(8).proof(Proof::kRate);
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    __syncthreads();
    return value;
  }
};

std::vector<MethodEntry> list_messages() {
  using grid_barriers::Order;
  return entries<BlocksPingPong<Order::kNone>,
                 BlocksPingPong<Order::kReleaseAcquire>, OneCounter,
                 OneCounterRead, OneWord, AllBlockSync>();
}

}  // namespace syncbench::explicit_barrier
