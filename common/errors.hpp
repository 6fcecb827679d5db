// The ways a program ends, and the exceptions that lead to them.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace syncbench {

/// Exit codes of every executable, listed in its --help.
enum ExitCode : int {
  kExitOk = 0,            ///< all that was asked for was measured
  kExitFailed = 1,        ///< a measurement, or writing its row, failed
  kExitUsage = 2,         ///< bad arguments, more GPUs than there are included
  kExitNoDevice = 3,      ///< no usable CUDA device
  kExitNotMeasured = 4,   ///< a method asked for by name is not possible here
  kExitInterrupted = 128  ///< plus the number of the signal: 130 for Ctrl-C
};

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct NoDeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A point cannot be measured on this machine; what() says why, `tag` as
/// Remark::tag does.
struct CannotMeasure : std::runtime_error {
  CannotMeasure(std::string reason_tag, const std::string& text)
      : std::runtime_error(text), tag(std::move(reason_tag)) {}
  std::string tag;
};

/// What was asked for by name cannot be measured on this machine.
struct NotMeasured : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Rows can no longer be written (disk full, reader gone).
struct OutputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// SIGINT or SIGTERM arrived; thrown between two samples, never inside a row.
struct Interrupted {
  int signal;
};

/// A process that this one started ended with this exit code and has said why.
struct ChildFailed {
  int code;
};

}  // namespace syncbench
