// The formulas of the measurements, on launches and points whose times are
// known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "common/sm_clock.hpp"
#include "explicit_barrier/sm_windows.hpp"
#include "implicit_barrier/noted_times.hpp"
#include "implicit_barrier/sections/fusion.hpp"
#include "tests/unit/measure_inter_sm.hpp"

namespace syncbench {

using namespace explicit_barrier;
using namespace implicit_barrier;
namespace {

// A launch costs 1,000 ns and runs behind a kernel of `kernel_ns`, the first
// four of a series `first_ns` more; starting and waiting costs 5,000 ns once.
class FakeLaunch : public Way {
 public:
  explicit FakeLaunch(double kernel_ns, double first_ns = 0)
      : kernel_ns_(kernel_ns), first_ns_(first_ns) {}
  ways::LaunchTimes run(int repeats) override {
    return {400.0 * repeats, 5000 + repeats * (1000 + kernel_ns_) +
                                 std::min(repeats, 4) * first_ns_};
  }
  double idle_wait_ns() override { return 700; }

 private:
  double kernel_ns_, first_ns_;
};

// What `processes` processes of `samples` samples each hand over.
Measured collect(int processes, int samples, const Take& take) {
  Measured measured;
  for (int process = 0; process < processes; ++process) {
    measured.add(sample_alone(take, samples, 0), 1980);
  }
  return measured;
}

TEST(TakeFusion, Equation6) {
  FakeLaunch single(10250), fused(16 * 10250);
  const FusionResult result = fusion_result(
      collect(2, 5, [&] { return take_fusion(single, fused, 16, 0); }), 16);
  EXPECT_DOUBLE_EQ(result.unit.mean, 10250);
  EXPECT_DOUBLE_EQ(result.overhead.mean, 1000);
  EXPECT_EQ(result.overhead.count, 10u);
  EXPECT_TRUE(result.hidden);
}

TEST(TakeFusion, LaunchesBehindOthersWhereTheFirstTakeMore) {
  FakeLaunch single(10250, 4000), fused(16 * 10250, 4000);
  const FusionResult result = fusion_result(
      collect(2, 5, [&] { return take_fusion(single, fused, 16, 4); }), 16);
  EXPECT_DOUBLE_EQ(result.unit.mean, 10250);
  EXPECT_DOUBLE_EQ(result.overhead.mean, 1000);
}

TEST(TakeFusion, LaunchesThatDoNotHideAreNoticed) {
  FakeLaunch single(10), fused(16 * 10);
  const auto measured = collect(2, 5, [&] {
    Sample sample = take_fusion(single, fused, 16, 0);
    sample["launched"] = sample["separate"] - 100;
    return sample;
  });
  EXPECT_FALSE(fusion_result(measured, 16).hidden);
}

TEST(Point, IsReadBack) {
  const Point point = {"traditional_launch", 2, 128, 132, 1024, 5000, 16};
  const Labels labels = point.labels();
  EXPECT_EQ(Point::of(labels).labels(), labels);
  for (const auto& [name, word] : labels) {
    Labels bad = labels;
    bad.erase(name);
    EXPECT_THROW(Point::of(bad), std::out_of_range) << name;
    bad[name] = "x";
    if (name == "method") continue;
    EXPECT_THROW(Point::of(bad), std::invalid_argument) << name;
  }
}

TEST(SummarizeTimes, KernelsOfTwoBlocks) {
  // Begins at 1000, 2000 and 3200; the second block ends last, once the first.
  // Records are 10 before the ends.
  const std::vector<BlockTimes> times = {{1000, 1500}, {0, 1590},
                                         {2000, 2610}, {0, 2590},
                                         {3200, 3710}, {0, 3720}};
  const NotedTimes noted = summarize_times(times, 3, 2, 10);
  EXPECT_DOUBLE_EQ(noted.period, 1100);
  EXPECT_DOUBLE_EQ(noted.gap, (400 + 580) / 2.0);
  EXPECT_NEAR(noted.length, 550, 1e-9);
  EXPECT_TRUE(std::isnan(summarize_times(times, 1, 2, 10).gap));
}

TEST(SummarizeTimes, ThoseThatCannotBeAreErrors) {
  const auto of = [](long long begin, long long end, long long next) {
    summarize_times({{begin, end}, {next, next + 500}}, 2, 1, 10);
  };
  EXPECT_NO_THROW(of(1000, 1000, 1000));  // a coarse timer
  EXPECT_THROW(of(0, 1500, 2000), std::runtime_error);
  EXPECT_THROW(of(-5, 1500, 2000), std::runtime_error);
  EXPECT_THROW(of(1000, 999, 2000), std::runtime_error);
  EXPECT_THROW(of(1000, 1500, 900), std::runtime_error);
}

TEST(ClockRate, WhatIsNoClockIsAnError) {
  EXPECT_DOUBLE_EQ(clock_rate_mhz(396000, 200000), 1980);
  EXPECT_DOUBLE_EQ(clock_rate_mhz(3000, 200000), 15);  // slow, but a clock
  for (const auto& [cycles, nanoseconds] :
       {std::pair(0LL, 200000LL), std::pair(-396000LL, 200000LL),
        std::pair(396000LL, 0LL), std::pair(396000LL, -200000LL),
        std::pair(-396000LL, -200000LL), std::pair(1LL << 62, 200000LL)}) {
    EXPECT_THROW(clock_rate_mhz(cycles, nanoseconds), std::runtime_error)
        << cycles << " " << nanoseconds;
  }
}

std::string why_refused(const std::vector<WarpRecord>& records) {
  try {
    of_those_that_took_part(records);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(WarpRecords, ThoseThatCannotBeAreErrors) {
  EXPECT_EQ(
      of_those_that_took_part({{5, 9, 0}, {0, 0, 0}, {5, 5, 1023}}).size(), 2u);
  EXPECT_EQ(why_refused({}), "no warp took part");
  EXPECT_EQ(why_refused({{7, 0, 3}}), "no warp took part");
  EXPECT_EQ(why_refused({{5, 9, 0}, {9, 5, 0}}),
            "a warp ended at cycle 5 of its SM's clock, before it began at 9");
  EXPECT_EQ(why_refused({{5, 9, 1024}}),
            "a warp ran on SM number 1024, and GPUs have 1024 at most");
}

TEST(RepeatsWithin, KeepsToTheBudget) {
  EXPECT_EQ(repeats_within(2e6, 0), 128);
  EXPECT_EQ(repeats_within(2e6, 15000), 128);
  EXPECT_EQ(repeats_within(2e6, 16000), 64);
  EXPECT_EQ(repeats_within(2e6, 64000), 16);
  EXPECT_EQ(repeats_within(2e6, 1e9), 8);
}

TEST(Repeats, OfKernelFusion) {
  const auto lengths = [](bool queues, int gpus) {
    Point point;
    point.gpus = gpus;
    point.work_ns = unit_ns_of(gpus);
    choose_lengths(queues, point);
    return std::make_pair(point.lead, point.repeats);
  };
  EXPECT_EQ(lengths(true, 1), std::make_pair(0, 128));
  EXPECT_EQ(lengths(true, 2), std::make_pair(16, 48));
  EXPECT_EQ(lengths(true, 8), std::make_pair(16, 48));
  EXPECT_EQ(lengths(false, 2), std::make_pair(0, 32));
  EXPECT_EQ(lengths(false, 8), std::make_pair(0, 8));
}

// A barrier of `each` ns; starting and waiting costs 20,000 ns, each launch
// 1,000 and every second one 40 more.
class FakePoint {
 public:
  explicit FakePoint(double each) : each_(each) {}
  double run(int repeats, int count) {
    double total = 20000;
    for (int launch = 0; launch < count; ++launch) {
      launches.push_back(repeats);
      total += 1000 + repeats * each_ + (launches.size() % 2 == 0 ? 40 : 0);
    }
    return total;
  }
  std::vector<int> launches;

 private:
  double each_;
};

TEST(MeasureInterSm, Equations7And8) {
  FakePoint point(1000);
  const InterSmResult result = measure_inter_sm(point, 10, {16, 272, 2});
  EXPECT_NEAR(result.instruction.mean, 1000, 1e-6);
  EXPECT_NEAR(result.instruction.stddev, 0, 1e-6);
  EXPECT_DOUBLE_EQ(result.basic.mean, 10000 + 1020 + 1000.0 * 16);
  EXPECT_DOUBLE_EQ(result.more.mean, 10000 + 1020 + 1000.0 * 272);
  EXPECT_EQ(result.instruction.count, 10u);
}

TEST(MeasureInterSm, KeepsToItsPlan) {
  FakePoint point(700);
  measure_inter_sm(point, 2, {8, 64, 3});
  const std::vector<int> expected = {64, 64, 64,               // warm-up
                                     8,  8,  8,  64, 64, 64,   // a sample
                                     8,  8,  8,  64, 64, 64};  // another
  EXPECT_EQ(point.launches, expected);
}

TEST(MeasureInterSm, TheTwoLengthsAlternate) {
  FakePoint point(1000);  // basic and more meet the slow launches in turn
  const InterSmResult result = measure_inter_sm(point, 10, {16, 116, 1});
  EXPECT_DOUBLE_EQ(result.instruction.mean, 1000 - 40 / 100.0);
}

}  // namespace
}  // namespace syncbench
