#include "common/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>
#include <thread>

extern char** environ;

namespace syncbench {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

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

}  // namespace syncbench
