#include <gtest/gtest.h>

#include <cmath>

#include "reduction/rows.hpp"

namespace syncbench::reduction {
namespace {

TEST(RateSummary, IsOfTheTimeWithoutWhatTheEventsTake) {
  const Summary rate = rate_summary(1000, {7, 12}, 2);
  EXPECT_DOUBLE_EQ(rate.mean, (200 + 100) / 2.0);
  EXPECT_DOUBLE_EQ(rate_summary(1000, {5}).mean, 200);
}

TEST(RateSummary, IsOfNothingWhereTheEventsTakeAllOfTheTime) {
  EXPECT_TRUE(std::isnan(rate_summary(1000, {7, 2}, 2).mean));
  EXPECT_TRUE(std::isnan(rate_summary(1000, {7, 1}, 2).mean));
}

}  // namespace
}  // namespace syncbench::reduction
