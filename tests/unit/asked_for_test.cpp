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
  asked.measured("grid_sync");
  EXPECT_EQ(complaint(asked, {"grid_sync"}), "");
  EXPECT_EQ(complaint(asked, {}), "");
}

TEST(AskedFor, SkippedIsAnErrorIfNamed) {
  AskedFor asked;
  asked.measured("peer_grid_sync");
  asked.skipped("peer_grid_sync", "peer_grid_sync on 2 GPUs", "no peer access");
  EXPECT_EQ(complaint(asked, {"peer_grid_sync"}),
            "asked for and not measured: peer_grid_sync on 2 GPUs: no peer "
            "access");
  EXPECT_EQ(complaint(asked, {}), "");  // the default: what is possible
}

TEST(AskedFor, NoRowIsAnErrorIfNamed) {
  AskedFor asked;
  asked.measured("grid_sync");
  EXPECT_NE(complaint(asked, {"grid_sync", "multi_grid_sync"})
                .find("multi_grid_sync: no row"),
            std::string::npos);
}

}  // namespace
}  // namespace syncbench
