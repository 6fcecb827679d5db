#include "common/time_limit.hpp"

#include <unistd.h>

#include <csignal>

#include "common/errors.hpp"

namespace syncbench {
namespace {

std::string last_line;  // what the signal says

void end_process(int) {
  [[maybe_unused]] const ssize_t count =
      write(STDERR_FILENO, last_line.data(), last_line.size());
  _exit(kExitFailed);
}

}  // namespace

TimeLimit::TimeLimit(const std::string& line, int seconds) {
  const char* end_progress = isatty(STDERR_FILENO) != 0 ? "\r\033[K" : "";
  last_line = line.empty() ? "" : end_progress + line + '\n';
  std::signal(SIGALRM, end_process);
  alarm(static_cast<unsigned>(seconds));
}

TimeLimit::~TimeLimit() {
  alarm(0);
  std::signal(SIGALRM, SIG_DFL);
}

}  // namespace syncbench
