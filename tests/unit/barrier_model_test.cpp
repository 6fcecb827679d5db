// Sums of steps against those made by hand, of made-up constants.
#include "explicit_barrier/barrier_model.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace syncbench::explicit_barrier {
namespace {

constexpr int kSms = 10, kLate = 2000;

Row row(const char* method, int blocks_per_sm, double nanoseconds, int gpus = 1,
        int threads = 32) {
  Row row = {method, gpus, blocks_per_sm * kSms, threads, 32};
  row.value.median = nanoseconds;
  return row;
}

// A word takes 100 ns, order 50, a word to another GPU 300, order there 200.
std::vector<Row> constants() {
  std::vector<Row> rows = {row("ping_pong", 1, 200),
                           row("ping_pong_ordered", 1, 300),
                           row("ping_pong_peer", 1, 600, 2),
                           row("ping_pong_peer_ordered", 1, 1000, 2)};
  for (const int count : {1, 2, 4, 8, 16, 32}) {
    rows.push_back(row("one_counter", count, 40 * count));
    rows.push_back(
        row("one_counter_read", count, 110 * count + (count == 1 ? 20 : 0)));
    rows.push_back(row("one_word", count, count < 8 ? 60 : 10 * count));
    for (const int warps : {1, 32}) {
      rows.push_back(row("all_block_sync", count, warps, 1, 32 * warps));
    }
  }
  return rows;
}

struct Expected {
  const char* method;
  int gpus, blocks_per_sm;
  BarrierSteps at_once, one_late;  ///< block, order, arrival, poll, message
};

void expect(const BarrierSteps& found, const BarrierSteps& steps,
            const std::string& of) {
  EXPECT_DOUBLE_EQ(found.block, steps.block) << of;
  EXPECT_DOUBLE_EQ(found.order, steps.order) << of;
  EXPECT_DOUBLE_EQ(found.arrival, steps.arrival) << of;
  EXPECT_DOUBLE_EQ(found.poll, steps.poll) << of;
  EXPECT_DOUBLE_EQ(found.message, steps.message) << of;
}

TEST(BarrierModel, SumsByHand) {
  const BarrierModel model(kSms, constants());
  const Expected all[] = {
      // 70 ns of polls behind additions, as many blocks have it.
      {"xiao_feng_lock", 1, 1, {2, 0, 40, 70, 100}, {2, 0, 0, 30, 100}},
      {"xiao_feng_lock_ordered",
       1,
       1,
       {2, 50, 40, 70, 100},
       {2, 50, 0, 30, 100}},
      // 320 of a poll where 32 blocks per SM poll, so 260 more than alone.
      {"xiao_feng_lock",
       1,
       32,
       {2, 0, 1280, 520 + 2240, 100},
       {2, 0, 0, 520 + 160, 100}},
      // One poll of few blocks takes 90.
      {"grid_sync", 1, 1, {2, 50, 40, 90, 100}, {2, 50, 0, 30, 100}},
      // Of additions that take 640, polls are among those behind the first 100.
      {"grid_sync",
       1,
       16,
       {2, 50, 640, 200 + 1120 * 54 / 64.0, 100},
       {2, 50, 0, 200 + 80, 100}},
      {"peer_grid_sync", 1, 4, {2, 50, 160, 30, 100}, {2, 50, 0, 30, 100}},
      // A leader, and 32 counters.
      {"peer_grid_sync",
       1,
       16,
       {2, 100, 20, 100 + 30, 200},
       {2, 100, 0, 100, 200}},
      {"peer_grid_sync", 2, 4, {2, 250, 60, 30, 400}, {2, 250, 0, 0, 400}},
      {"peer_grid_sync",
       2,
       8,
       {2, 250, 10, 20 + 30, 400},
       {2, 250, 0, 20, 400}},
      // Ten flags and 32 threads: each reads one.
      {"xiao_feng_flags", 1, 1, {3, 0, 0, 45, 200}, {3, 0, 90, 0, 100}},
      // 40 flags: a thread reads two, and answers two.
      {"xiao_feng_flags_ordered",
       1,
       4,
       {3, 150, 90, 45, 200},
       {3, 100, (180 + 90) / 2.0, 0, 100}},
      {"sense_reversing", 1, 1, {2, 100, 0, 30, 200}, {2, 100, 0, 0, 200}},
      {"sense_reversing",
       1,
       8,
       {2, 150, 40, 40 + 40, 300},
       {2, 150, 0, 40, 300}},
      {"all_to_all_flags",
       2,
       1,
       {4, 100, 80, 180, 500},
       {4, 100, 40, 120, 500}},
      {"peer_cas_ordered",
       2,
       1,
       {4, 300, 80, 180, 1400},
       {4, 300, 40, 120, 800}}};
  for (const Expected& one : all) {
    const std::string of =
        std::string(one.method) + " " + std::to_string(one.blocks_per_sm);
    Row barrier = row(one.method, one.blocks_per_sm, 0, one.gpus);
    const auto at_once = model.steps_of(barrier);
    barrier.late = kLate;
    barrier.mhz = 1000;
    const auto one_late = model.steps_of(barrier);
    ASSERT_TRUE(at_once && one_late) << of;
    expect(*at_once, one.at_once, of);
    expect(*one_late, one.one_late, of + ", one late");
  }
}

TEST(BarrierModel, BlocksOfMoreThreadsTakeLongerToMeet) {
  const BarrierModel model(kSms, constants());
  EXPECT_DOUBLE_EQ(model.steps_of(row("grid_sync", 1, 0, 1, 1024))->sum(),
                   2 * 32 + 50 + 40 + 90 + 100);
}

// A leader that reads 10 flags a thread has not read those of the others when
// the late one comes.
TEST(BarrierModel, OneThatIsNotLateEnough) {
  const BarrierModel model(kSms, constants());
  Row barrier = row("xiao_feng_flags", 32, 0);
  const BarrierSteps all = *model.steps_of(barrier);
  EXPECT_DOUBLE_EQ(all.sum(), 3 + 9 * 90 + 45 + 200);
  barrier.late = 100;
  barrier.mhz = 1000;
  // The leader is late, or another one.
  EXPECT_DOUBLE_EQ(model.steps_of(barrier)->sum(),
                   (3 + 10 * 90 + 100 + all.sum() - 100) / 2);
}

// What is missing is not taken for nothing.
TEST(BarrierModel, NoSumWithoutEveryStep) {
  const std::vector<Row> whole = constants();
  const char* const barriers[] = {
      "xiao_feng_lock_ordered",  "grid_sync",       "peer_grid_sync",
      "xiao_feng_flags_ordered", "sense_reversing", "all_to_all_flags_ordered",
      "peer_cas_ordered"};
  for (const char* gone :
       {"ping_pong", "ping_pong_ordered", "all_block_sync"}) {
    std::vector<Row> rows;
    for (const Row& one : whole) {
      if (one.method != gone) rows.push_back(one);
    }
    const BarrierModel model(kSms, rows);
    for (const char* method : barriers) {
      for (const int gpus : {1, 2}) {
        for (const int late : {0, kLate}) {
          Row barrier = row(method, 16, 0, gpus);
          barrier.late = late;
          barrier.mhz = 1000;
          EXPECT_FALSE(model.steps_of(barrier)) << gone << " " << method;
        }
      }
    }
  }
}

TEST(BarrierModel, NoSumOfWhatIsNoBarrierHere) {
  const BarrierModel model(kSms, constants());
  EXPECT_FALSE(model.steps_of(row("in_use_grid_sync", 1, 0)));
  EXPECT_FALSE(model.steps_of(row("cluster_first", 1, 0)));
  EXPECT_FALSE(model.steps_of(row("host_flags", 1, 0, 2)));
  EXPECT_FALSE(model.steps_of(row("grid_sync", 3, 0)));  // no such shape
}

}  // namespace
}  // namespace syncbench::explicit_barrier
