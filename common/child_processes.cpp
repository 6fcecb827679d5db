#include "common/child_processes.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "common/errors.hpp"
#include "common/interrupt.hpp"

extern char** environ;

namespace syncbench {
namespace {

constexpr const char* kProcessVariable = "SYNCBENCH_PROCESS";

// The reading end of a pipe, cut into lines.
class LinePipe {
 public:
  LinePipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "pipe2");
    }
    read_end_ = ends[0];
    write_end_ = ends[1];
  }
  LinePipe(const LinePipe&) = delete;
  LinePipe& operator=(const LinePipe&) = delete;
  ~LinePipe() {
    close_writing();
    if (read_end_ >= 0) close(read_end_);
  }

  int write_end() const { return write_end_; }
  int read_end() const { return read_end_; }  //< -1 once all was read

  void close_writing() {
    if (write_end_ >= 0) close(write_end_);
    write_end_ = -1;
  }

  // Reads what is there and calls visit(line) for every whole line.
  template <class Visitor>
  void take(Visitor visit) {
    char bytes[65536];
    const ssize_t count = read(read_end_, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) return;
    if (count <= 0) {
      close(read_end_);
      read_end_ = -1;
      if (!rest_.empty()) visit(rest_);
      return;
    }
    rest_.append(bytes, static_cast<std::size_t>(count));
    std::size_t begin = 0, end;
    while ((end = rest_.find('\n', begin)) != std::string::npos) {
      visit(rest_.substr(begin, end - begin));
      begin = end + 1;
    }
    rest_.erase(0, begin);
  }

 private:
  int read_end_ = -1, write_end_ = -1;
  std::string rest_;
};

// This executable, started again; killed where it still runs at the end of the
// scope.
class ChildProcess {
 public:
  ChildProcess(char** argv, int number) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out_.write_end(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err_.write_end(), STDERR_FILENO);
    // A group of its own: Ctrl-C reaches it once, from its parent. The second
    // signal would kill it.
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    const std::string mark =
        std::string(kProcessVariable) + "=" + std::to_string(number);
    std::vector<char*> environment = {const_cast<char*>(mark.c_str())};
    for (char** entry = environ; *entry != nullptr; ++entry) {
      environment.push_back(*entry);
    }
    environment.push_back(nullptr);
    const int error = posix_spawn(&pid_, "/proc/self/exe", &actions,
                                  &attributes, argv, environment.data());
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
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess() {
    if (pid_ < 0) return;
    kill(pid_, SIGKILL);
    wait();
  }

  // Calls on_out(line) and on_err(line) for what it writes, until its end.
  // Returns its status as waitpid() gives it.
  template <class Out, class Err>
  int follow(Out on_out, Err on_err) {
    bool told = false;
    while (out_.read_end() >= 0 || err_.read_end() >= 0) {
      if (pending_signal != 0 && !told) {
        kill(pid_, pending_signal);
        told = true;
      }
      pollfd ends[] = {{out_.read_end(), POLLIN, 0},
                       {err_.read_end(), POLLIN, 0}};
      // The time limit is for a signal that comes between check and call.
      if (poll(ends, 2, 200) <= 0) continue;
      if (ends[0].revents != 0) out_.take(on_out);
      if (ends[1].revents != 0) err_.take(on_err);
    }
    return wait();
  }

 private:
  int wait() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

  LinePipe out_, err_;
  pid_t pid_ = -1;
};

}  // namespace

int process_number() {
  const char* text = std::getenv(kProcessVariable);
  return text == nullptr ? -1 : std::atoi(text);
}

void end_with_parent() { prctl(PR_SET_PDEATHSIG, SIGKILL); }

void run_processes(char** argv, int count,
                   const std::function<void(int, const std::string&)>& visit) {
  std::set<std::string> told;
  for (int number = 0; number < count; ++number) {
    check_interrupt();
    ChildProcess child(argv, number);
    const int status =
        child.follow([&](const std::string& line) { visit(number, line); },
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
