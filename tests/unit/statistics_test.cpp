#include "common/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace syncbench {
namespace {

TEST(Summarize, HandComputed) {
  const Summary s = summarize({9, 4, 2, 5, 4, 7, 4, 5});
  EXPECT_EQ(s.count, 8u);
  EXPECT_DOUBLE_EQ(s.mean, 5);
  EXPECT_DOUBLE_EQ(s.stddev, std::sqrt(32.0 / 7));
  EXPECT_DOUBLE_EQ(s.median, 4.5);
  // t(0.975, 7) = 2.3646
  EXPECT_NEAR(s.ci95, 2.3646 * std::sqrt(32.0 / 7) / std::sqrt(8.0), 2e-3);
}

TEST(Summarize, OneSampleHasNoSpread) {
  const Summary s = summarize({42});
  EXPECT_EQ(s.count, 1u);
  EXPECT_EQ(s.mean, 42);
  EXPECT_EQ(s.median, 42);
  EXPECT_TRUE(std::isnan(s.stddev));
  EXPECT_TRUE(std::isnan(s.ci95));
}

TEST(Summarize, ConstantSamples) {
  const Summary s = summarize(std::vector<double>(1000, 0.1));
  EXPECT_EQ(s.mean, 0.1);
  EXPECT_EQ(s.stddev, 0);
  EXPECT_EQ(s.median, 0.1);
  EXPECT_EQ(s.ci95, 0);
}

TEST(Summarize, HugeOffsetTinySpread) {
  // The textbook formula, mean of squares minus square of mean, gives 0 here.
  const double offset = 1e15;
  const Summary s = summarize({offset + 1, offset + 2, offset + 3, offset + 4});
  EXPECT_DOUBLE_EQ(s.mean, offset + 2.5);
  EXPECT_NEAR(s.stddev, std::sqrt(5.0 / 3), 1e-9);
}

TEST(Summarize, RefusesWhatIsNoMeasurement) {
  EXPECT_THROW(summarize({}), std::invalid_argument);
  EXPECT_THROW(summarize({1, kNan, 2}), std::invalid_argument);
  EXPECT_THROW(summarize({1, INFINITY}), std::invalid_argument);
  EXPECT_THROW(summarize({-INFINITY}), std::invalid_argument);
}

TEST(StudentT, KnownQuantiles) {
  const auto expect = [](double freedom, double quantile) {
    EXPECT_NEAR(student_t_975(freedom) / quantile, 1, 1e-4) << freedom;
  };
  expect(1, 12.7062);
  expect(2, 4.30265);
  expect(3, 3.18245);
  expect(4, 2.77645);
  expect(5, 2.57058);
  expect(10, 2.22814);
  expect(30, 2.04227);
  expect(99, 1.98422);
  expect(1e9, 1.95996);
  // Not whole: Welch's freedom is none; by scipy.stats.t.ppf(0.975, freedom).
  expect(1.05, 11.3619);
  expect(1.5, 6.01666);
  expect(1.99, 4.32344);
  expect(2.5, 3.57465);
  expect(3.7, 2.86752);
  expect(4.9, 2.58644);
  expect(12.3, 2.17293);
  EXPECT_TRUE(std::isnan(student_t_975(0)));
  EXPECT_TRUE(std::isnan(student_t_975(kNan)));
}

TEST(Difference, Equations7And8) {
  Summary longer, shorter;
  longer.mean = 1100, longer.stddev = 3, longer.median = 1090,
  longer.count = 50;
  shorter.mean = 100, shorter.stddev = 4, shorter.median = 95;
  shorter.count = 100;
  const Summary each = difference(longer, shorter, 10);
  EXPECT_DOUBLE_EQ(each.mean, 100);
  EXPECT_DOUBLE_EQ(each.median, 99.5);
  EXPECT_DOUBLE_EQ(each.stddev, 0.5);  // sqrt(9 + 16) / 10
  EXPECT_EQ(each.count, 50u);
  // Welch: variance 9/50 + 16/100 = 0.34, 124.97 degrees of freedom, t = 1.979
  EXPECT_NEAR(each.ci95, 1.979 * std::sqrt(0.34) / 10, 1e-4);
}

TEST(Difference, OfConstantTotalsIsExact) {
  const Summary each =
      difference(summarize({200, 200}), summarize({72, 72}), 64);
  EXPECT_EQ(each.mean, 2);
  EXPECT_EQ(each.stddev, 0);
  EXPECT_EQ(each.ci95, 0);
}

TEST(Per, ScalesEverything) {
  const Summary each = per(summarize({2, 4}), 2);
  EXPECT_EQ(each.mean, 1.5);
  EXPECT_EQ(each.median, 1.5);
  EXPECT_DOUBLE_EQ(each.stddev, std::sqrt(2.0) / 2);
  EXPECT_DOUBLE_EQ(each.ci95, summarize({2, 4}).ci95 / 2);
  EXPECT_EQ(each.count, 2u);
}

}  // namespace
}  // namespace syncbench
