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

TEST(SamplesText, IsReadBack) {
  const NamedSamples samples = {{"a", {1.5, 1234567890.25}}, {"b.c", {-3}}};
  NamedSamples read;
  for (const std::string& word : split_tabs(samples_to_text(samples))) {
    add_samples(word, read);
  }
  EXPECT_EQ(read, samples);
}

TEST(SamplesText, NonsenseIsAnError) {
  NamedSamples samples;
  for (const char* bad : {"", "a", "a=", "a=1 x", "a=1 2x"}) {
    EXPECT_THROW(add_samples(bad, samples), std::invalid_argument) << bad;
  }
  EXPECT_TRUE(samples.empty());
}

}  // namespace
}  // namespace syncbench
