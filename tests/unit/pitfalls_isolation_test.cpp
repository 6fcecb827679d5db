// What the parent of Pitfalls does with processes that hang, crash, flood or
// will not die. Started by run_isolated(), this program does what its first
// argument says.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "common/child_processes.hpp"
#include "common/errors.hpp"
#include "common/interrupt.hpp"
#include "pitfalls/isolation.hpp"
#include "pitfalls/outcome.hpp"

namespace syncbench::pitfalls {
namespace {

using std::chrono::milliseconds;

// It comes with what follows, however slow this process is.
void say(const std::string& line) { std::printf("%s\n", line.c_str()); }

constexpr milliseconds kProgress(300);

// Patient with a slow machine.
Limits limits(milliseconds progress = std::chrono::minutes(10)) {
  Limits limits;
  limits.start = limits.death = std::chrono::minutes(10);
  limits.progress = progress;
  return limits;
}

int be_child(const std::string& task) {
  constexpr int kTooMuch = 1 << 20;  // lines, or texts
  alarm(600);                        // where nobody ends it
  end_with_parent();
  if (task == "exit") return std::atoi(std::getenv("STAND_IN_CODE"));
  if (task == "hang") return pause();
  if (task == "orphan") {
    kill(getppid(), SIGUSR1);
    return pause();
  }
  if (task == "parent") {  // of one that hangs, from when this launches on
    signal(SIGUSR1, [](int) { (void)!write(1, "launch\n", 7); });
    char* arguments[] = {const_cast<char*>("test"), const_cast<char*>("orphan"),
                         nullptr};
    run_isolated(arguments, {process_mark(0)}, limits());
  }
  if (task == "deaf") {
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) signal(number, SIG_IGN);
  }
  say(kReadyLine);
  say(kLaunchLine);
  if (task == "right") {
    say(kLaunchLine);
    say("result\tcompleted\t10");
    std::fprintf(stderr, "by the way\n");
  } else if (task == "error") {
    say("note\twhich GPU");
    say("error\tcudaErrorLaunchFailure");
  } else if (task == "slow_end") {
    say("result\tcompleted");
    std::fflush(stdout);
    usleep(600000);
  } else if (task == "stuck" || task == "deaf") {
    std::fflush(stdout);
    for (;;) pause();
  } else if (task == "crash") {
    std::fflush(stdout);
    abort();
  } else if (task == "flood") {
    for (int i = 0; i < kTooMuch; ++i) say("row\t1\t2\t3");
  } else if (task == "one_line") {
    for (int i = 0; i < kTooMuch; ++i) std::fputs("no end", stderr);
  } else if (task == "family") {  // its own child keeps the pipes open
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) return alarm(600), pause();
    say("result\tcompleted");
  } else if (task == "quiet") {
    fclose(stdout);
    fclose(stderr);
    for (;;) pause();
  }
  return 0;
}

ProcessReport run(const char* task, const Limits& given = limits(),
                  const std::string& mark = "STAND_IN_CODE=0") {
  char* arguments[] = {const_cast<char*>("test"), const_cast<char*>(task),
                       nullptr};
  return run_isolated(arguments, {process_mark(0), mark}, given);
}

std::string outcome(const char* task,
                    milliseconds progress = limits().progress) {
  return outcome_of(run(task, limits(progress)), limits(progress)).text;
}

