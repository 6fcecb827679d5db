// The model of section VII-A against the study's own Tables III and IV.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "reduction/model.hpp"
#include "reduction/rows.hpp"

namespace syncbench::reduction {
namespace {

// Of Tables III and IV: latency, rates and the cost of five synchronizations.
constexpr Choice kV100Warp = {13.0, 0.62, 19.6, 110};
constexpr Choice kV100Block = {13.0, 19.6, 215, 420};
constexpr Choice kP100Warp = {18.5, 0.43, 13.8, 155};
constexpr Choice kP100Block = {18.5, 13.8, 141, 2135};

// The tables' rates have two or three digits.
void expect_close(double found, double printed) {
  EXPECT_NEAR(found / printed, 1, 0.02) << found << " for " << printed;
}

TEST(RateSummary, IsOfTheTimeWithoutWhatTheEventsTake) {
  const Summary rate = rate_summary(1000, {7, 12}, 2);
  EXPECT_DOUBLE_EQ(rate.mean, (200 + 100) / 2.0);
  EXPECT_DOUBLE_EQ(rate_summary(1000, {5}).mean, 200);
}

TEST(RateSummary, IsOfNothingWhereTheEventsTakeAllOfTheTime) {
  EXPECT_TRUE(std::isnan(rate_summary(1000, {7, 2}, 2).mean));
  EXPECT_TRUE(std::isnan(rate_summary(1000, {7, 1}, 2).mean));
}

TEST(Concurrency, TableIII) {
  expect_close(concurrency(13.0, 0.62), 8);
  expect_close(concurrency(13.0, 19.6), 256);
  expect_close(concurrency(13.0, 215), 2796);
  expect_close(concurrency(18.5, 0.43), 8);
  expect_close(concurrency(18.5, 13.8), 256);
  expect_close(concurrency(18.5, 141), 2615);
}

TEST(SwitchPoints, TableIV) {
  expect_close(large_switch(kV100Warp), 70);
  expect_close(medium_switch(kV100Warp), 76);
  expect_close(large_switch(kV100Block), 9076);
  expect_close(medium_switch(kV100Block), 8501);
  expect_close(large_switch(kP100Warp), 70);
  expect_close(medium_switch(kP100Warp), 75);
  expect_close(large_switch(kP100Block), 32681);
  expect_close(medium_switch(kP100Block), 29737);
}

TEST(SwitchPoints, WhichOfThemApplies) {
  // 76 B are less than the 256 B that a warp has in flight, 9,076 B more than
  // the 2,796 B of a block.
  EXPECT_EQ(predicted_switch(kV100Warp).which, SwitchCase::kMedium);
  expect_close(predicted_switch(kV100Warp).bytes, 76);
  EXPECT_EQ(predicted_switch(kP100Warp).which, SwitchCase::kMedium);
  EXPECT_EQ(predicted_switch(kV100Block).which, SwitchCase::kLarge);
  expect_close(predicted_switch(kV100Block).bytes, 9076);
  EXPECT_EQ(predicted_switch(kP100Block).which, SwitchCase::kLarge);
}

TEST(SwitchPoints, AreWhereBothSidesOfEquation2Meet) {
  for (const Choice& choice :
       {kV100Warp, kV100Block, kP100Warp, kP100Block, Choice{10, 1, 2, 3},
        Choice{10, 1, 1.01, 100}, Choice{10, 1, 1000, 1}}) {
    const double bytes = predicted_switch(choice).bytes;
    EXPECT_NEAR(basic_cycles(choice, bytes), more_cycles(choice, bytes), 1e-6);
    EXPECT_LT(basic_cycles(choice, 0.99 * bytes),
              more_cycles(choice, 0.99 * bytes));
    EXPECT_GT(basic_cycles(choice, 1.01 * bytes),
              more_cycles(choice, 1.01 * bytes));
  }
}

TEST(SwitchPoints, UpToTheConcurrencyOfFewThreadsTheyAreFaster) {
  for (const double bytes : {0., 1., 8.}) {
    EXPECT_DOUBLE_EQ(basic_cycles(kV100Warp, bytes), 13);
    EXPECT_DOUBLE_EQ(more_cycles(kV100Warp, bytes), 123);
  }
  EXPECT_NEAR(basic_cycles(kV100Warp, 8.06 + 62), 113, 1e-9);
  EXPECT_NEAR(more_cycles(kV100Warp, 254.8 + 196), 133, 1e-9);
}

TEST(SwitchPoints, WhatCostsNothingPaysFromTheConcurrencyOn) {
  const Switch found = predicted_switch({10, 2, 4, 0});
  EXPECT_EQ(found.which, SwitchCase::kMedium);
  EXPECT_DOUBLE_EQ(found.bytes, 20);
}

TEST(SwitchPoints, NoMoreThroughputNeverPays) {
  for (const double rate : {19.6, 19.5, 1e-9}) {
    const Switch found = predicted_switch({13, 19.6, rate, 110});
    EXPECT_EQ(found.which, SwitchCase::kNever);
    EXPECT_TRUE(std::isnan(found.bytes));
    EXPECT_TRUE(std::isnan(large_switch({13, 19.6, rate, 110})));
  }
}

TEST(SwitchPoints, WhatCannotBeIsAnError) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  for (const Choice& choice :
       {Choice{0, 1, 2, 3}, Choice{1, 0, 2, 3}, Choice{1, 1, -2, 3},
        Choice{1, 1, 2, -3}, Choice{kNone, 1, 2, 3}, Choice{1, kNone, 2, 3},
        Choice{1, 1, kInfinite, 3}, Choice{1, 1, 2, kNone}}) {
    EXPECT_THROW(predicted_switch(choice), std::invalid_argument);
  }
}

}  // namespace
}  // namespace syncbench::reduction
