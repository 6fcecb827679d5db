// The parent of Pitfalls with processes that only pretend to use a GPU, and
// hang, crash, flood or will not die: what it makes of what the golden rows do
// not have. Started by it, this program does what the name of its case says.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <thread>

#include "common/child_processes.hpp"
#include "common/errors.hpp"
#include "common/interrupt.hpp"
#include "pitfalls/run.hpp"

namespace syncbench::pitfalls {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kProgress(300);
char* arguments[] = {const_cast<char*>("test"), nullptr};

// Patient with a slow machine.
Limits limits(milliseconds progress = std::chrono::minutes(10)) {
  Limits limits;
  limits.start = limits.death = std::chrono::minutes(10);
  limits.progress = progress;
  return limits;
}

// It comes with what follows, however slow this process is.
void say(const std::string& line) { std::printf("%s\n", line.c_str()); }

// What processes say behind "ready" and "launch"; others "result completed".
const std::map<std::string, std::vector<std::string>> kSaid = {
    {"right", {"launch", "result\tcompleted\t10"}},
    {"silent", {}},
    {"no line", {"hello"}},
    {"no word", {"hello\tthere"}},
    {"empty", {""}},
    {"warp", {"row\t0\t1\t2", "row\t1\t3\t4", "result\t1\t100\t100\t0"}},
    {"race", {"row\twrong\t9\t7", "result\tcompleted"}}};

// Before it says that it is ready. Returns its exit code, if that is all.
std::optional<int> fail_early(const Task& task) {
  if (task.name == "exit") return task.gpus_to_look_at - 1;
  if (task.name == "hang") return pause();
  if (task.name == "orphan") {
    kill(getppid(), SIGUSR1);
    return pause();
  }
  if (task.name == "parent") {  // of one that hangs, from when this launches on
    signal(SIGUSR1, [](int) { (void)!write(1, "launch\n", 7); });
    run_process(arguments, {"orphan"}, limits());
  }
  return std::nullopt;
}

int stand_in(const Task& task) {
  constexpr int kTooMuch = 1 << 20;  // lines, or texts
  alarm(600);                        // where nobody ends it
  end_with_parent();
  if (const auto code = fail_early(task)) return *code;
  say("ready");
  const std::string& name = task.name;
  if (name.empty()) return 0;
  if (name == "early") {
    std::fprintf(stderr, "out of memory\nmore\n");
    return say("error\tcudaErrorMemoryAllocation"), 0;
  }
  say("launch");
  if (name == "deaf") {
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) signal(number, SIG_IGN);
  }
  if (name == "blocking") {
    const char* blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
    say("note\tof " + std::to_string(task.gpus) + " GPUs");
    say(std::string("error\t") + (blocking ? blocking : "not set"));
  } else if (name == "flood") {
    for (int i = 0; i < kTooMuch; ++i) say("row\t1\t2\t3");
  } else if (name == "one line") {
    for (int i = 0; i < kTooMuch; ++i) std::fputs("no end", stderr);
  } else if (name == "quiet") {
    fclose(stdout);
    fclose(stderr);
    for (;;) pause();
  } else if (name == "deaf" ||
             (name == "hangs" && task.form != Form::kAllowed)) {
    std::fflush(stdout);
    for (;;) pause();
  } else if (name == "family") {  // its own child keeps the pipes open
    std::fflush(stdout);
    if (fork() == 0) return alarm(600), pause();
    say("result\tcompleted");
  } else if (const auto said = kSaid.find(name); said != kSaid.end()) {
    for (const std::string& line : said->second) say(line);
  } else {
    say("result\tcompleted");
  }
  if (name == "right") std::fprintf(stderr, "by the way\n");
  std::fflush(stdout);
  if (name == "slow end") usleep(600000);
  return 0;
}

Outcome outcome(const char* name, const Limits& given = limits()) {
  return run_process(arguments, {name, Form::kStays}, given);
}

std::string text(const char* name, milliseconds progress = limits().progress) {
  return outcome(name, limits(progress)).text;
}

