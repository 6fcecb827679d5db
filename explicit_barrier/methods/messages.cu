// Steps that barriers of blocks are made of: a word to another block, or to
// another GPU, and back; additions and reads of one word by all blocks; the
// barriers inside blocks. The report adds them up.
#include "explicit_barrier/grid_barriers/gpu_machine.cuh"
#include "explicit_barrier/grid_barriers/node.cuh"
#include "explicit_barrier/methods.hpp"
#include "explicit_barrier/timed_kernel.cuh"
#include "peer_grid_barrier/scoped_memory.cuh"

namespace syncbench::explicit_barrier {

// What all of these have.
struct BarrierStep : Method {
  static constexpr void describe(About& about) {
    about.first_architecture = 70;
    about.in_test_repeat = false;
    about.repeats = 8;
    about.fits = [](int threads) { return threads == 32; };
    about.attributes = LaunchAttributes{true};
  }
};

// Numbers of messages in two words. Nobody else writes where this thread sends,
// so it finds there how many it has sent, and waits for as many answers.
template <class Machine>
class PingPong {
 public:
  __device__ PingPong(bool begins, unsigned* inbox, unsigned* outbox)
      : begins_(begins),
        inbox_(inbox),
        outbox_(outbox),
        number_(Machine::load(outbox)) {}

  // There and back.
  __device__ void play() {
    ++number_;
    // The store comes once in the code: it waits behind it, or before it.
    if (!begins_) Machine::wait(inbox_, Reached{number_});
    Machine::store(outbox_, number_);
    if (begins_) Machine::wait(inbox_, Reached{number_});
  }

 private:
  using Reached = grid_barriers::Reached<unsigned>;
  bool begins_;
  unsigned *inbox_, *outbox_;
  unsigned number_;
};

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

/// The first GPU and the last one: a word in the memory of each.
template <bool kOrdered>
struct GpusPingPong : BarrierStep {
  using Machine = grid_barriers::NodeMachine<kOrdered>;
  static constexpr void describe(About& about) {
    BarrierStep::describe(about);
    about.operation(
        Scope::kGpus, kOrdered ? "ping_pong_peer_ordered" : "ping_pong_peer",
        kOrdered ? "the same with release and acquire"
                 : "a word from the first GPU to the last, and one back");
    about.set = Set::kEvidence;
    about.longer = 72;
    about.places = 5;  // as on one GPU
    about.fewest_gpus = 2;
    about.make_arguments = make_arguments;
    about.code = ExpectedCode(R"(STG?\b.*STRONG\.SYS.*)")
                     .others(56)
                     .proof(Proof::kMessages)
                     .also(kOrdered ? R"(MEMBAR\.ALL\.SYS)" : "");
  }
  using Argument = grid_barriers::NodeEnd;
  using Local = grid_barriers::NodeEnd;
  static Arguments make_arguments(const std::vector<int>& devices, int blocks);
  static constexpr __host__ __device__ bool takes_part(
      const Position& position) {
    return position.block == 0;
  }
  template <class Here>
  __device__ explicit GpusPingPong(Here& here)
      : game(here.local.rank == 0, here.local.of_gpu[here.local.rank],
             here.local.of_gpu[here.local.rank == 0 ? here.local.gpus - 1 : 0]),
        plays(here.local.rank == 0 || here.local.rank == here.local.gpus - 1) {}
  template <class Here>
  __device__ unsigned operator()(unsigned value, Here& here) {
    if (here.thread == 0 && plays) game.play();
    return value;
  }
  PingPong<Machine> game;
  bool plays;
};

template <bool kOrdered>
Arguments GpusPingPong<kOrdered>::make_arguments(
    const std::vector<int>& devices, int) {
  return grid_barriers::arguments_of_node(devices, true);
}

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

std::vector<MethodEntry> message_methods() {
  using grid_barriers::Order;
  return entries<BlocksPingPong<Order::kNone>,
                 BlocksPingPong<Order::kReleaseAcquire>, OneCounter,
                 OneCounterRead, OneWord, AllBlockSync>();
}

std::vector<MethodEntry> peer_message_methods() {
  return entries<GpusPingPong<false>, GpusPingPong<true>>();
}

}  // namespace syncbench::explicit_barrier
