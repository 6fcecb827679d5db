// For waits that have no limit of their own: an operation's in a kernel, MPI's
// for processes that never come.
#pragma once

#include <unistd.h>

#include <csignal>
#include <string>

#include "common/errors.hpp"

namespace syncbench {

/// Ends this process with exit code 1 where it lives longer than so many
/// seconds, and writes `line` on stderr before. One at a time.
class TimeLimit {
 public:
  TimeLimit(const std::string& line, int seconds) {
    const char* end_progress = isatty(STDERR_FILENO) != 0 ? "\r\033[K" : "";
    last_line_ = line.empty() ? "" : end_progress + line + '\n';
    std::signal(SIGALRM, [](int) {
      [[maybe_unused]] const ssize_t count =
          write(STDERR_FILENO, last_line_.data(), last_line_.size());
      _exit(kExitFailed);
    });
    alarm(static_cast<unsigned>(seconds));
  }
  TimeLimit(const TimeLimit&) = delete;
  ~TimeLimit() {
    alarm(0);
    std::signal(SIGALRM, SIG_DFL);
  }

 private:
  inline static std::string last_line_;  // what the signal says
};

}  // namespace syncbench
