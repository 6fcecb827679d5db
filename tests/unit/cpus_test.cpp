#include "common/cpus.hpp"

#include <gtest/gtest.h>

namespace syncbench {
namespace {

using Cpus = std::vector<int>;

TEST(CpuList, Kernel) {
  EXPECT_EQ(parse_cpu_list("0"), Cpus({0}));
  EXPECT_EQ(parse_cpu_list("0-3"), Cpus({0, 1, 2, 3}));
  EXPECT_EQ(parse_cpu_list("0-1,8,10-11\n"), Cpus({0, 1, 8, 10, 11}));
  EXPECT_EQ(parse_cpu_list("5-5"), Cpus({5}));
  EXPECT_EQ(parse_cpu_list(""), Cpus());
  EXPECT_EQ(parse_cpu_list("\n"), Cpus());
}

TEST(CpuList, Malformed) {
  for (const char* bad : {"a", "1-", "-1", "3-1", "1,", ",1", "1,,2", "1 2",
                          "1-2-3", "0x1", "99999999999", "0-1000000"}) {
    EXPECT_THROW(parse_cpu_list(bad), std::invalid_argument) << bad;
  }
}

TEST(CpuList, MoreCpusThanASetHolds) {
  EXPECT_EQ(parse_cpu_list("0-1791").size(), 1792u);
}

TEST(CpuList, UnreadableFileIsEmpty) {
  EXPECT_EQ(read_cpu_list("/nonexistent/cpulist"), Cpus());
  EXPECT_EQ(read_cpu_list("/proc/version"), Cpus());
}

Cpus no_siblings(int cpu) { return {cpu}; }
Cpus pairs(int cpu) { return {cpu, cpu ^ 1}; }

TEST(ChooseCpus, NearAndDistinct) {
  EXPECT_EQ(choose_cpus({{0, 1}, {2, 3}}, {0, 1, 2, 3}, no_siblings),
            Cpus({1, 3}));
  EXPECT_EQ(choose_cpus({{0, 1}, {0, 1}}, {0, 1, 2, 3}, no_siblings),
            Cpus({1, 0}));
}

TEST(ChooseCpus, PrefersAnotherCore) {
  EXPECT_EQ(choose_cpus({{0, 1, 2, 3}, {0, 1, 2, 3}}, {0, 1, 2, 3}, pairs),
            Cpus({3, 1}));
}

TEST(ChooseCpus, NearBeforeAnotherCore) {
  EXPECT_EQ(choose_cpus({{0, 1}, {0, 1}}, {0, 1, 2, 3}, pairs), Cpus({1, 0}));
}

TEST(ChooseCpus, OnlyAllowedOnes) {
  EXPECT_EQ(choose_cpus({{0, 1}, {2, 3}}, {1, 4}, no_siblings), Cpus({1, 4}));
}

TEST(ChooseCpus, FewerCpusThanGpus) {
  EXPECT_EQ(choose_cpus({{}, {}, {}}, {5}, no_siblings), Cpus({5, 5, 5}));
  EXPECT_EQ(choose_cpus({{}, {}, {}, {}}, {3, 4}, no_siblings),
            Cpus({4, 3, 4, 3}));
  EXPECT_EQ(choose_cpus({{0}}, {}, no_siblings), Cpus({-1}));
}

TEST(Pin, ThisThread) {
  const Cpus allowed = allowed_cpus();
  ASSERT_FALSE(allowed.empty());
  pin_this_thread(allowed.back());
  EXPECT_EQ(allowed_cpus(), Cpus({allowed.back()}));
  {
    const Unpinned unpinned;
    EXPECT_EQ(allowed_cpus(), allowed);
  }
  EXPECT_EQ(allowed_cpus(), Cpus({allowed.back()}));
}

}  // namespace
}  // namespace syncbench
