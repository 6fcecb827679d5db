// The formulas of the measurements, on launches and points whose times are
// known.
#include <gtest/gtest.h>

#include <cmath>

#include "common/sm_clock.hpp"
#include "explicit_barrier/inter_sm.hpp"
#include "explicit_barrier/sm_windows.hpp"
#include "implicit_barrier/held_launch.hpp"
#include "implicit_barrier/point.hpp"

namespace syncbench {

using namespace explicit_barrier;
using namespace implicit_barrier;
namespace {

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

TEST(MeasureInterSm, KeepsToItsPlan) {
  std::vector<int> launches;
  const auto run = [&launches](int repeats, int count) {
    launches.insert(launches.end(), count, repeats);
    return 1.;
  };
  sample_inter_sm(run, 2, {8, 64, 3});
  const std::vector<int> expected = {64, 64, 64,               // warm-up
                                     8,  8,  8,  64, 64, 64,   // a sample
                                     8,  8,  8,  64, 64, 64};  // another
  EXPECT_EQ(launches, expected);
}

}  // namespace
}  // namespace syncbench
