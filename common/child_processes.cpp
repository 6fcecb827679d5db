#include "common/child_processes.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <set>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "common/errors.hpp"
#include "common/interrupt.hpp"

extern char** environ;

namespace syncbench {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

constexpr const char* kProcessVariable = "SYNCBENCH_PROCESS";

[[noreturn]] void throw_system_error(const char* call) {
  throw std::system_error(errno, std::generic_category(), call);
}

// Whether a child has ended. It is not reaped: until then no other process has
// its number, nor that of its group.
bool has_ended(pid_t pid, int options) {
  siginfo_t info = {};
  if (waitid(P_PID, pid, &info, WEXITED | WNOWAIT | options) != 0) {
    if (errno != EINTR) throw_system_error("waitid");
    return false;
  }
  return info.si_pid == pid;
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

// The number in the first of these variables that is set; -1: none is.
int number_in(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const char* text = std::getenv(name);
    if (text != nullptr) return std::atoi(text);
  }
  return -1;
}

}  // namespace

LinePipe::LinePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw_system_error("pipe2");
  read_end_ = ends[0];
  write_end_ = ends[1];
}

LinePipe::~LinePipe() {
  close_writing();
  if (read_end_ >= 0) close(read_end_);
}

void LinePipe::close_writing() {
  if (write_end_ >= 0) close(write_end_);
  write_end_ = -1;
}

std::size_t LinePipe::take(const LineVisitor& visit) {
  char bytes[65536];
  const ssize_t count = read(read_end_, bytes, sizeof bytes);
  if (count < 0 && errno == EINTR) return 0;
  if (count <= 0) {
    close(read_end_);
    read_end_ = -1;
    if (!rest_.empty()) visit(rest_);
    return 0;
  }
  rest_.append(bytes, static_cast<std::size_t>(count));
  std::size_t begin = 0, end;
  while ((end = rest_.find('\n', begin)) != std::string::npos) {
    visit(rest_.substr(begin, end - begin));
    begin = end + 1;
  }
  rest_.erase(0, begin);
  return static_cast<std::size_t>(count);
}

ChildProcess::ChildProcess(char** argv, const std::vector<std::string>& marks) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out_.write_end(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err_.write_end(), STDERR_FILENO);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> environment;
  for (const std::string& mark : marks) {
    environment.push_back(const_cast<char*>(mark.c_str()));
  }
  for (char** entry = environ; *entry != nullptr; ++entry) {
    environment.push_back(*entry);
  }
  environment.push_back(nullptr);
  const int error = posix_spawn(&pid_, "/proc/self/exe", &actions, &attributes,
                                argv, environment.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    pid_ = -1;
    throw std::system_error(error, std::generic_category(),
                            "cannot start a measuring process");
  }
  out_.close_writing();
  err_.close_writing();
}

ChildProcess::~ChildProcess() {
  try {
    end(SIGKILL, std::chrono::seconds(10));
  } catch (const std::system_error&) {  // there is no such child
  }
}

std::size_t ChildProcess::read(milliseconds limit, const LineVisitor& on_out,
                               const LineVisitor& on_err) {
  pollfd ends[] = {{out_.read_end(), POLLIN, 0}, {err_.read_end(), POLLIN, 0}};
  if (poll(ends, 2, static_cast<int>(limit.count())) <= 0) return 0;
  std::size_t bytes = 0;
  if (ends[0].revents != 0) bytes += out_.take(on_out);
  if (ends[1].revents != 0) bytes += err_.take(on_err);
  return bytes;
}

std::optional<int> ChildProcess::ended_within(milliseconds limit) {
  const auto latest = steady_clock::now() + limit;
  for (;;) {
    if (has_ended(pid_, WNOHANG)) return reap();
    if (steady_clock::now() >= latest) return std::nullopt;
    std::this_thread::sleep_for(milliseconds(1));
  }
}

int ChildProcess::wait() {
  while (!has_ended(pid_, 0)) {
  }
  return reap();
}

bool ChildProcess::end(int signal, milliseconds limit) {
  if (pid_ < 0) return true;
  kill(-pid_, signal);
  const bool ended = ended_within(limit).has_value();
  pid_ = -1;
  return ended;
}

int ChildProcess::reap() {
  kill(-pid_, SIGKILL);  // what it may have started and left
  int status = 0;
  const pid_t reaped = waitpid(pid_, &status, 0);
  pid_ = -1;
  if (reaped < 0) throw_system_error("waitpid");
  return status;
}

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
    bool signalled = false;
    while (child.writes()) {
      if (pending_signal != 0 && !signalled) {
        kill(child.pid(), pending_signal);
        signalled = true;
      }
      // The time limit is for a signal that comes between check and call.
      child.read(
          milliseconds(200),
          [&](const std::string& line) { visit(number, line); },
          [&](const std::string& line) {
            if (told.insert(line).second) {
              std::fprintf(stderr, "%s\n", line.c_str());
            }
          });
    }
    const int status = child.wait();
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

int launched_processes() {
  return number_in(
      {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"});
}

int launched_number() {
  return number_in({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"});
}

}  // namespace syncbench
