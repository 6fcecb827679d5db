// No order of the steps of the multi-GPU barrier makes it wait for ever or pass
// early, and every fault that is planted in it does.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "barrier_explorer.hpp"
#include "barrier_faults.hpp"
#include "barrier_programs.hpp"

namespace barrier_model {
namespace {

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
