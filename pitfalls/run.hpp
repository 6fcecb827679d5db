// All cases, one process after the other, and their rows: what a process is
// told to do, and what it tells. It may hang, and is killed when it does. Host
// code only; nothing here touches CUDA.
#pragma once

#include <chrono>
#include <csignal>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/options.hpp"
#include "common/table.hpp"
#include "pitfalls/case.hpp"

namespace syncbench::pitfalls {

/// What a process is told to do.
struct Task {
  std::string name;  ///< of the case; empty: none, only the GPUs are looked at
  Form form = Form::kAllowed;
  int gpus = 1;             ///< that the case runs on
  int gpus_to_look_at = 1;  ///< that must run a kernel beforehand

  /// Of this process, by its environment's SYNCBENCH_PITFALL; nothing where it
  /// is none of those. UsageError as of marked() in common/child_processes.hpp,
  /// and where that is no task.
  static std::optional<Task> of_this_process();
};

/// What its parent grants it.
struct Limits {
  /// From its start to its first launch, and from a result to its end.
  std::chrono::milliseconds start = std::chrono::seconds(30);
  /// T: from a launch to what follows it.
  std::chrono::milliseconds progress = std::chrono::seconds(1);
  /// From being killed to its end: the driver has to take its kernel off the
  /// GPU.
  std::chrono::milliseconds death = std::chrono::seconds(20);
  std::size_t bytes = 1 << 20;  ///< that it may write
  int kill_signal = SIGKILL;    ///< another one can be ignored, for tests
};

using Cells = std::vector<std::string>;

// The lines by which it tells of itself: a word, and cells behind most, with
// tabs between them.
inline constexpr const char* kReadyLine = "ready";      ///< the GPUs work
inline constexpr const char* kLaunchLine = "launch";    ///< before each launch
inline constexpr const char* kResultLine = "result";    ///< of the whole case
inline constexpr const char* kRowLine = "row";          ///< without its name
inline constexpr const char* kWrongLine = "wrong";      ///< what is
inline constexpr const char* kErrorLine = "error";      ///< a name of CUDA's
inline constexpr const char* kNoteLine = "note";        ///< beside the row
inline constexpr const char* kSkippedLine = "skipped";  ///< a tag, a reason

/// What its lines and its end say.
struct Outcome {
  /// Of its case: the result, "no progress within T s" or "error NAME"; nothing
  /// where it was not ready.
  std::string text;
  std::string end;          ///< of the process: "exit code 0", "signal 6", ...
  std::string reason;       ///< first line of its errors behind a comma, if any
  bool ready = false;       ///< it has found its GPUs working
  bool ended_well = false;  ///< by itself, without an error
  int launches = 0;         ///< the last of which may not have ended
  std::map<std::string, std::vector<Cells>> told;  ///< cells of lines, by word
};

/// Runs this executable with `argv` (ended by a null pointer) for `task`.
/// Returns when the process has ended, by itself or killed with its whole
/// group. Throws Interrupted where a signal came, and std::runtime_error where
/// it cannot be killed or where it is ready and a line is none of a case.
Outcome run_process(char** argv, const Task& task, const Limits& limits);

/// Runs the task of this process: lines on `out`.
void run_task(const Task& task, const Options& options, LineWriter& out);

/// Columns of all tables, for --columns.
std::string describe_tables();

/// Rows of all of `cases` that are wanted, section by section, on `gpus` GPUs.
/// `argv`: the command line of the processes. Throws NoDeviceError where the
/// GPUs do not work, and std::runtime_error at once where they do not recover
/// from a case or its process cannot be killed; at the end where what is
/// allowed did not work, or what was asked for by name is not there.
void run_cases(const std::vector<Case>& cases, const Options& options,
               char** argv, LineWriter& out, int gpus,
               const Limits& limits = {});

}  // namespace syncbench::pitfalls
