#include "common/asked_for.hpp"

#include <gtest/gtest.h>

namespace syncbench {
namespace {

std::string complaint(const AskedFor& asked,
                      const std::vector<std::string>& methods) {
  try {
    asked.check(methods);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(AskedFor, MeasuredIsWell) {
  AskedFor asked;
  asked.measured("grid_sync on 1, 2 per SM x 32");
  EXPECT_EQ(complaint(asked, {"grid_sync"}), "");
  EXPECT_EQ(complaint(asked, {}), "");
}

TEST(AskedFor, SkippedIsAnErrorIfNamed) {
  AskedFor asked;
  asked.measured("peer_grid_sync on 1, 1 per SM x 32");
  asked.skipped("peer_grid_sync on 2 GPUs", "no peer access");
  EXPECT_EQ(complaint(asked, {"peer_grid_sync"}),
            "asked for and not measured: peer_grid_sync on 2 GPUs: no peer "
            "access");
  EXPECT_EQ(complaint(asked, {}), "");  // the default: what is possible
}

TEST(AskedFor, TellsTheFirstOfAReason) {
  AskedFor asked;
  EXPECT_TRUE(asked.skipped("cluster_sync latency 32/2", "needs CUDA 12"));
  EXPECT_FALSE(asked.skipped("cluster_sync latency 64/2", "needs CUDA 12"));
  EXPECT_TRUE(asked.skipped("cluster_sync latency 64/16", "does not fit"));
  EXPECT_TRUE(asked.skipped("bulk_copy latency 32/16", "needs CUDA 12"));
}

TEST(AskedFor, NoRowIsAnErrorIfNamed) {
  AskedFor asked;
  asked.measured("grid_sync on 1, 1 per SM x 32");
  EXPECT_NE(complaint(asked, {"grid_sync", "multi_grid_sync"})
                .find("multi_grid_sync: no row"),
            std::string::npos);
}

}  // namespace
}  // namespace syncbench