// Waits for a process whose parent has ended; the signal that ended it.
int signal_of_orphan() {
  int status = 0;
  EXPECT_GT(waitpid(-1, &status, 0), 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(Process, LinesLaunchesAndMessages) {
  Outcome right = outcome("right");
  EXPECT_TRUE(right.ended_well);
  EXPECT_TRUE(right.ready);
  EXPECT_EQ(right.launches, 2);
  EXPECT_EQ(right.text, "completed");
  EXPECT_EQ(right.reason, ", by the way");
  EXPECT_EQ(right.told["result"], std::vector<Cells>({{"completed", "10"}}));
}

TEST(Process, EveryExitCode) {
  for (int code = 0; code < 256; ++code) {
    const Task task = {"exit", Form::kAllowed, 1, code + 1};
    const Outcome ended = run_process(arguments, task, limits());
    EXPECT_EQ(ended.end, "exit code " + std::to_string(code));
    EXPECT_EQ(ended.ended_well, code == 0);
    EXPECT_FALSE(ended.ready);
  }
}

TEST(Process, WhatHangsIsKilled) {
  EXPECT_EQ(text("hangs", kProgress), "no progress within 0.3 s");
  EXPECT_EQ(text("deaf", kProgress), "no progress within 0.3 s");
  EXPECT_EQ(text("quiet", kProgress), "no progress within 0.3 s");
}

TEST(Process, WhatNeverLaunchesIsKilled) {
  Limits impatient = limits();
  impatient.start = kProgress;
  EXPECT_EQ(outcome("hang", impatient).end, "nothing launched within 0.3 s");
}

TEST(Process, ProgressIsNotMeantOfWhatFollowsAResult) {
  EXPECT_EQ(text("slow end", kProgress), "completed");
}

TEST(Process, FloodsAreCut) {
  EXPECT_EQ(outcome("flood").end, "more than 1048576 bytes written");
  EXPECT_EQ(outcome("one line").end, "more than 1048576 bytes written");
}

TEST(Process, LinesOfNoCaseAreRefused) {
  for (const char* name : {"no line", "no word", "empty"}) {
    EXPECT_THROW(outcome(name), std::runtime_error) << name;
  }
}

TEST(Process, ItsOwnChildrenEndWithIt) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  EXPECT_TRUE(outcome("family").ended_well);
  EXPECT_EQ(signal_of_orphan(), SIGKILL);
}

TEST(Process, ItEndsWithItsParent) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  EXPECT_EQ(outcome("parent", limits(kProgress)).end,
            "no progress within 0.3 s");  // and killed
  EXPECT_EQ(signal_of_orphan(), SIGKILL);
}

TEST(Process, ASignalEndsTheProcessAtOnce) {
  signal(SIGINT, SIG_DFL);  // whoever runs the tests may ignore it
  install_signal_handlers();
  std::thread sender([] {
    usleep(100000);
    kill(getpid(), SIGINT);
  });
  EXPECT_THROW(outcome("hang"), Interrupted);
  sender.join();
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);  // it is not there any more
  EXPECT_THROW(outcome("right"), Interrupted);   // none is started any more
  pending_signal = 0;
}

const std::vector<Form> kPartial = {Form::kStays, Form::kAllowed};

// What runs in a process is stand_in().
Case of(Section section, const char* name, std::vector<Form> forms,
        int gpus = 1) {
  Case one = {name, Set::kToday, [](Child&, Form) {},
              "",   gpus,        std::move(forms)};
  one.section = section;
  return one;
}
Case partial(const char* name, std::vector<Form> forms = kPartial,
             int gpus = 1) {
  return of(Section::kPartialGroup, name, std::move(forms), gpus);
}
Case race(const char* name) { return of(Section::kRace, name, {Form::kRight}); }
Case warp(const char* name) {
  return of(Section::kWarpBarrier, name, {Form::kEachInBranch});
}

struct Ended {
  std::string rows;   // without titles
  std::string error;  // empty: it went well
};

