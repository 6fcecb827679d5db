// The formulas of the measurements, on launches and points whose times are
// known.
#include <gtest/gtest.h>

#include "explicit_barrier/inter_sm.hpp"
#include "implicit_barrier/measure.hpp"

namespace syncbench {
namespace {

// A launch costs 1,000 ns and runs behind a kernel of `kernel_ns`; starting and
// waiting costs 5,000 ns once.
class FakeLaunch : public LaunchMethod {
 public:
  explicit FakeLaunch(double kernel_ns) : kernel_ns_(kernel_ns) {}
  LaunchTimes run(int repeats) override {
    ++calls;
    return {400.0 * repeats, 5000 + repeats * (1000 + kernel_ns_)};
  }
  double idle_wait_ns() override { return 700; }
  int calls = 0;

 private:
  double kernel_ns_;
};

TEST(MeasureLaunches, OneMoreLaunch) {
  FakeLaunch method(0);
  const LaunchPair pair = measure_launches(method, 128, 10);
  EXPECT_EQ(method.calls, 1 + 2 * 10);  // a warm-up, then both in turn
  EXPECT_EQ(pair.one.repeats, 1);
  EXPECT_EQ(pair.many.repeats, 128);
  EXPECT_DOUBLE_EQ(pair.one.total.mean, 6000);
  EXPECT_DOUBLE_EQ(pair.many.total.mean, 133000);
  EXPECT_DOUBLE_EQ(pair.many.launched.mean, 400 * 128);
  EXPECT_DOUBLE_EQ(pair.many.wait.mean, 700);
  EXPECT_DOUBLE_EQ(pair.many.additional.mean, 1000);  // not 133000 / 128
  EXPECT_TRUE(std::isnan(pair.one.additional.mean));
  EXPECT_GT(pair.one.clock.mean, 0);
  EXPECT_EQ(pair.many.total.count, 10u);
}

TEST(MeasureFusion, Equation6) {
  FakeLaunch single(10250), fused(16 * 10250);
  const FusionResult result = measure_fusion(single, fused, 16, 5);
  EXPECT_DOUBLE_EQ(result.unit.mean, 10250);
  EXPECT_DOUBLE_EQ(result.overhead.mean, 1000);
  EXPECT_EQ(result.overhead.count, 5u);
}

TEST(PilotLaunch, IsTheAdditionalLatency) {
  FakeLaunch method(0);
  EXPECT_DOUBLE_EQ(pilot_launch_ns(method), 1000);
}

TEST(RepeatsWithin, KeepsToTheBudget) {
  EXPECT_EQ(repeats_within(2e6, 0), 128);
  EXPECT_EQ(repeats_within(2e6, 15000), 128);
  EXPECT_EQ(repeats_within(2e6, 16000), 64);
  EXPECT_EQ(repeats_within(2e6, 64000), 16);
  EXPECT_EQ(repeats_within(2e6, 1e9), 8);
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
