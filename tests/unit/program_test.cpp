// What every executable does with errors, signals and closed descriptors.
#include "common/program.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/check.hpp"
#include "common/cuda_resources.hpp"
#include "common/interrupt.hpp"

namespace syncbench {
namespace {

using testing::ExitedWithCode;
using testing::KilledBySignal;

// The exit code of a program that measures by `measure`.
int run(const Measure& measure) {
  ProgramInfo info;
  info.name = "program";
  char name[] = "program";
  char* arguments[] = {name, nullptr};
  return run_program(info, 1, arguments, measure);
}

TEST(Program, AnErrorIsOneLine) {
  const auto fail = [] {
    std::exit(run([](const Options&, LineWriter&) {
      throw std::runtime_error("GPU 0 waited\nGPU 1 waited\x1b[2J");
    }));
  };
  EXPECT_EXIT(fail(), ExitedWithCode(1),
              "^program: error: GPU 0 waited; GPU 1 waited\\\\x1b.2J\n$");
}

// Closed outputs must not become what is opened next.
TEST(Program, ClosedOutputsAreNoFiles) {
  const std::string path = testing::TempDir() + "program_test_output";
  const auto write_row = [&path] {
    for (int i = 0; i <= STDERR_FILENO; ++i) close(i);
    const int code = run([&path](const Options&, LineWriter& out) {
      if (creat(path.c_str(), 0600) <= STDERR_FILENO) _exit(99);
      out.line("row");
    });
    _exit(code);
  };
  EXPECT_EXIT(write_row(), ExitedWithCode(1), "");
  EXPECT_EQ(std::ifstream(path).peek(), EOF);
  unlink(path.c_str());
}

TEST(Program, OnlyItsParentMayUseInternalVariables) {
  const std::string parent = std::to_string(getppid());
  const std::vector<std::string> values = {"",
                                           "0",
                                           "0:1x",
                                           "0:" + std::to_string(getpid()),
                                           "x:" + parent,
                                           "-1:" + parent,
                                           "1000:" + parent,
                                           "99999999999:" + parent};
  for (const std::string& value : values) {
    setenv("SYNCBENCH_PROCESS", value.c_str(), 1);
    testing::internal::CaptureStderr();
    EXPECT_EQ(run([](const Options&, LineWriter&) { FAIL(); }), 2) << value;
    EXPECT_NE(testing::internal::GetCapturedStderr().find(
                  "program: error: SYNCBENCH_PROCESS is set"),
              std::string::npos);
  }
  unsetenv("SYNCBENCH_PROCESS");
}

TEST(Signals, TheFirstSaysWhatFollowsAndTheSecondKills) {
  const auto twice = [] {
    std::signal(SIGINT, SIG_DFL);  // whoever runs the tests may ignore it
    install_signal_handlers(true);
    raise(SIGINT);
    if (pending_signal == SIGINT) raise(SIGINT);
  };
  EXPECT_EXIT(twice(), KilledBySignal(SIGINT),
              "^interrupted: the run ends after the current sample; a second "
              "signal ends it at once\n$");
}

TEST(Signals, AStartedProcessSaysNothing) {
  const auto once = [] {
    install_signal_handlers();
    raise(SIGTERM);
    std::exit(pending_signal);
  };
  EXPECT_EXIT(once(), ExitedWithCode(SIGTERM), "^$");
}

TEST(Signals, AnIgnoredInterruptStaysIgnored) {
  const auto ignored = [] {
    std::signal(SIGINT, SIG_IGN);
    install_signal_handlers(true);
    raise(SIGINT);
    std::exit(pending_signal);
  };
  EXPECT_EXIT(ignored(), ExitedWithCode(0), "^$");
}

TEST(CudaFailures, ThatOfADestructorIsToldNext) {
  const auto keep = [] {
    keep_failure(cudaErrorInvalidDevice, "first()", "here", 7);
    keep_failure(cudaErrorUnknown, "second()", "there", 8);
  };
  const auto told = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  };
  const std::string first =
      "first() failed at here:7: cudaErrorInvalidDevice (invalid device "
      "ordinal)";
  keep();
  EXPECT_EQ(told([] { const DeviceGuard guard(0); }), first);
  keep();
  EXPECT_EQ(told([] { CUDA_CHECK(cudaErrorLaunchFailure); }), first);
  EXPECT_EQ(told([] { throw_kept_failure(); }), "");  // once
  keep_failure(cudaSuccess, "third()", "here", 9);
  EXPECT_EQ(told([] { throw_kept_failure(); }), "");
  keep_failure(std::runtime_error("of another library"));
  keep();
  EXPECT_EQ(told([] { throw_kept_failure(); }), "of another library");
  EXPECT_EQ(told([] { throw_kept_failure(); }), "");
}

TEST(CudaFailures, OnlyACallThatAsksIsAnswered) {
  EXPECT_THROW(CUDA_ASK(cudaErrorNotSupported), CannotMeasure);
  EXPECT_THROW(CUDA_ASK(cudaErrorLaunchFailure), CudaError);
  EXPECT_THROW(CUDA_CHECK(cudaErrorNotSupported), CudaError);
  EXPECT_NO_THROW(CUDA_ASK(cudaSuccess));
}

}  // namespace
}  // namespace syncbench
