// The multi-GPU barrier on threads of the host, for ThreadSanitizer: the source
// that GPUs run (peer_grid_barrier/protocol.hpp), on atomic operations of C++.
// Each thread writes a word that is not atomic, meets, and reads those of all
// threads, so that an order which the barrier lacks is a data race. The same is
// run with one order weakened at a time; barrier_threads_test.py expects a
// report of each.
//
// usage: barrier_threads [WEAKENED], or --list, which names them
//
// What this cannot see: C++ has no scopes. That a scope is too small is for
// peer_grid_model_test.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "peer_grid_barrier/protocol.hpp"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WITH_THREAD_SANITIZER
#endif
#elif defined(__SANITIZE_THREAD__)
#define WITH_THREAD_SANITIZER
#endif

namespace {

using peer_grid::Failure;
using peer_grid::Meeting;
using peer_grid::Step;

// The ways to meet, on one GPU and on several.
constexpr unsigned kFlat = 1, kLeaderOfOne = 2, kLast = 4, kLeader = 8;
struct Way {
  const char* name;
  unsigned bit;
};
constexpr Way kWays[] = {{"flat", kFlat},
                         {"leader of one GPU", kLeaderOfOne},
                         {"last", kLast},
                         {"leader", kLeader}};

// The memory order of each function of gpu_machine.cuh, and its instruction;
// barrier_threads_test.py compares them.
struct Shipped {
  static constexpr int load = __ATOMIC_RELAXED;          // ld.relaxed.gpu
  static constexpr int add_release = __ATOMIC_RELEASE;   // red.release.gpu.add
  static constexpr int completes = __ATOMIC_ACQ_REL;     // atom.acq_rel.gpu.add
  static constexpr int fence_gpu = __ATOMIC_ACQ_REL;     // fence.acq_rel.gpu
  static constexpr int fence_system = __ATOMIC_ACQ_REL;  // fence.acq_rel.sys
  static constexpr int store_system = __ATOMIC_RELAXED;  // st.relaxed.sys
  static constexpr int load_acquire_gpu = __ATOMIC_ACQUIRE;  // ld.acquire.gpu
  static constexpr int load_acquire_system =
      __ATOMIC_ACQUIRE;  // ld.acquire.sys
  // __syncthreads() and __syncwarp() order memory among those who meet.
  static constexpr int sync_block = __ATOMIC_ACQ_REL;
  static constexpr int sync_warp = __ATOMIC_ACQ_REL;
};

// One order weakened, which has to show in each of kWays.
struct ArrivalRelaxed : Shipped {
  static constexpr const char* kName = "add_release relaxed";
  static constexpr unsigned kWays = kFlat | kLeaderOfOne | kLeader;
  static constexpr int add_release = __ATOMIC_RELAXED;
};
struct CompletesAcquires : Shipped {
  static constexpr const char* kName = "completes without release";
  static constexpr unsigned kWays = kLast;
  static constexpr int completes = __ATOMIC_ACQUIRE;
};
struct CompletesReleases : Shipped {
  static constexpr const char* kName = "completes without acquire";
  static constexpr unsigned kWays = kLast;
  static constexpr int completes = __ATOMIC_RELEASE;
};
struct NoFenceGpu : Shipped {
  static constexpr const char* kName = "no fence_gpu";
  static constexpr unsigned kWays = kLeaderOfOne;
  static constexpr int fence_gpu = __ATOMIC_RELAXED;
};
struct NoFenceSystem : Shipped {
  static constexpr const char* kName = "no fence_system";
  static constexpr unsigned kWays = kLast | kLeader;
  static constexpr int fence_system = __ATOMIC_RELAXED;
};
struct PollGpuRelaxed : Shipped {
  static constexpr const char* kName = "wait_gpu relaxed";
  static constexpr unsigned kWays = kFlat | kLeaderOfOne | kLeader;
  static constexpr int load_acquire_gpu = __ATOMIC_RELAXED;
};
struct PollSystemRelaxed : Shipped {
  static constexpr const char* kName = "wait_system relaxed";
  static constexpr unsigned kWays = kLast | kLeader;
  static constexpr int load_acquire_system = __ATOMIC_RELAXED;
};
struct BlockRelaxed : Shipped {
  static constexpr const char* kName = "sync_block relaxed";
  static constexpr unsigned kWays = kFlat | kLast | kLeaderOfOne | kLeader;
  static constexpr int sync_block = __ATOMIC_RELAXED;
};
struct WarpRelaxed : Shipped {
  static constexpr const char* kName = "sync_warp relaxed";
  static constexpr unsigned kWays = kLeaderOfOne | kLeader;
  static constexpr int sync_warp = __ATOMIC_RELAXED;
};

// Threads are more than CPUs, so who waits lets others run.
template <class Done>
bool wait_until(Done done) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::minutes(10);
  while (!done()) {
    if (Clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

[[noreturn]] void give_up(const char* why) {
  std::printf("%s\n", why);
  std::fflush(stdout);
  std::_Exit(3);
}

// Where the threads of a block, or of its first warp, meet.
class HostBarrier {
 public:
  explicit HostBarrier(unsigned threads) : threads_(threads) {}

  template <int kOrder>
  void meet() {
    constexpr bool kOrders = kOrder == __ATOMIC_ACQ_REL;
    constexpr int kRelease = kOrders ? __ATOMIC_RELEASE : __ATOMIC_RELAXED;
    constexpr int kAcquire = kOrders ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED;
    const unsigned turn = __atomic_load_n(&turn_, __ATOMIC_RELAXED);
    if (__atomic_add_fetch(&arrived_, 1, kOrder) == threads_) {
      __atomic_store_n(&arrived_, 0, __ATOMIC_RELAXED);
      __atomic_store_n(&turn_, turn + 1, kRelease);
    } else if (!wait_until([this, turn] {
                 return __atomic_load_n(&turn_, kAcquire) != turn;
               })) {
      give_up("a block waits for ever");
    }
  }

 private:
  unsigned threads_;
  unsigned arrived_ = 0;
  unsigned turn_ = 0;
};

struct Block {
  HostBarrier all, first_warp;
};

/// A thread of a kernel.
struct Thread {
  unsigned block, blocks;
  unsigned number;  ///< in its block
  unsigned lanes;   ///< of the first warp
  Block* place;
  std::minstd_rand random;
  bool fenced = false;
};

// What Protocol runs on. The words of its State are not std::atomic, so the
// built-in functions are called of which that is made.
//
// Fences. ThreadSanitizer knows none, so a store behind a fence is a release
// store here. On GPUs the fence releases what is before it, here the store what
// is before the store: the same, as nothing but other announcements comes
// between the two. An acquire that did would end the effect of the fence here,
// so that the store cannot release more than the fence. The acquire half of
// the fences is left out, which can only show races that GPUs do not have.
template <class Orders>
struct Machine {
  static constexpr unsigned kLines = 2;
  Thread* self;

  // Holds the thread up at random.
  void at(Step step) {
    const unsigned often = step == Step::kBetweenPolls ? 256 : 16;
    const auto chance = static_cast<unsigned>(self->random() >> 8) % often;
    if (chance == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    } else if (chance < 4) {
      std::this_thread::yield();
    }
  }
  void let_arrivals_land(unsigned, unsigned) {}

  unsigned thread() const { return self->number; }
  unsigned lanes() const { return self->lanes; }
  unsigned block() const { return self->block; }
  unsigned blocks() const { return self->blocks; }

  void sync_block() {
    self->place->all.template meet<Orders::sync_block>();
    self->fenced = false;
  }
  void sync_warp() {
    self->place->first_warp.template meet<Orders::sync_warp>();
    self->fenced = false;
  }
  unsigned load(const unsigned* at) {
    return __atomic_load_n(at, Orders::load);
  }
  unsigned load_lap(const unsigned* at) { return load(at) / peer_grid::kLap; }
  void add_release(unsigned* at, unsigned value) {
    __atomic_fetch_add(at, value, Orders::add_release);
  }
  bool completes(unsigned* at, unsigned value) {
    self->fenced = false;
    return __atomic_add_fetch(at, value, Orders::completes) % peer_grid::kLap ==
           0;
  }
  void fence_gpu() { fence(Orders::fence_gpu); }
  void fence_system() { fence(Orders::fence_system); }
  void store_system(unsigned* at, unsigned value) {
    if (self->fenced) {
      __atomic_store_n(at, value, __ATOMIC_RELEASE);
    } else {
      __atomic_store_n(at, value, Orders::store_system);
    }
  }
  template <class Done>
  void wait_gpu(const unsigned* at, Done done, Failure) {
    wait<Orders::load_acquire_gpu>(at, done);
  }
  template <class Done>
  void wait_system(const unsigned* at, Done done, Failure) {
    wait<Orders::load_acquire_system>(at, done);
  }
  void give_up(Failure) { ::give_up("another number of blocks"); }

 private:
  void fence(int order) {
    if (order == __ATOMIC_ACQ_REL) self->fenced = true;
  }
  template <int kOrder, class Done>
  void wait(const unsigned* word, Done done) {
    self->fenced = false;
    if (done(__atomic_load_n(word, kOrder))) return;
    if (!wait_until([&] {
          at(Step::kBetweenPolls);
          return done(__atomic_load_n(word, kOrder));
        })) {
      ::give_up("a barrier waits for ever");
    }
  }
};

/// A kernel on every GPU.
struct Launch {
  Meeting meeting;
  unsigned blocks, lanes;
  unsigned others;  ///< threads of a block outside its first warp
  unsigned first_round, rounds;

  unsigned threads() const { return lanes + others; }
};

constexpr unsigned kMostBlocks = 4;
constexpr unsigned kMostThreads = 3;

/// Launches that follow each other on each GPU without waiting for others.
template <class Orders>
class Node {
 public:
  Node(unsigned gpus, unsigned ways, unsigned start, unsigned seed)
      : ways_(ways), seed_(seed), states_(gpus) {
    for (auto& state : states_) {
      state.counter.value = start * peer_grid::kLap;
      for (auto& counter : state.counters) {
        counter.value = start * peer_grid::kLap;
      }
      for (auto& word : state.by_last.barrier) word = start;
      for (auto& line : state.by_leader) {
        for (auto& word : line.barrier) word = start;
      }
    }
    for (auto& board : boards_) {
      board.resize(cell_of(gpus, 0, 0));
    }
  }

  // Returns how many barriers there were.
  unsigned run(unsigned launches) {
    const std::vector<Launch> plan = plan_of(launches);
    std::vector<std::thread> streams;
    for (unsigned gpu = 0; gpu < states_.size(); ++gpu) {
      streams.emplace_back([this, gpu, &plan] {
        for (const Launch& launch : plan) run_kernel(gpu, launch);
      });
    }
    for (std::thread& stream : streams) stream.join();
    return plan.back().first_round + plan.back().rounds - 1;
  }

  unsigned wrong() const { return wrong_; }

 private:
  using M = Machine<Orders>;

  std::vector<Launch> plan_of(unsigned launches) const {
    std::minstd_rand random(seed_);
    const auto upto = [&random](unsigned most) {
      return static_cast<unsigned>(random() >> 8) % most + 1;
    };
    std::vector<Launch> plan;
    unsigned round = 1;
    for (unsigned i = 0; i < launches; ++i) {
      Launch launch = {Meeting::kLeaderTells,
                       upto(kMostBlocks),
                       upto(2),
                       upto(2) - 1,
                       round,
                       upto(7)};
      if ((ways_ & (kLeader | kLeaderOfOne)) == 0 ||
          ((ways_ & (kFlat | kLast)) != 0 &&
           (launch.blocks < M::kLines || upto(2) == 1))) {
        launch.meeting = ways_ & kFlat ? Meeting::kFlat : Meeting::kLastTells;
      } else {
        launch.blocks = std::max(launch.blocks, M::kLines);
      }
      round += launch.rounds;
      plan.push_back(launch);
    }
    return plan;
  }

  void run_kernel(unsigned gpu, const Launch& launch) {
    peer_grid::End<M::kLines> end;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      end.of_rank[i] = &states_[i];
    }
    end.own = &states_[gpu];
    end.rank = static_cast<int>(gpu);
    end.gpus = static_cast<int>(states_.size());
    end.blocks = launch.blocks;
    end.meeting = launch.meeting;
    std::vector<Block> blocks(launch.blocks, {HostBarrier(launch.threads()),
                                              HostBarrier(launch.lanes)});
    std::vector<std::thread> threads;
    for (unsigned block = 0; block < launch.blocks; ++block) {
      for (unsigned i = 0; i < launch.threads(); ++i) {
        const unsigned number = i < launch.lanes ? i : 32 + i - launch.lanes;
        const unsigned cell = cell_of(gpu, block, i);
        Thread self = {
            block,
            launch.blocks,
            number,
            launch.lanes,
            &blocks[block],
            std::minstd_rand(seed_ * 9973 + launch.first_round * 101 + cell)};
        threads.emplace_back([this, self, end, cell, &launch]() mutable {
          run_thread(self, end, cell, launch);
        });
      }
    }
    for (std::thread& thread : threads) thread.join();
  }

  // Two boards in turn: whoever writes a word again has met, since, all who
  // have read it.
  void run_thread(Thread& self, const peer_grid::End<M::kLines>& end,
                  unsigned cell, const Launch& launch) {
    peer_grid::Protocol<M> barrier(end);
    if (M{&self}.thread() < 32) barrier.learn(M{&self});
    for (unsigned i = 0; i < launch.rounds; ++i) {
      const unsigned round = launch.first_round + i;
      std::vector<unsigned>& board = boards_[round % 2];
      board[cell] = round;
      barrier.sync(M{&self});
      for (unsigned gpu = 0; gpu < states_.size(); ++gpu) {
        for (unsigned block = 0; block < launch.blocks; ++block) {
          for (unsigned thread = 0; thread < launch.threads(); ++thread) {
            if (board[cell_of(gpu, block, thread)] != round) {
              __atomic_fetch_add(&wrong_, 1, __ATOMIC_RELAXED);
            }
          }
        }
      }
    }
  }

  static unsigned cell_of(unsigned gpu, unsigned block, unsigned thread) {
    return (gpu * kMostBlocks + block) * kMostThreads + thread;
  }

  unsigned ways_, seed_;
  std::vector<peer_grid::State<M::kLines>> states_;  // of all GPUs
  std::vector<unsigned> boards_[2];
  unsigned wrong_ = 0;
};

// 16-bit laps and 32-bit numbers wrap around in the second and the third start.
template <class Orders>
int run(unsigned ways) {
  constexpr unsigned kLaunches = 60;
  // A weakened order ends the run as soon as it shows.
  constexpr unsigned kSeeds = std::is_same_v<Orders, Shipped> ? 1 : 3;
  unsigned seed = 0, barriers = 0, wrong = 0;
  for (unsigned i = 0; i < kSeeds; ++i) {
    for (unsigned gpus = 1; gpus <= 3; ++gpus) {
      const unsigned ways_here =
          ways & (gpus == 1 ? kFlat | kLeaderOfOne : kLast | kLeader);
      if (ways_here == 0) continue;
      for (const unsigned start : {0u, 0xfff0u, 0xfffffff0u}) {
        Node<Orders> node(gpus, ways_here, start, ++seed);
        barriers += node.run(kLaunches);
        wrong += node.wrong();
      }
    }
  }
  std::printf("%u launches, %u barriers, %u wrong words\n", seed * kLaunches,
              barriers, wrong);
  return wrong == 0 ? 0 : 1;
}

struct Variant {
  std::string name;
  int (*run)(unsigned ways);
  unsigned ways;
};

template <class... Orders>
std::vector<Variant> weakened() {
  std::vector<Variant> variants;
  for (const Way& way : kWays) {
    for (const Variant& variant :
         {Variant{Orders::kName, &run<Orders>, Orders::kWays}...}) {
      if (variant.ways & way.bit) {
        variants.push_back(
            {variant.name + ", " + way.name, variant.run, way.bit});
      }
    }
  }
  return variants;
}

}  // namespace

int main(int argc, char** argv) {
#ifndef WITH_THREAD_SANITIZER
  std::printf("skipped: the C++ compiler has no ThreadSanitizer here\n");
  return 77;
#endif
  if (argc < 2) return run<Shipped>(kFlat | kLeaderOfOne | kLast | kLeader);
  const std::string wanted = argv[1];
  for (const Variant& variant :
       weakened<ArrivalRelaxed, CompletesAcquires, CompletesReleases,
                NoFenceGpu, NoFenceSystem, PollGpuRelaxed, PollSystemRelaxed,
                BlockRelaxed, WarpRelaxed>()) {
    if (wanted == variant.name) return variant.run(variant.ways);
    if (wanted == "--list") std::printf("%s\n", variant.name.c_str());
  }
  return wanted == "--list" ? 0 : 2;
}
