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

// A barrier of `each` ns, and every second kernel slower by a part `wander`.
class FakePoint {
 public:
  static constexpr int kMultiple = 8;
  explicit FakePoint(double each, double wander = 0)
      : each_(each), wander_(wander) {}
  double run(int repeats) {
    EXPECT_EQ(repeats % kMultiple, 0);
    longest = std::max(longest, repeats);
    slow_ = !slow_;
    return 20000 + repeats * each_ * (slow_ ? 1 + wander_ : 1);
  }
  int longest = 0;

 private:
  double each_, wander_;
  bool slow_ = false;
};

constexpr SamplingBudget kBudget = {2.8e6, 10};

TEST(MeasureInterSm, Equations7And8) {
  FakePoint point(1000);
  const InterSmResult result = measure_inter_sm(point, 10, kBudget);
  EXPECT_NEAR(result.instruction.mean, 1000, 1e-6);
  EXPECT_NEAR(result.instruction.stddev, 0, 1e-6);
  EXPECT_DOUBLE_EQ(result.basic.mean, 20000 + 1000.0 * result.plan.basic);
  EXPECT_EQ(result.instruction.count, 10u);
  EXPECT_EQ(result.plan.more_launches, 1);
  EXPECT_EQ(point.longest, result.plan.more);
}

TEST(MeasureInterSm, TimeNotCountIsFixed) {
  for (const double each : {700.0, 1000.0, 9000.0, 30000.0}) {
    FakePoint point(each);
    const SamplingPlan plan = choose_plan(point, kBudget);
    const double took = (plan.more - plan.basic) * each;
    EXPECT_GE(took, 2.8e6) << each;
    EXPECT_LE(took, 2.8e6 * 1.5) << each;
    EXPECT_GT(plan.basic, 0);
  }
}

TEST(MeasureInterSm, WanderingBarriersGetManyShortLaunches) {
  FakePoint steady(1000, 0.001), wandering(1000, 0.01);
  EXPECT_EQ(choose_plan(steady, kBudget).more_launches, 1);
  const SamplingPlan plan = choose_plan(wandering, kBudget);
  EXPECT_EQ(plan.more_launches, 10);
  EXPECT_LT((plan.more - plan.basic) * 1000.0, 1.4e6);
  EXPECT_EQ(choose_plan(wandering, {2.8e6, 1}).more_launches, 1);
  const InterSmResult result = measure_inter_sm(wandering, 20, kBudget);
  EXPECT_NEAR(result.instruction.mean, 1005, 1);
  EXPECT_LT(result.instruction.stddev / result.instruction.mean, 0.002);
}

TEST(BasicFor, WholeTrips) {
  EXPECT_EQ(basic_for(64, 1), 2);
  EXPECT_EQ(basic_for(64, 8), 8);
  EXPECT_EQ(basic_for(256, 8), 8);
  EXPECT_EQ(basic_for(320, 8), 16);
}

TEST(StepsFor, PowersOfTwoAndHalfBetween) {
  EXPECT_EQ(steps_for(1, 1000), 64);
  EXPECT_EQ(steps_for(96000, 1000), 96);
  EXPECT_EQ(steps_for(97000, 1000), 128);
  EXPECT_EQ(steps_for(2.8e6, 1000), 3072);
  EXPECT_EQ(steps_for(1e30, 1), 1 << 20);
}

}  // namespace
}  // namespace syncbench
