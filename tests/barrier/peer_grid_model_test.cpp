// No order of the steps of the multi-GPU barrier makes it wait for ever or pass
// early, and it passes early wherever a memory order is weakened.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "barrier_explorer.hpp"
#include "barrier_model.hpp"
#include "barrier_programs.hpp"

namespace barrier_model {
namespace {

// Machines that order less, on which the barrier does not hold.

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

/// The last block does not acquire what the others have released.
struct RelaxedCompletion : Machine<2> {
  bool completes(unsigned* at, unsigned value) {
    add_release(at, value);
    return load(at) % peer_grid::kLap == 0;
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

constexpr Meeting kFlat = Meeting::kFlat;
constexpr Meeting kLast = Meeting::kLastTells;
constexpr Meeting kLeader = Meeting::kLeaderTells;
constexpr unsigned kNearWrap = 0xfffffffe;
constexpr unsigned kHalf = 1u << 31;

// Explores a scenario; prints how much there was to see.
template <class Tested = Machine<2>>
void holds(const std::string& name, const Scenario& scenario) {
  ProgramsOn<Tested> programs(scenario);
  std::size_t states = 0;
  ASSERT_NO_THROW(states = explore(programs)) << name;
  std::printf("%s: %zu states\n", name.c_str(), states);
  EXPECT_GT(states, 1u);
}

// A thread passes early on this machine, and none does on the right one.
template <class Faulty>
void catches(const Scenario& scenario) {
  ProgramsOn<Machine<2>> right(scenario);
  EXPECT_NO_THROW(explore(right));
  ProgramsOn<Faulty> faulty(scenario);
  try {
    explore(faulty);
    ADD_FAILURE() << "not found";
  } catch (const Broken& broken) {
    EXPECT_EQ(std::string(broken.what()).rfind("passes early", 0), 0u);
  }
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

TEST(PeerGridModel, ThreadsOutsideTheFirstWarpWaitForIt) {
  for (const Meeting meeting : {kFlat, kLast, kLeader}) {
    Launch launch = {meeting, 2, 1, 2};
    launch.others = 1;
    holds("others", {meeting == kFlat ? 1 : 2, {launch}, 0, 0, false});
  }
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

// What is wrong with its steps is in faults.txt.
TEST(PeerGridModel, CatchesMissingAndWeakOrder) {
  for (const Meeting meeting : {kFlat, kLast, kLeader}) {
    const int gpus = meeting == kFlat ? 1 : 2;
    catches<MissingRelease>({gpus, {{meeting, 2, 1, 2}}});
    catches<MissingAcquire>({gpus, {{meeting, 2, 1, 2}}});
  }
  catches<RelaxedCompletion>({2, {{kLast, 2, 1, 2}}});
  catches<MissingFence>({2, {{kLast, 1, 1, 1}}});
  catches<WeakFence>({2, {{kLast, 1, 1, 1}}});
  catches<MissingFence>({2, {{kLeader, 2, 1, 1}}});
  catches<WeakFence>({2, {{kLeader, 2, 1, 1}}});
  catches<WeakAcquire>({2, {{kLast, 1, 1, 1}}});
  catches<WeakAcquire>({2, {{kLeader, 2, 1, 1}}});
  catches<MissingFence>({1, {{kLeader, 2, 1, 1}}});
  catches<FenceOfOneLane>({2, {{kLeader, 2, 2, 1}}, 0, 0, false});
}

}  // namespace
}  // namespace barrier_model