// Waits for a process whose parent has ended; the signal that ended it.
int signal_of_orphan() {
  int status = 0;
  EXPECT_GT(waitpid(-1, &status, 0), 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(RunIsolated, LinesLaunchesAndMessages) {
  const ProcessReport report = run("right");
  EXPECT_TRUE(report.ended_well());
  EXPECT_TRUE(report.ready);
  EXPECT_EQ(report.launches, 2);
  EXPECT_EQ(report.lines, std::vector<std::string>{"result\tcompleted\t10"});
  EXPECT_EQ(report.errors, "by the way\n");
  const Outcome outcome = outcome_of(report, limits());
  EXPECT_EQ(outcome.text, "completed");
  EXPECT_EQ(outcome.cells, (std::vector<std::string>{"completed", "10"}));
}

TEST(RunIsolated, EveryExitCode) {
  for (int code = 0; code < 256; ++code) {
    const ProcessReport report =
        run("exit", limits(), "STAND_IN_CODE=" + std::to_string(code));
    EXPECT_EQ(report.text(limits()), "exit code " + std::to_string(code));
    EXPECT_EQ(report.ended_well(), code == 0);
    EXPECT_FALSE(report.ready);
  }
}

TEST(RunIsolated, WhatHangsIsKilled) {
  EXPECT_EQ(outcome("stuck", kProgress), "no progress within 0.3 s");
  EXPECT_EQ(outcome("deaf", kProgress), "no progress within 0.3 s");
  EXPECT_EQ(outcome("quiet", kProgress), "no progress within 0.3 s");
}

TEST(RunIsolated, WhatNeverLaunchesIsKilled) {
  Limits impatient = limits();
  impatient.start = kProgress;
  const ProcessReport report = run("hang", impatient);
  EXPECT_EQ(report.end, End::kNoStart);
  EXPECT_EQ(report.text(impatient), "nothing launched within 0.3 s");
}

TEST(RunIsolated, ProgressIsNotMeantOfWhatFollowsAResult) {
  EXPECT_EQ(outcome("slow_end", kProgress), "completed");
}

TEST(RunIsolated, ErrorsAndCrashesHaveNames) {
  EXPECT_EQ(outcome("error"), "error cudaErrorLaunchFailure");
  EXPECT_EQ(outcome("crash"), "error signal 6");
}

TEST(RunIsolated, FloodsAreCut) {
  for (const char* task : {"flood", "one_line"}) {
    const ProcessReport report = run(task);
    EXPECT_EQ(report.end, End::kFlood);
    EXPECT_EQ(report.text(limits()), "more than 1048576 bytes written");
  }
}

TEST(RunIsolated, ItsOwnChildrenEndWithIt) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  EXPECT_TRUE(run("family").ended_well());
  EXPECT_EQ(signal_of_orphan(), SIGKILL);
}

TEST(RunIsolated, ItEndsWithItsParent) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  EXPECT_EQ(run("parent", limits(kProgress)).end,
            End::kNoProgress);  // and killed
  EXPECT_EQ(signal_of_orphan(), SIGKILL);
}

TEST(RunIsolated, OneThatCannotBeKilledIsAnError) {
  Limits gentle = limits(kProgress);
  gentle.kill_signal = SIGTERM;
  gentle.death = milliseconds(100);
  try {
    run("deaf", gentle);
    ADD_FAILURE() << "no exception";
  } catch (const std::runtime_error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("has not ended 0.1 s after it was killed"),
              std::string::npos)
        << text;
    const pid_t child = std::stoi(text.substr(text.find(' ')));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

TEST(RunIsolated, ASignalEndsTheProcessAtOnce) {
  signal(SIGINT, SIG_DFL);  // whoever runs the tests may ignore it
  install_signal_handlers();
  std::thread sender([] {
    usleep(100000);
    kill(getpid(), SIGINT);
  });
  EXPECT_THROW(run("hang"), Interrupted);
  sender.join();
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);  // it is not there any more
  EXPECT_THROW(run("right"), Interrupted);       // none is started any more
  pending_signal = 0;
}

TEST(Outcome, LinesOfNoCaseAreRefused) {
  ProcessReport report;
  report.launches = 1;
  for (const char* line : {"hello", "hello\tthere", ""}) {
    report.lines = {line};
    EXPECT_THROW(outcome_of(report, limits()), std::runtime_error) << line;
  }
}

}  // namespace
}  // namespace syncbench::pitfalls

int main(int argc, char** argv) {
  if (syncbench::process_number() >= 0)
    return syncbench::pitfalls::be_child(argv[1]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
