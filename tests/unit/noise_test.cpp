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

TEST(SpreadWatch, TellsOddAndLargeSpreads) {
  // Standard deviations of rows "0", "1", ... in percent, and which are told.
  const std::pair<std::vector<double>, std::string> cases[] = {
      {{0.2, 0.2, 0.2, 1.5, 0.2, 0.2}, "3"},
      {{1.5, 0.2, 0.2, 0.2}, "0"},  // the first
      {{0.2, 0.2, 0.2, 1.5}, "3"},  // the last
      // Where the spread grows with the shape, no row is odd.
      {{0.1, 0.1, 0.1, 1.1, 1.2, 1.4, 1.6, 1.6}, ""},
      {{1.9, 2.1, 1.9, 1.8}, "1"},  // much, whatever the neighbours
      {{5, 5, 5}, "012"},
      {{2.5}, "0"},
      {{0.01, 0.01, 0.9, 0.01, 0.01}, ""},  // harmless, although 90 times
      {{0.5, 0.5, 1.4, 0.5, 0.5}, ""},      // not 3 times
      {{1.5}, ""},
      {{kNan}, ""}};  // of one sample
  SpreadWatch watch;
  for (const auto& [percents, expected] : cases) {
    for (std::size_t i = 0; i < percents.size(); ++i) {
      Summary summary;
      summary.mean = 1000;
      summary.stddev = 10 * percents[i];
      watch.add(std::to_string(i), summary);
    }
    std::string told;
    for (const auto& [key, remark] : watch.finish()) told += key;
    EXPECT_EQ(told, expected);
  }
}

}  // namespace
}  // namespace syncbench
