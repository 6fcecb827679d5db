#include "common/noise.hpp"

#include <gtest/gtest.h>

namespace syncbench {
namespace {

TEST(ClockWatch, TellsAMoveOnce) {
  ClockWatch watch;
  watch.begin(1980);
  EXPECT_EQ(watch.check(1980), "");
  EXPECT_EQ(watch.check(1965), "");  // 0.8%
  EXPECT_NE(watch.check(1900).find("from 1980 to 1900 MHz"), std::string::npos);
  EXPECT_EQ(watch.check(1900), "");
  EXPECT_NE(watch.check(1980), "");
}

TEST(ClockWatch, SlowDriftsAddUp) {
  ClockWatch watch;
  watch.begin(2000);
  EXPECT_EQ(watch.check(1990), "");
  EXPECT_EQ(watch.check(1982), "");
  EXPECT_NE(watch.check(1979), "");
}

Summary with_spread(double percent) {
  Summary summary;
  summary.mean = 1000;
  summary.stddev = 10 * percent;
  return summary;
}

TEST(SpreadWatch, TellsTheOddRow) {
  SpreadWatch watch;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(watch.check(with_spread(0.2)), "");
  EXPECT_NE(watch.check(with_spread(3)).find("3.00% of the mean"),
            std::string::npos);
  EXPECT_EQ(watch.check(with_spread(0.2)), "");
}

TEST(SpreadWatch, HarmlessOrUsualSpreadsAreNotTold) {
  SpreadWatch watch;
  for (int i = 0; i < 5; ++i) watch.check(with_spread(0.01));
  EXPECT_EQ(watch.check(with_spread(0.9)), "");  // 90 times, but below 1%
  SpreadWatch noisy;
  for (int i = 0; i < 5; ++i) noisy.check(with_spread(2));
  EXPECT_EQ(noisy.check(with_spread(8)), "");  // 4 times
  EXPECT_NE(noisy.check(with_spread(11)), "");
}

TEST(SpreadWatch, NeedsNeighbours) {
  SpreadWatch watch;
  EXPECT_EQ(watch.check(with_spread(50)), "");
  EXPECT_EQ(watch.check(with_spread(0.1)), "");
  EXPECT_EQ(watch.check(Summary{}), "");  // one sample: no spread
}

TEST(SpreadWatch, SectionsStartAfresh) {
  SpreadWatch watch;
  for (int i = 0; i < 5; ++i) watch.check(with_spread(0.1));
  watch.begin();
  EXPECT_EQ(watch.check(with_spread(20)), "");
}

}  // namespace
}  // namespace syncbench
