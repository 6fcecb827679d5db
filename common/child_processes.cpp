#include "common/child_processes.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <stdexcept>

#include "common/child_process.hpp"
#include "common/errors.hpp"
#include "common/interrupt.hpp"

namespace syncbench {
namespace {

constexpr const char* kProcessVariable = "SYNCBENCH_PROCESS";

// Passes on what it writes, and a signal that comes, until its end. Returns its
// status as waitpid() gives it.
int follow(ChildProcess& child, const LineVisitor& on_out,
           const LineVisitor& on_err) {
  bool told = false;
  while (child.writes()) {
    if (pending_signal != 0 && !told) {
      kill(child.pid(), pending_signal);
      told = true;
    }
    // The time limit is for a signal that comes between check and call.
    child.read(std::chrono::milliseconds(200), on_out, on_err);
  }
  return child.wait();
}

}  // namespace

int process_number() {
  const char* text = std::getenv(kProcessVariable);
  return text == nullptr ? -1 : std::atoi(text);
}

std::string process_mark(int number) {
  return std::string(kProcessVariable) + "=" + std::to_string(number);
}

void end_with_parent() { prctl(PR_SET_PDEATHSIG, SIGKILL); }

void run_processes(char** argv, int count,
                   const std::function<void(int, const std::string&)>& visit) {
  std::set<std::string> told;
  for (int number = 0; number < count; ++number) {
    check_interrupt();
    ChildProcess child(argv, {process_mark(number)});
    const int status = follow(
        child, [&](const std::string& line) { visit(number, line); },
        [&](const std::string& line) {
          if (told.insert(line).second) {
            std::fprintf(stderr, "%s\n", line.c_str());
          }
        });
    if (WIFEXITED(status) && WEXITSTATUS(status) != kExitOk) {
      throw ChildFailed{WEXITSTATUS(status)};
    }
    if (WIFSIGNALED(status)) {
      check_interrupt();
      throw std::runtime_error("process " + std::to_string(number + 1) +
                               " of " + std::to_string(count) +
                               " was killed by signal " +
                               std::to_string(WTERMSIG(status)));
    }
  }
}

}  // namespace syncbench
