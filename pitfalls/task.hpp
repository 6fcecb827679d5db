// What a process of Pitfalls is told to do. Host code only.
#pragma once

#include <optional>
#include <string>

#include "pitfalls/case.hpp"

namespace syncbench::pitfalls {

/// What one process is told to do.
struct Task {
  std::string name;  ///< of the case; empty: none, only the GPUs are looked at
  Form form = Form::kAllowed;
  int gpus = 1;             ///< that the case runs on
  int gpus_to_look_at = 1;  ///< that must run a kernel beforehand

  /// NAME=VALUE, for the environment of the process.
  std::string mark() const;

  /// Of this process, by its environment's SYNCBENCH_PITFALL; nothing where it
  /// is none of those. UsageError as of marked() in common/child_processes.hpp,
  /// and where that is no task.
  static std::optional<Task> of_this_process();
};

}  // namespace syncbench::pitfalls
