#include "common/noise.hpp"

#include <gtest/gtest.h>

namespace syncbench {
namespace {

TEST(ClockWatch, TellsAMoveOnce) {
  ClockWatch watch;
  watch.begin(1980);
  EXPECT_FALSE(watch.check(1980));
  EXPECT_FALSE(watch.check(1965));  // 0.8%
  EXPECT_EQ(watch.check(1900).tag, "clock from=1980 to=1900");
  EXPECT_FALSE(watch.check(1900));
  EXPECT_TRUE(watch.check(1980));
}

TEST(ClockWatch, SlowDriftsAddUp) {
  ClockWatch watch;
  watch.begin(2000);
  EXPECT_FALSE(watch.check(1990));
  EXPECT_FALSE(watch.check(1982));
  EXPECT_TRUE(watch.check(1979));
}

// The warnings about rows with these spreads in percent, of the keys "0", ...
std::vector<std::pair<std::string, Remark>> warnings_of(
    const std::vector<double>& percents) {
  SpreadWatch watch;
  for (std::size_t i = 0; i < percents.size(); ++i) {
    Summary summary;
    summary.mean = 1000;
    summary.stddev = 10 * percents[i];
    watch.add(std::to_string(i), summary);
  }
  return watch.finish();
}

TEST(WideInterval, IsOfMoreThanATenth) {
  Summary summary;
  EXPECT_FALSE(wide_interval(summary));  // nan
  summary.mean = -5;
  summary.ci95 = 0.5;
  EXPECT_FALSE(wide_interval(summary));
  summary.ci95 = 0.51;
  EXPECT_TRUE(wide_interval(summary));
  summary.ci95 = 2.6;
  EXPECT_EQ(wide_interval(summary).tag, "interval percent=52");
}

TEST(SpreadWatch, TellsTheOddRowByName) {
  const auto warnings = warnings_of({0.2, 0.2, 0.2, 1.5, 0.2, 0.2});
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].first, "3");
  EXPECT_EQ(warnings[0].second.tag, "spread percent=1.50");
  EXPECT_NE(warnings[0].second.text.find("neighbours is 0.20%"),
            std::string::npos);
}

TEST(SpreadWatch, LooksAtBothSides) {
  EXPECT_EQ(warnings_of({1.5, 0.2, 0.2, 0.2}).size(), 1u);  // the first
  EXPECT_EQ(warnings_of({0.2, 0.2, 0.2, 1.5}).size(), 1u);  // the last
  // Where the spread grows with the shape, no row is odd.
  EXPECT_TRUE(warnings_of({0.1, 0.1, 0.1, 1.1, 1.2, 1.4, 1.6, 1.6}).empty());
}

TEST(SpreadWatch, MuchIsToldWhateverTheNeighbours) {
  EXPECT_EQ(warnings_of({1.9, 2.1, 1.9, 1.8}).size(), 1u);
  EXPECT_EQ(warnings_of({5, 5, 5}).size(), 3u);
  const auto alone = warnings_of({2.5});
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_EQ(alone[0].second.tag, "spread percent=2.50");
}

TEST(SpreadWatch, HarmlessOrUsualSpreadsAreNotTold) {
  EXPECT_TRUE(warnings_of({0.01, 0.01, 0.9, 0.01, 0.01}).empty());  // 90 times
  EXPECT_TRUE(warnings_of({0.5, 0.5, 1.4, 0.5, 0.5}).empty());  // not 3 times
  EXPECT_TRUE(warnings_of({1.5}).empty());
}

TEST(SpreadWatch, OneSampleHasNoSpread) {
  SpreadWatch watch;
  watch.add("single", Summary{});
  EXPECT_TRUE(watch.finish().empty());
}

TEST(SpreadWatch, MethodsStartAfresh) {
  SpreadWatch watch;
  Summary odd;
  odd.mean = 1000;
  odd.stddev = 30;
  watch.add("odd", odd);
  EXPECT_EQ(watch.finish().size(), 1u);
  EXPECT_TRUE(watch.finish().empty());
}

}  // namespace
}  // namespace syncbench
