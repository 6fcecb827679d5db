// No order of the steps of the multi-GPU barrier makes it wait for ever or pass
// early, and every fault that is planted in it does.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "barrier_explorer.hpp"
#include "barrier_model.hpp"
#include "barrier_programs.hpp"

namespace barrier_model {
namespace {

// Machines on which the barrier does not hold: a fault each.

/// Waits for this barrier's number only, as the barrier once did.
struct ExactWait : Machine<2> {
  void wait_system(const unsigned* at, peer_grid::Announced done,
                   peer_grid::Failure) {
    const unsigned number = done.number;
    wait(
        at, [number](unsigned seen) { return seen == number; }, true, true);
  }
};

/// The last block's line is a leader's first one: the leader's others go stale
/// when the last tells, and one that is far behind counts as reached.
struct StaleLines : Machine<2> {
  unsigned* shared(const unsigned* at) {
    for (int gpu = 0; gpu < 2; ++gpu) {
      for (int peer = 0; peer < 2; ++peer) {
        if (at == &states[gpu].by_leader[0].barrier[peer]) {
          return &states[gpu].by_last.barrier[peer];
        }
      }
    }
    return const_cast<unsigned*>(at);
  }
  unsigned load(const unsigned*) {  // always from the first line
    return Machine<2>::load(&states[self->gpu].by_last.barrier[self->gpu]);
  }
  void store_system(unsigned* at, unsigned value) {
    Machine<2>::store_system(shared(at), value);
  }
  void wait_system(const unsigned* at, peer_grid::Announced done,
                   peer_grid::Failure) {
    const unsigned number = done.number;
    wait(
        shared(at),
        [number](unsigned seen) {
          return static_cast<int>(seen - number) >= 0;
        },
        true, true);
  }
};

struct EarlyLeader : Machine<2> {
  template <class Done>
  void wait_gpu(const unsigned*, Done, peer_grid::Failure) {}
};

struct MissingArrival : Machine<2> {
  bool late() const { return self->gpu == 1 && self->block == 1; }
  bool completes(unsigned* at, unsigned value) {
    return !late() && Machine<2>::completes(at, value);
  }
  void add_release(unsigned* at, unsigned value) {
    if (!late()) Machine<2>::add_release(at, value);
  }
};

struct MissingRelease : Machine<2> {
  bool completes(unsigned* at, unsigned value) {
    return script->perform({Operation::kFetchAdd, at, value, false}) %
               peer_grid::kLap ==
           0;
  }
  void add_release(unsigned* at, unsigned value) {
    script->perform({Operation::kAdd, at, value, false});
  }
};

struct MissingAcquire : Machine<2> {
  template <class Done>
  void wait_gpu(const unsigned* at, Done done, peer_grid::Failure) {
    wait(at, done, false, false);
  }
  template <class Done>
  void wait_system(const unsigned* at, Done done, peer_grid::Failure) {
    wait(at, done, false, false);
  }
};

struct MissingFence : Machine<2> {
  void fence_gpu() {}
  void fence_system() {}
};

struct WeakFence : Machine<2> {
  void fence_system() { fence_gpu(); }
};

/// Acquires at GPU scope what another GPU has released.
struct WeakAcquire : Machine<2> {
  template <class Done>
  void wait_system(const unsigned* at, Done done, peer_grid::Failure why) {
    wait_gpu(at, done, why);
  }
};

/// One lane's fence does nothing for what other lanes announce.
struct FenceOfOneLane : Machine<2> {
  void fence_system() {
    if (self->lane == 0) Machine<2>::fence_system();
  }
};

/// The threads of a block do not meet before one of them arrives for all, or
/// not behind the barrier.
template <bool kBefore>
struct MissingBlockBarrier : Machine<2> {
  bool before = true;  // each barrier has a copy of the machine
  void sync_block() {
    const bool wanted = before != kBefore;
    before = false;
    if (wanted) Machine<2>::sync_block();
  }
};

/// A leader's lane announces before the others have seen their arrivals.
struct MissingWarpBarrier : Machine<2> {
  void sync_warp() {}
};

/// Each block announces when it has arrived, whoever else has.
struct EagerBlock : Machine<2> {
  bool completes(unsigned* at, unsigned value) {
    Machine<2>::completes(at, value);
    return true;
  }
};

constexpr Meeting kFlat = Meeting::kFlat;
constexpr Meeting kLast = Meeting::kLastTells;
constexpr Meeting kLeader = Meeting::kLeaderTells;
constexpr unsigned kNearWrap = 0xfffffffe;
constexpr unsigned kHalf = 1u << 31;
constexpr const char* kHangs = "waits for ever";
constexpr const char* kEarly = "passes early";

// Explores a scenario; prints how much there was to see.
template <class Tested = Machine<2>>
void holds(const std::string& name, const Scenario& scenario) {
  ProgramsOn<Tested> programs(scenario);
  std::size_t states = 0;
  ASSERT_NO_THROW(states = explore(programs)) << name;
  std::printf("%s: %zu states\n", name.c_str(), states);
  EXPECT_GT(states, 1u);
}

// The scenario ends badly with these programs, and well with the right ones.
void expect_caught(const std::string& why, Programs& faulty) {
  ProgramsOn<Machine<2>> right(faulty.scenario());
  EXPECT_NO_THROW(explore(right));
  try {
    explore(faulty);
    ADD_FAILURE() << "not found";
  } catch (const Broken& broken) {
    const std::string text = broken.what();
    EXPECT_EQ(text.compare(0, why.size(), why), 0) << text;
  }
}

template <class Faulty>
void catches(const std::string& why, const Scenario& scenario) {
  static_assert(Faulty::kLines == 2);  // as the right machine's
  ProgramsOn<Faulty> faulty(scenario);
  expect_caught(why, faulty);
}

TEST(PeerGridModel, OneGpu) {
  for (unsigned blocks = 1; blocks <= 3; ++blocks) {
    const std::string name = std::to_string(blocks) + " blocks";
    holds("flat, " + name, {1, {{kFlat, blocks, 1, 4}}});
    holds("flat, two lanes, " + name, {1, {{kFlat, blocks, 2, 3}}});
    if (blocks < 2) continue;
    holds("leader, " + name, {1, {{kLeader, blocks, 1, 3}}});
  }
}

TEST(PeerGridModel, LastTellsOnTwoGpus) {
  for (unsigned blocks = 1; blocks <= 3; ++blocks) {
    holds("last, 2 GPUs, " + std::to_string(blocks) + " blocks",
          {2, {{kLast, blocks, 1, 3}}});
  }
}

TEST(PeerGridModel, LastTellsOnThreeGpus) {
  holds("last, 3 GPUs, 1 block", {3, {{kLast, 1, 1, 4}}});
  holds("last, 3 GPUs, 2 blocks", {3, {{kLast, 2, 1, 3}}, 0, 0, false});
}

TEST(PeerGridModel, LeaderTellsOnTwoGpus) {
  holds<Machine<1>>("leader, 2 GPUs, 1 block", {2, {{kLeader, 1, 1, 4}}});
  for (unsigned blocks = 2; blocks <= 3; ++blocks) {
    holds("leader, 2 GPUs, " + std::to_string(blocks) + " blocks",
          {2, {{kLeader, blocks, 1, 3}}});
  }
}

TEST(PeerGridModel, LeaderTellsOnThreeGpus) {
  holds<Machine<1>>("leader, 3 GPUs, 1 block", {3, {{kLeader, 1, 1, 3}}});
  holds("leader, 3 GPUs, 2 blocks", {3, {{kLeader, 2, 1, 3}}, 0, 0, false});
}

// Lanes poll at the same time where a block has enough of them.
TEST(PeerGridModel, SeveralLanesPoll) {
  holds("last, 2 lanes", {2, {{kLast, 1, 2, 3}}});
  holds("last, 2 blocks of 2 lanes", {2, {{kLast, 2, 2, 2}}, 0, 0, false});
  holds("last, 3 GPUs, 2 lanes", {3, {{kLast, 1, 2, 2}}, 0, 0, false});
  holds<Machine<1>>("leader, 2 lanes", {2, {{kLeader, 1, 2, 3}}});
  holds("leader, 2 blocks of 2 lanes", {2, {{kLeader, 2, 2, 2}}, 0, 0, false});
}

TEST(PeerGridModel, NumbersWrapAround) {
  holds("flat, wraps", {1, {{kFlat, 2, 1, 4}}, kNearWrap, kNearWrap});
  holds("last, wraps", {2, {{kLast, 2, 1, 4}}, kNearWrap, kNearWrap});
  holds("leader, wraps", {2, {{kLeader, 2, 1, 4}}, kNearWrap, kNearWrap});
}

// Another way to meet, and another number of blocks, from launch to launch.
TEST(PeerGridModel, LaunchesFollowEachOther) {
  for (const unsigned behind : {0u, 1u, kHalf, kHalf + 1, 0u - 1}) {
    holds("last, leader, last; " + std::to_string(behind) + " apart",
          {2,
           {{kLast, 1, 1, 2}, {kLeader, 2, 1, 2}, {kLast, 2, 1, 1}},
           kNearWrap,
           kNearWrap - behind});
    holds("leader, last, leader; " + std::to_string(behind) + " apart",
          {2,
           {{kLeader, 3, 1, 1}, {kLast, 1, 1, 1}, {kLeader, 2, 1, 2}},
           kNearWrap,
           kNearWrap - behind});
  }
}

TEST(PeerGridModel, CatchesWhatIsWrongWithWaiting) {
  catches<ExactWait>(kHangs, {2, {{kLast, 1, 1, 3}}});
  catches<ExactWait>(kHangs, {2, {{kLeader, 2, 1, 3}}});
  catches<StaleLines>(kEarly, {2, {{kLeader, 2, 1, 1}}, 7, 7u - kHalf});
}

TEST(PeerGridModel, CatchesWhatIsWrongWithArriving) {
  catches<EarlyLeader>(kEarly, {2, {{kLeader, 2, 1, 2}}});
  catches<EagerBlock>(kEarly, {2, {{kLast, 2, 1, 2}}});
  catches<MissingWarpBarrier>(kEarly, {2, {{kLeader, 2, 2, 2}}});
  for (const Meeting meeting : {kFlat, kLast, kLeader}) {
    const int gpus = meeting == kFlat ? 1 : 2;
    catches<MissingRelease>(kEarly, {gpus, {{meeting, 2, 1, 2}}});
    catches<MissingAcquire>(kEarly, {gpus, {{meeting, 2, 1, 2}}});
    // A lane may also learn of a barrier that its block has already come to.
    catches<MissingBlockBarrier<true>>(meeting == kLeader ? kHangs : kEarly,
                                       {gpus, {{meeting, 2, 2, 2}}});
    catches<MissingBlockBarrier<false>>(kEarly, {gpus, {{meeting, 2, 2, 1}}});
    if (meeting == kFlat) continue;
    catches<MissingArrival>(kHangs, {gpus, {{meeting, 2, 1, 2}}});
  }
}

TEST(PeerGridModel, CatchesMissingAndWeakOrder) {
  catches<MissingFence>(kEarly, {2, {{kLast, 1, 1, 1}}});
  catches<WeakFence>(kEarly, {2, {{kLast, 1, 1, 1}}});
  catches<MissingFence>(kEarly, {2, {{kLeader, 2, 1, 1}}});
  catches<WeakFence>(kEarly, {2, {{kLeader, 2, 1, 1}}});
  catches<WeakAcquire>(kEarly, {2, {{kLast, 1, 1, 1}}});
  catches<WeakAcquire>(kEarly, {2, {{kLeader, 2, 1, 1}}});
  catches<MissingFence>(kEarly, {1, {{kLeader, 2, 1, 1}}});
  catches<FenceOfOneLane>(kEarly, {2, {{kLeader, 2, 2, 1}}, 0, 0, false});
}

}  // namespace
}  // namespace barrier_model
