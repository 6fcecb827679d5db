// A program that starts itself: what it reads, how it ends. Started by
// run_processes(), this program does what its first argument says.
#include "common/child_processes.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "common/errors.hpp"
#include "common/interrupt.hpp"

namespace {

bool killed_reaped = false;  // a group whose leader's number may be another's

}  // namespace

// In place of the C library's: looks at the group that is killed.
extern "C" int kill(pid_t pid, int signal) noexcept {
  siginfo_t info = {};
  if (pid < -1 &&
      waitid(P_PID, -pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
    killed_reaped = true;
  }
  return static_cast<int>(syscall(SYS_kill, pid, signal));
}

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
  EXPECT_FALSE(killed_reaped);
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
  std::signal(SIGINT, SIG_DFL);  // whoever runs the tests may ignore it
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

TEST(Marks, AreOfAnyProcessAbove) {
  setenv("MARK", ("a:b:" + std::to_string(getpid())).c_str(), 1);
  const pid_t between = fork();
  if (between == 0) {
    const pid_t below = fork();
    if (below == 0) _exit(marked("MARK") == "a:b" ? 0 : 1);
    int status = 1;
    waitpid(below, &status, 0);
    _exit(status != 0);
  }
  int status = 1;
  waitpid(between, &status, 0);
  EXPECT_EQ(status, 0);
  for (const std::string& value :
       {std::string("a"), std::string("a:"), "a:" + std::to_string(getpid()),
        "a: " + std::to_string(getppid())}) {
    setenv("MARK", value.c_str(), 1);
    EXPECT_THROW(marked("MARK"), UsageError) << value;
  }
  unsetenv("MARK");
  EXPECT_FALSE(marked("MARK"));
}

// The parent ends before end_with_parent() is called.
TEST(EndWithParent, SeesThatItIsGone) {
  int answer[2], gone[2];
  ASSERT_EQ(pipe(answer) + pipe(gone), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    setenv("SYNCBENCH_PROCESS", process_mark(0).substr(18).c_str(), 1);
    if (fork() != 0) _exit(0);
    char byte = 0;
    close(gone[1]);
    if (read(gone[0], &byte, 1) != 0) _exit(1);
    try {
      end_with_parent();
      byte = 's';  // it stays
    } catch (const UsageError&) {
      byte = 'e';
    }
    _exit(write(answer[1], &byte, 1) == 1 ? 0 : 1);
  }
  waitpid(parent, nullptr, 0);
  close(gone[0]);
  close(gone[1]);
  close(answer[1]);
  char byte = 0;
  EXPECT_EQ(read(answer[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'e');
  close(answer[0]);
}

}  // namespace
}  // namespace syncbench

int main(int argc, char** argv) {
  const int number = syncbench::process_number();
  if (number >= 0) return syncbench::be_child(argv[1], number);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
