// What may hang runs in a process of its own, which is killed when it does.
// Host code only; nothing here touches CUDA.
#pragma once

#include <chrono>
#include <csignal>
#include <cstddef>
#include <string>
#include <vector>

namespace syncbench::pitfalls {

// The lines by which a process that runs a case tells its parent of it: a word,
// and cells behind most, with tabs between them.
inline constexpr const char* kReadyLine = "ready";      ///< the GPUs work
inline constexpr const char* kLaunchLine = "launch";    ///< before each launch
inline constexpr const char* kResultLine = "result";    ///< cells follow
inline constexpr const char* kRowLine = "row";          ///< cells follow
inline constexpr const char* kErrorLine = "error";      ///< a name of CUDA's
inline constexpr const char* kNoteLine = "note";        ///< a text
inline constexpr const char* kSkippedLine = "skipped";  ///< a tag, a reason

/// What the parent grants a process.
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

enum class End {
  kExited,      ///< with a code, or by a signal of its own
  kNoStart,     ///< killed: no launch, or no end after the last result
  kNoProgress,  ///< killed: nothing followed its last launch
  kFlood        ///< killed: it wrote too much
};

/// How a process ended and what it wrote.
struct ProcessReport {
  End end = End::kExited;
  int status = 0;                  ///< as waitpid() gives it, where it exited
  bool ready = false;              ///< it has found its GPUs working
  int launches = 0;                ///< the last of which may not have ended
  std::vector<std::string> lines;  ///< all others
  std::string errors;              ///< its standard error

  /// The first line of its standard error behind a comma, or nothing.
  std::string reason() const;

  bool ended_well() const { return end == End::kExited && status == 0; }

  /// How it ended, in words: "no progress within 1 s".
  std::string text(const Limits& limits) const;
};

/// Runs this executable with `argv` (ended by a null pointer) and, before its
/// environment, `marks` (NAME=VALUE). Returns when the process has ended, by
/// itself or killed with its whole group. Throws Interrupted where a signal
/// came, and std::runtime_error where it cannot be killed.
ProcessReport run_isolated(char** argv, const std::vector<std::string>& marks,
                           const Limits& limits);

}  // namespace syncbench::pitfalls
