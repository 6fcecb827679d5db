// The process as the unit of replication: a program starts itself again,
// several times one after the other, and reads what each run of it measured.
// What a process gets only once (memory, contexts, queues, CPUs) then varies.
// Host code only; nothing here touches CUDA.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace syncbench {

inline constexpr int kMaxProcesses = 1000;  ///< of run_processes()

/// NAME=VALUE:PID for the environment of a process that this one starts. PID is
/// this process, and the proof that no user has set NAME.
std::string mark_of(const std::string& name, const std::string& value);

/// VALUE of such a variable; nothing where NAME is not set. UsageError where
/// PID did not start this process, itself or through others (a tool may run in
/// between): a user has set it, or an older run has left it.
std::optional<std::string> marked(const std::string& name);

/// Number of this process, from 0, among those that run_processes() started; -1
/// in the one that the user started. Below kMaxProcesses. UsageError as of
/// marked(); its variable is SYNCBENCH_PROCESS.
int process_number();

/// What makes process_number() of a started process `number`: NAME=VALUE for
/// its environment.
std::string process_mark(int number);

/// To be called first in a started process: it ends when its parent does, also
/// where that was killed. UsageError as of marked() where it is gone already.
void end_with_parent();

/// Runs this executable `count` times with the same arguments, one process
/// after the other, and calls visit(number, line) for every line that process
/// `number` writes to its standard output. Lines on standard error are passed
/// on, each once, whoever writes it. A process that fails ends it all:
/// ChildFailed with its exit code, or Interrupted.
void run_processes(char** argv, int count,
                   const std::function<void(int, const std::string&)>& visit);

}  // namespace syncbench
