#include "pitfalls/process.hpp"

#include <sys/wait.h>

#include <set>
#include <sstream>
#include <stdexcept>

#include "common/child_process.hpp"
#include "common/child_processes.hpp"
#include "common/errors.hpp"
#include "common/interrupt.hpp"
#include "common/options.hpp"

namespace syncbench::pitfalls {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr const char* kTaskVariable = "SYNCBENCH_PITFALL";
constexpr milliseconds kLook{20};  // between two looks at clock and signals
const std::set<std::string> kWords = {kResultLine, kRowLine,  kWrongLine,
                                      kErrorLine,  kNoteLine, kSkippedLine};

Cells split(const std::string& text, char between) {
  Cells cells;
  std::istringstream stream(text);
  for (std::string cell; std::getline(stream, cell, between);) {
    cells.push_back(cell);
  }
  return cells;
}

// NAME=VALUE, of the environment of the process.
std::vector<std::string> marks_of(const Task& task) {
  const bool blocking = task.form == Form::kOneByOne;
  return {process_mark(0),
          mark_of(kTaskVariable, task.name + ":" + name_of(task.form) + ":" +
                                     std::to_string(task.gpus) + ":" +
                                     std::to_string(task.gpus_to_look_at)),
          std::string("CUDA_LAUNCH_BLOCKING=") + (blocking ? "1" : "0")};
}

std::string seconds(milliseconds time) {
  const auto tenths = time.count() / 100;
  return std::to_string(tenths / 10) +
         (tenths % 10 ? "." + std::to_string(tenths % 10) : "") + " s";
}

class Watched {
 public:
  Watched(char** argv, const Task& task, const Limits& limits)
      : limits_(limits), child_(argv, marks_of(task)) {}

  Outcome follow() {
    outcome_.end = end();
    const std::string error = errors_.substr(0, errors_.find('\n'));
    if (!error.empty()) outcome_.reason = ", " + error;
    if (outcome_.ready) read_lines();
    return outcome_;
  }

 private:
  // Waits for it or kills it; says how it ended.
  std::string end() {
    for (;;) {
      read(kLook);
      if (pending_signal != 0) {
        kill();
        throw Interrupted{pending_signal};
      }
      if (bytes_ > limits_.bytes) {
        kill();
        return "more than " + std::to_string(limits_.bytes) + " bytes written";
      }
      // One that has closed its outputs leaves nothing else to wait for.
      const auto status =
          child_.ended_within(child_.writes() ? milliseconds(0) : kLook);
      if (status) return exited(*status);
      if (steady_clock::now() >= latest_) {
        kill();
        hangs_ = launched_;
        if (hangs_) return "no progress within " + seconds(limits_.progress);
        return (outcome_.launches > 0 ? "no end within "
                                      : "nothing launched within ") +
               seconds(limits_.start);
      }
    }
  }

  std::size_t read(milliseconds limit) {
    const std::size_t count = child_.read(
        limit, [this](const std::string& line) { take(line); },
        [this](const std::string& line) { errors_ += line + "\n"; });
    bytes_ += count;
    return count;
  }

  void take(const std::string& line) {
    launched_ = line == kLaunchLine;
    outcome_.launches += launched_;
    if (line == kReadyLine) {
      outcome_.ready = true;
    } else if (!launched_) {
      lines_.push_back(line);
    }
    latest_ =
        steady_clock::now() + (launched_ ? limits_.progress : limits_.start);
  }

  std::string exited(int status) {
    while (bytes_ <= limits_.bytes && read(milliseconds(0)) > 0) {
    }
    outcome_.ended_well = status == 0;
    return WIFSIGNALED(status)
               ? "signal " + std::to_string(WTERMSIG(status))
               : "exit code " + std::to_string(WEXITSTATUS(status));
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

  // What they and the end say of the case.
  void read_lines() {
    auto& told = outcome_.told;
    for (const std::string& line : lines_) {
      const Cells cells = split(line, '\t');
      if (cells.size() < 2 || kWords.count(cells[0]) == 0) {
        throw std::runtime_error("not a line: " + line);
      }
      told[cells[0]].emplace_back(cells.begin() + 1, cells.end());
    }
    std::string error = outcome_.ended_well ? "no result" : outcome_.end;
    if (told.count(kErrorLine) > 0) error = told[kErrorLine].back()[0];
    const bool whole = told.count(kResultLine) + told.count(kSkippedLine) > 0;
    outcome_.ended_well &= whole && told.count(kErrorLine) == 0;
    if (hangs_) {
      outcome_.text = outcome_.end;
    } else if (outcome_.ended_well && told.count(kResultLine) > 0) {
      outcome_.text = told[kResultLine].back()[0];
    } else {
      outcome_.text = "error " + error;
    }
  }

  const Limits limits_;
  ChildProcess child_;
  Outcome outcome_;
  std::vector<std::string> lines_;  // but "ready" and "launch"
  std::string errors_;
  steady_clock::time_point latest_ = steady_clock::now() + limits_.start;
  std::size_t bytes_ = 0;
  bool launched_ = false, hangs_ = false;
};

}  // namespace

std::optional<Task> Task::of_this_process() {
  const auto text = marked(kTaskVariable);
  if (!text) return std::nullopt;
  const Cells words = split(*text, ':');
  if (words.size() == 4) {
    const int gpus = parse_count(words[2], kTaskVariable, kMaxGpuCount);
    const int looked_at = parse_count(words[3], kTaskVariable, kMaxGpuCount);
    for (std::size_t form = 0; form < std::size(kFormNames); ++form) {
      if (words[1] == kFormNames[form]) {
        return Task{words[0], static_cast<Form>(form), gpus, looked_at};
      }
    }
  }
  throw UsageError(std::string(kTaskVariable) +
                   " is no task: " + quoted(*text));
}

Outcome run_process(char** argv, const Task& task, const Limits& limits) {
  check_interrupt();
  return Watched(argv, task, limits).follow();
}

}  // namespace syncbench::pitfalls
