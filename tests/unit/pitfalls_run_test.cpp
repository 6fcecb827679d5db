// The parent of Pitfalls with processes that only pretend to use a GPU: its
// rows, and what ends it. Started by it, this program does what the name of its
// case says.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "common/child_processes.hpp"
#include "common/errors.hpp"
#include "pitfalls/run.hpp"

namespace syncbench::pitfalls {
namespace {

// It comes with what follows, however slow this process is.
void say(const std::string& line) { std::printf("%s\n", line.c_str()); }

int stand_in(const Task& task) {
  end_with_parent();
  if (task.name == "sick") {
    std::fprintf(stderr, "the GPU has fallen off the bus\n");
    return 3;
  }
  say(kReadyLine);
  if (task.name.empty()) return 0;
  if (task.name == "absent") {
    say("skipped\tarchitecture\tnot on this GPU");
    return 0;
  }
  if (task.name == "early") {
    std::fprintf(stderr, "out of memory\nmore\n");
    say("error\tcudaErrorMemoryAllocation");
    return 0;
  }
  say(kLaunchLine);
  const bool deaf = task.name == "deaf";
  if (deaf) signal(SIGTERM, SIG_IGN);
  if (deaf || (task.name == "hangs" && task.form != Form::kAllowed)) {
    std::fflush(stdout);
    for (;;) pause();
  }
  if (task.name == "blocking") {
    const char* blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
    say("note\tof " + std::to_string(task.gpus) + " GPUs");
    say(std::string("error\t") + (blocking ? blocking : "not set"));
  } else if (task.name == "silent") {
    return 0;
  } else if (task.name == "race") {
    say(std::string("result\t9\t") + (task.form == Form::kRight ? "0" : "7"));
  } else if (task.name == "message") {
    say("row\tplain\twrong\t9\t7");
    say("row\tfence\tright\t9\t0");
    say("result\tcompleted");
  } else if (task.name == "messages") {
    say("row\tplain\twrong\t9\t0");
    say("row\trelaxed\twrong\t9\t0");
    say("row\tfence\tright\t9\t1");
    say("result\tcompleted");
  } else if (task.name == "racy") {
    say("result\t9\t1");
  } else if (task.name == "warp") {
    say("row\t0\t1\t2");
    say("row\t1\t3\t4");
    say("result\t1\t100\t100\t0");
  } else {
    say(task.name == "broken" ? "result\twrong result" : "result\tcompleted");
  }
  return 0;
}

const std::vector<Form> kPartial = {Form::kStays, Form::kAllowed};
const std::vector<Form> kRace = {Form::kWrong, Form::kRight};

Case partial(const char* name, std::vector<Form> forms = kPartial,
             int gpus = 1) {
  return {name, "", Section::kPartialGroup, std::move(forms), gpus, nullptr};
}
Case race(const char* name) {
  return {name, "", Section::kRace, kRace, 1, nullptr};
}
Case warp(const char* name) {
  return {name, "", Section::kWarpBarrier, {Form::kEachInBranch}, 1, nullptr};
}

struct Ended {
  std::string rows;   // without titles
  std::string error;  // empty: it went well
};

Ended run(const std::vector<Case>& cases, int gpus = 1,
          const std::vector<std::string>& asked = {},
          int kill_signal = SIGKILL) {
  Options options;
  options.methods = asked;
  Limits limits;
  limits.start = std::chrono::minutes(10);
  limits.progress = std::chrono::milliseconds(300);
  limits.death = limits.start;
  if (kill_signal != SIGKILL) limits.death = std::chrono::milliseconds(200);
  limits.kill_signal = kill_signal;
  char* arguments[] = {const_cast<char*>("test"), nullptr};
  std::FILE* file = std::tmpfile();
  LineWriter out(fileno(file));
  Ended ended;
  try {
    PitfallsRun(options, arguments, out, gpus, limits).run(cases);
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

TEST(PitfallsRun, RowsOfAllTables) {
  const Ended ended = run({warp("warp"), warp("absent"), partial("hangs"),
                           partial("two", kPartial, 2), race("race")});
  EXPECT_EQ(ended.error, "");
  EXPECT_EQ(
      ended.rows,
      "warp\t0\t1\t2\n"
      "warp\t1\t3\t4\n"
      "warp\t1\t100\t100\t0\n"
      "# skipped[architecture] absent: not on this GPU\n"
      "hangs\tstays and skips\tno progress within 0.3 s\t0.300\t1\n"
      "hangs\tas allowed\tcompleted\t0.300\t1\n"
      "# skipped[too-few-gpus needs=2] two form=\"stays and skips\": needs 2 "
      "GPUs, 1 used\n"
      "# skipped[too-few-gpus needs=2] two form=\"as allowed\": needs 2 GPUs, "
      "1 used\n"
      "race\twrong\t9\t7\n"
      "race\tright\t9\t0\n");
}

TEST(PitfallsRun, MessagesAreStaleWithoutAnOrderAndNeverInOrder) {
  const auto litmus = [](const char* name) {
    return Case{name, "", Section::kLitmus, {Form::kAllowed}, 1, nullptr};
  };
  const Ended good = run({litmus("message")});
  EXPECT_EQ(good.error, "");
  EXPECT_EQ(good.rows,
            "message\tplain\twrong\t9\t7\nmessage\tfence\tright\t9\t0\n");
  EXPECT_EQ(run({litmus("messages")}).error,
            "messages plain: no stale data without an order; messages fence: "
            "stale data behind a new flag");
}

TEST(PitfallsRun, SomeAreGivenMoreTime) {
  Case slow = partial("hangs", {Form::kStays});
  slow.patience = 2;
  EXPECT_EQ(run({slow}).rows,
            "hangs\tstays and skips\tno progress within 0.6 s\t0.600\t1\n");
}

TEST(PitfallsRun, LaunchesThatWaitAreAskedOfTheProcess) {
  const Ended ended = run({partial("blocking", {Form::kOneByOne}, 2)}, 3);
  EXPECT_EQ(ended.rows,
            "# note[failure] blocking form=\"one by one\": of 3 GPUs\n"
            "blocking\tone by one\terror 1\t0.300\t1\n");
}

TEST(PitfallsRun, SilenceIsNoResult) {
  Case silent = partial("silent", {Form::kStays});
  silent.patience = 2000;
  EXPECT_EQ(run({silent}).rows,
            "silent\tstays and skips\terror no result\t600.000\t1\n");
}

TEST(PitfallsRun, LaunchesDoNotWaitElsewhere) {
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  const Ended ended = run({partial("blocking", {Form::kStays})});
  unsetenv("CUDA_LAUNCH_BLOCKING");
  EXPECT_EQ(ended.rows,
            "# note[failure] blocking form=\"stays and skips\": of 1 GPUs\n"
            "blocking\tstays and skips\terror 0\t0.300\t1\n");
}

TEST(PitfallsRun, AGpuThatDoesNotRecoverEndsIt) {
  const Ended ended = run({partial("hangs"), partial("sick"), race("race")});
  EXPECT_EQ(ended.error,
            "after hangs as allowed the GPU does not recover: exit code 3, the "
            "GPU has fallen off the bus");
  EXPECT_EQ(ended.rows,
            "hangs\tstays and skips\tno progress within 0.3 s\t0.300\t1\n"
            "hangs\tas allowed\tcompleted\t0.300\t1\n");
}

TEST(PitfallsRun, AGpuThatNeverWorkedIsNoDevice) {
  EXPECT_EQ(run({partial("sick")}).error,
            "no usable CUDA device: exit code 3, the GPU has fallen off the "
            "bus");
}

TEST(PitfallsRun, OneThatCannotBeKilledEndsIt) {
  const Ended ended =
      run({warp("warp"), partial("right"), partial("deaf"), race("race")}, 1,
          {}, SIGTERM);
  EXPECT_NE(ended.error.find("has not ended 0.2 s after it was killed"),
            std::string::npos)
      << ended.error;
  kill(std::stoi(ended.error.substr(ended.error.find(' '))), SIGKILL);
  EXPECT_EQ(ended.rows,
            "warp\t0\t1\t2\n"
            "warp\t1\t3\t4\n"
            "warp\t1\t100\t100\t0\n"
            "right\tstays and skips\tcompleted\t0.300\t1\n"
            "right\tas allowed\tcompleted\t0.300\t1\n");
}

TEST(PitfallsRun, AnErrorBeforeTheFirstLaunchIsNoOutcome) {
  const Ended ended = run({partial("early", {Form::kStays}), race("race")});
  EXPECT_EQ(ended.error,
            "early stays and skips: error cudaErrorMemoryAllocation, out of "
            "memory");
  EXPECT_EQ(
      ended.rows,
      "# skipped[failed] early form=\"stays and skips\": error "
      "cudaErrorMemoryAllocation\nrace\twrong\t9\t7\nrace\tright\t9\t0\n");
}

TEST(PitfallsRun, ControlsMustNotHold) {
  std::vector<Case> cases = {warp("warp"), partial("right", {Form::kStays}),
                             partial("broken", {Form::kStays})};
  for (Case& one : cases) one.control = true;
  EXPECT_EQ(run(cases).error,
            "warp each in its branch: held without a barrier; right: completed "
            "without a barrier");
}

TEST(PitfallsRun, AFailureIsSaidBeforeWhatIsMissing) {
  EXPECT_EQ(run({partial("broken"), partial("two", kPartial, 2)}, 1,
                {"broken", "two"})
                .error,
            "broken as allowed: wrong result");
}

TEST(PitfallsRun, WhatIsAllowedHasToWork) {
  const Ended ended = run({partial("broken"), race("racy"), warp("hangs")});
  EXPECT_EQ(ended.error,
            "hangs each in its branch: no progress within 0.3 s; broken as "
            "allowed: wrong result; racy right: wrong with its barriers and "
            "fences");
}

TEST(PitfallsRun, WhatIsAskedForHasToBeThere) {
  EXPECT_EQ(
      run({partial("right"), partial("two", kPartial, 2)}, 1, {"right"}).error,
      "");
  EXPECT_EQ(run({partial("two", kPartial, 2)}, 1, {"two"}).error,
            "asked for and not measured: two form=\"stays and skips\": needs 2 "
            "GPUs, 1 used");
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
