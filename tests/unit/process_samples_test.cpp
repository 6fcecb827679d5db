// Samples from several processes: their text, and what a row makes of them.
#include "common/process_samples.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace syncbench {
namespace {

TEST(SummarizeProcesses, SpreadBetweenProcessesIsInside) {
  // Each process is steady, they differ: 1 and 3, 5 and 7.
  const Summary summary = summarize_processes({{1, 3}, {5, 7}});
  EXPECT_DOUBLE_EQ(summary.mean, 4);
  EXPECT_DOUBLE_EQ(summary.median, 4);
  EXPECT_NEAR(summary.stddev, std::sqrt(20.0 / 3), 1e-12);
  EXPECT_EQ(summary.count, 4u);
  // Means 2 and 6: standard deviation sqrt(8), t of one degree of freedom.
  EXPECT_NEAR(summary.ci95, 12.7062 * std::sqrt(8.0) / std::sqrt(2.0), 1e-3);
}

TEST(SummarizeProcesses, OneProcessIsItsSamples) {
  const Summary alone = summarize_processes({{1, 2, 4, 5}});
  EXPECT_DOUBLE_EQ(alone.ci95, summarize({1, 2, 4, 5}).ci95);
}

TEST(DifferenceOfProcesses, LevelsOfTotalsThatMoveTogetherCancel) {
  const ProcessSamples longer = {{110, 110}, {230, 230}},
                       shorter = {{10, 10}, {110, 110}};
  const Summary result = difference_of_processes(longer, shorter, 10);
  EXPECT_DOUBLE_EQ(result.mean, 11);
  EXPECT_NEAR(result.ci95, 12.7062 * 1, 1e-3);  // of 10 and 12
  // Eq. 8 takes them for independent: too large, never too small.
  EXPECT_NEAR(result.stddev, std::sqrt((4800 + 10000 / 3.) / 100), 1e-9);
}

TEST(Records, AreReadBack) {
  const Samples samples = {{"one", {1.5, -3}},
                           {"other", {1234567890.25, kNan}}};
  const Record record = parse_record(
      record_text({3, {{"method", "a b=c"}}, {}, 1980.5, samples}));
  EXPECT_EQ(record.section, 3u);
  EXPECT_EQ(record.point, (Labels{{"method", "a b=c"}}));
  EXPECT_EQ(record.mhz, 1980.5);
  EXPECT_FALSE(record.skipped);
  ASSERT_EQ(record.samples.size(), 2u);
  EXPECT_EQ(record.samples.at("one"), samples.at("one"));
  ASSERT_EQ(record.samples.at("other").size(), 2u);
  EXPECT_EQ(record.samples.at("other")[0], 1234567890.25);
  EXPECT_TRUE(std::isnan(record.samples.at("other")[1]));
}

TEST(Records, NonsenseIsAnError) {
  for (const char* bad :
       {"", "something else", "mhz=1\tone 2", "section=x\tmhz=1\tone 2",
        "section=0\tone 2", "section=0\tmhz=1x\tone 2",
        "section=0\tmhz=1\tone 2x", "section=0\tskipped=tag",
        "section=0\tmhz=1", "section=0\tmhz=1\tone",
        "section=0\tmhz=1\tone 2\tother 2 3"}) {
    EXPECT_THROW(parse_record(bad), std::invalid_argument) << bad;
  }
}

}  // namespace
}  // namespace syncbench
