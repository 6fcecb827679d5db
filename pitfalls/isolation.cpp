#include "pitfalls/isolation.hpp"

#include <sys/wait.h>

#include <stdexcept>

#include "common/child_process.hpp"
#include "common/interrupt.hpp"

namespace syncbench::pitfalls {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLook{20};  // between two looks at clock and signals

std::string seconds(milliseconds time) {
  const auto tenths = time.count() / 100;
  return std::to_string(tenths / 10) +
         (tenths % 10 ? "." + std::to_string(tenths % 10) : "") + " s";
}

class Watched {
 public:
  Watched(char** argv, const std::vector<std::string>& marks,
          const Limits& limits)
      : limits_(limits), child_(argv, marks) {}

  ProcessReport follow() {
    for (;;) {
      read(kLook);
      if (pending_signal != 0) {
        kill();
        throw Interrupted{pending_signal};
      }
      if (bytes_ > limits_.bytes) return killed(End::kFlood);
      // One that has closed its outputs leaves nothing else to wait for.
      const auto status =
          child_.ended_within(child_.writes() ? milliseconds(0) : kLook);
      if (status) return exited(*status);
      if (steady_clock::now() >= latest_) {
        return killed(launched_ ? End::kNoProgress : End::kNoStart);
      }
    }
  }

 private:
  std::size_t read(milliseconds limit) {
    const std::size_t count = child_.read(
        limit, [this](const std::string& line) { take(line); },
        [this](const std::string& line) { report_.errors += line + "\n"; });
    bytes_ += count;
    return count;
  }

  void take(const std::string& line) {
    launched_ = line == kLaunchLine;
    report_.launches += launched_;
    if (line == kReadyLine) {
      report_.ready = true;
    } else if (!launched_) {
      report_.lines.push_back(line);
    }
    latest_ =
        steady_clock::now() + (launched_ ? limits_.progress : limits_.start);
  }

  ProcessReport exited(int status) {
    report_.status = status;
    while (bytes_ <= limits_.bytes && read(milliseconds(0)) > 0) {
    }
    return report_;
  }

  ProcessReport killed(End end) {
    kill();
    report_.end = end;
    return report_;
  }

  void kill() {
    const int process = child_.pid();
    if (!child_.end(limits_.kill_signal, limits_.death)) {
      throw std::runtime_error(
          "process " + std::to_string(process) + " has not ended " +
          seconds(limits_.death) +
          " after it was killed: its kernel may still be on the GPU");
    }
  }

  const Limits limits_;
  ChildProcess child_;
  ProcessReport report_;
  steady_clock::time_point latest_ = steady_clock::now() + limits_.start;
  std::size_t bytes_ = 0;
  bool launched_ = false;
};

}  // namespace

std::string ProcessReport::text(const Limits& limits) const {
  switch (end) {
    case End::kNoStart:
      return (launches > 0 ? "no end within " : "nothing launched within ") +
             seconds(limits.start);
    case End::kNoProgress:
      return "no progress within " + seconds(limits.progress);
    case End::kFlood:
      return "more than " + std::to_string(limits.bytes) + " bytes written";
    case End::kExited:
      break;
  }
  return WIFSIGNALED(status)
             ? "signal " + std::to_string(WTERMSIG(status))
             : "exit code " + std::to_string(WEXITSTATUS(status));
}

std::string ProcessReport::reason() const {
  return errors.empty() ? "" : ", " + errors.substr(0, errors.find('\n'));
}

ProcessReport run_isolated(char** argv, const std::vector<std::string>& marks,
                           const Limits& limits) {
  check_interrupt();
  return Watched(argv, marks, limits).follow();
}

}  // namespace syncbench::pitfalls
