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

TEST(SummarizeProcesses, IntervalDoesNotShrinkWithSamplesOfOneProcess) {
  ProcessSamples few = {{10, 10}, {12, 12}, {14, 14}}, many;
  for (const auto& samples : few) {
    many.emplace_back(1000, samples[0]);
  }
  EXPECT_DOUBLE_EQ(summarize_processes(few).ci95,
                   summarize_processes(many).ci95);
}

TEST(DifferenceOfProcesses, LevelsOfTotalsThatMoveTogetherCancel) {
  const ProcessSamples longer = {{110, 110}, {210, 210}},
                       shorter = {{10, 10}, {110, 110}};
  const Summary result = difference_of_processes(longer, shorter, 10);
  EXPECT_DOUBLE_EQ(result.mean, 10);
  EXPECT_DOUBLE_EQ(result.ci95, 0);  // 10 in each process
  // Eq. 8 takes them for independent: too large, never too small.
  const double spread = std::sqrt(40000.0 / 12);
  EXPECT_NEAR(result.stddev, std::sqrt(2.0) * spread * 2 / 20, 1e-9);
}

TEST(DifferenceOfProcesses, LevelsOfTheDifferenceAreInTheInterval) {
  const Summary result =
      difference_of_processes({{30, 30}, {50, 50}}, {{10, 10}, {10, 10}}, 10);
  EXPECT_DOUBLE_EQ(result.mean, 3);
  EXPECT_NEAR(result.ci95, 12.7062 * 1, 1e-3);  // of 2 and 4
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

TEST(Records, HaveSamplesOrAReason) {
  const Record record = parse_record(
      record_text({0, {{"gpus", "2"}}, {"tag n=1", "no such API"}}));
  EXPECT_EQ(record.skipped.tag, "tag n=1");
  EXPECT_EQ(record.skipped.text, "no such API");
  EXPECT_TRUE(record.samples.empty());
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

TEST(Measured, GivesOneQuantity) {
  Measured measured;
  measured.add({{"one", {1, 3}}, {"other", {2, 4}}}, 1000);
  measured.add({{"one", {5, 7}}, {"other", {6, 8}}}, 2000);
  EXPECT_EQ(measured.of("other"), (ProcessSamples{{2, 4}, {6, 8}}));
  EXPECT_THROW(measured.of("no such"), std::out_of_range);
}

}  // namespace
}  // namespace syncbench
