#include "common/child_processes.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
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

// The process that started process `pid`; 0: none.
pid_t parent_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  // PID (NAME) STATE PARENT ..., and a name may hold anything.
  const std::size_t name_end = text.rfind(')');
  if (name_end == text.npos || name_end + 4 >= text.size()) return 0;
  return std::atoi(text.c_str() + name_end + 4);
}

// Whether the process that `text` names started this one.
bool started_by(const std::string& text) {
  for (pid_t pid = getppid(); pid > 0; pid = parent_of(pid)) {
    if (text == std::to_string(pid)) return true;
  }
  return false;
}

[[noreturn]] void refuse_variable(const std::string& name) {
  throw UsageError(name +
                   " is set in the environment, which only a process of the "
                   "suite does for those that it starts: unset it");
}

}  // namespace

std::string mark_of(const std::string& name, const std::string& value) {
  return name + "=" + value + ":" + std::to_string(getpid());
}

std::optional<std::string> marked(const std::string& name) {
  const char* found = std::getenv(name.c_str());
  if (found == nullptr) return std::nullopt;
  const std::string text = found;
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos || !started_by(text.substr(colon + 1))) {
    refuse_variable(name);
  }
  return text.substr(0, colon);
}

int process_number() {
  const std::optional<std::string> text = marked(kProcessVariable);
  if (!text) return -1;
  int number = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc() || stop != end || number < 0 ||
      number >= kMaxProcesses) {
    refuse_variable(kProcessVariable);
  }
  return number;
}

std::string process_mark(int number) {
  return mark_of(kProcessVariable, std::to_string(number));
}

void end_with_parent() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  process_number();  // looks for the parent: if it is gone, no signal comes
}

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