Ended run(const std::vector<Case>& cases,
          const std::vector<std::string>& asked = {},
          int kill_signal = SIGKILL) {
  Options options;
  options.methods = asked;
  Limits given = limits(kProgress);
  if (kill_signal != SIGKILL) given.death = milliseconds(200);
  given.kill_signal = kill_signal;
  std::FILE* file = std::tmpfile();
  LineWriter out(fileno(file));
  Ended ended;
  try {
    run_cases(cases, options, arguments, out, 1, given);
  } catch (const std::exception& error) {
    ended.error = error.what();
  }
  std::rewind(file);
  char line[256];
  while (std::fgets(line, sizeof line, file)) {
    const std::string text = line;
    const bool head = text.rfind("method\t", 0) == 0;
    if (!head && text.find('\t') != std::string::npos) ended.rows += text;
    if (text.rfind("# skipped", 0) == 0 || text.rfind("# note", 0) == 0) {
      ended.rows += text;
    }
  }
  std::fclose(file);
  return ended;
}

TEST(Task, IsReadStrictlyAndOfAParentOnly) {
  const std::string parent = ":" + std::to_string(getppid());
  const char* variable = "SYNCBENCH_PITFALL";
  setenv(variable, ("syncwarp:each in its branch:1:2" + parent).c_str(), 1);
  EXPECT_EQ(Task::of_this_process()->gpus_to_look_at, 2);
  for (const std::string& value :
       {std::string("syncwarp:wrong:1:1"), "syncwarp:wrong:0:0" + parent,
        "syncwarp:wrong:-1:1" + parent, "syncwarp:wrong:1:1x" + parent,
        "syncwarp:wrong:1:99999999999" + parent,
        "syncwarp:no form:1:1" + parent, "syncwarp:wrong:1" + parent,
        "syncwarp:wrong:1:1:1" + parent, parent, std::string()}) {
    setenv(variable, value.c_str(), 1);
    EXPECT_THROW(Task::of_this_process(), UsageError) << value;
  }
  unsetenv(variable);
  EXPECT_FALSE(Task::of_this_process());
}

TEST(RunCases, SilenceIsNoResult) {
  Case silent = partial("silent", {Form::kStays});
  silent.patience = 2000;
  EXPECT_EQ(run({silent}).rows,
            "silent\tstays and skips\terror no result\t600.000\t1\n");
}

TEST(RunCases, LaunchesDoNotWaitElsewhere) {
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  const Ended ended = run({partial("blocking", {Form::kStays})});
  unsetenv("CUDA_LAUNCH_BLOCKING");
  EXPECT_EQ(ended.rows,
            "# note[failure] blocking form=\"stays and skips\": of 1 GPUs\n"
            "blocking\tstays and skips\terror 0\t0.300\t1\n");
}

TEST(RunCases, OneThatCannotBeKilledEndsIt) {
  const Ended ended =
      run({warp("warp"), partial("right"), partial("deaf"), race("race")}, {},
          SIGTERM);
  EXPECT_NE(ended.error.find("has not ended 0.2 s after it was killed"),
            std::string::npos)
      << ended.error;
  kill(std::stoi(ended.error.substr(ended.error.find(' '))), SIGKILL);
  EXPECT_EQ(ended.rows,
            "warp\t0\t1\t2\n"
            "warp\t1\t3\t4\n"
            "warp\t1\t100\t100\t0\n"
            "right\tstays and skips\tcompleted\t0.300\t2\n"
            "right\tas allowed\tcompleted\t0.300\t2\n");
}

TEST(RunCases, AnErrorBeforeTheFirstLaunchIsNoOutcome) {
  const Ended ended = run({partial("early", {Form::kStays}), race("race")});
  EXPECT_EQ(ended.error,
            "early stays and skips: error cudaErrorMemoryAllocation, out of "
            "memory");
  EXPECT_EQ(ended.rows,
            "# skipped[failed] early form=\"stays and skips\": error "
            "cudaErrorMemoryAllocation\nrace\twrong\t9\t7\n");
}

}  // namespace
}  // namespace syncbench::pitfalls

int main(int argc, char** argv) {
  if (const auto task = syncbench::pitfalls::Task::of_this_process()) {
    return syncbench::pitfalls::stand_in(*task);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
