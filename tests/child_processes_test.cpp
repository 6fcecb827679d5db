// A program that starts itself: what it reads, how it ends. Started by
// run_processes(), this program does what its first argument says.
#include "common/child_processes.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "common/errors.hpp"
#include "common/interrupt.hpp"

namespace syncbench {
namespace {

int be_child(const std::string& task, int number) {
  end_with_parent();
  if (task == "lines") {
    std::printf("line one of %d\nand two\nthe rest", number);
    std::fprintf(stderr, "said by all\nsaid by %d\n", number);
    return 0;
  }
  if (task == "fail") {
    std::fprintf(stderr, "why\n");
    return number == 1 ? 3 : 0;
  }
  if (task == "die") raise(SIGKILL);
  if (task == "interrupt") {
    install_signal_handlers();
    kill(getppid(), SIGINT);
    for (int i = 0; i < 500 && pending_signal == 0; ++i) usleep(10000);
    return pending_signal == SIGINT ? 130 : 9;
  }
  std::printf("%d\n", getpid());  // "stay"
  std::fflush(stdout);
  sleep(60);
  return 0;
}

using Lines = std::vector<std::pair<int, std::string>>;

Lines run(const char* task, int count) {
  char* arguments[] = {const_cast<char*>("test"), const_cast<char*>(task),
                       nullptr};
  Lines lines;
  run_processes(arguments, count, [&](int number, const std::string& line) {
    lines.emplace_back(number, line);
  });
  return lines;
}

TEST(RunProcesses, PassesOnLinesInOrderAndMessagesOnce) {
  testing::internal::CaptureStderr();
  const Lines lines = run("lines", 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "said by all\nsaid by 0\nsaid by 1\n");
  const Lines expected = {{0, "line one of 0"}, {0, "and two"},
                          {0, "the rest"},      {1, "line one of 1"},
                          {1, "and two"},       {1, "the rest"}};
  EXPECT_EQ(lines, expected);
}

TEST(RunProcesses, FailureEndsAllWithItsCode) {
  testing::internal::CaptureStderr();
  try {
    run("fail", 5);
    ADD_FAILURE() << "no exception";
  } catch (const ChildFailed& failed) {
    EXPECT_EQ(failed.code, 3);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "why\n");
}

TEST(RunProcesses, DeathBySignalIsAFailure) {
  try {
    run("die", 2);
    ADD_FAILURE() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "process 1 of 2 was killed by signal 9");
  }
}

TEST(RunProcesses, SignalsArePassedOnOnce) {
  install_signal_handlers();
  try {
    run("interrupt", 2);
    ADD_FAILURE() << "no exception";
  } catch (const ChildFailed& failed) {
    EXPECT_EQ(failed.code, 130);
  }
  EXPECT_EQ(pending_signal, SIGINT);
  EXPECT_THROW(run("lines", 1), Interrupted);  // none is started any more
  pending_signal = 0;
}

TEST(RunProcesses, NoneOutlivesAnErrorOfTheReader) {
  char* arguments[] = {const_cast<char*>("test"), const_cast<char*>("stay"),
                       nullptr};
  pid_t child = 0;
  const auto fail = [&](int, const std::string& line) {
    child = std::stoi(line);
    throw OutputError("the disk is full");
  };
  EXPECT_THROW(run_processes(arguments, 1, fail), OutputError);
  EXPECT_GT(child, 0);
  EXPECT_EQ(kill(child, 0), -1);
}

}  // namespace
}  // namespace syncbench

int main(int argc, char** argv) {
  const int number = syncbench::process_number();
  if (number >= 0) return syncbench::be_child(argv[1], number);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
