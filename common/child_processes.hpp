// The process as the unit of replication: a program starts itself again,
// several times one after the other, and reads what each run of it measured.
// What a process draws once (placement of memory, contexts, queues, CPUs) is
// then drawn several times. Host code only; nothing here touches CUDA.
#pragma once

#include <functional>
#include <string>

namespace syncbench {

/// Number of this process, from 0, among those that run_processes() started; -1
/// in the one that the user started.
int process_number();

/// What makes process_number() of a started process `number`: NAME=VALUE for
/// its environment.
std::string process_mark(int number);

/// To be called first in a started process: it ends when its parent does, also
/// where that was killed.
void end_with_parent();

/// Runs this executable `count` times with the same arguments, one process
/// after the other, and calls visit(number, line) for every line that process
/// `number` writes to its standard output. Lines on standard error are passed
/// on, each once, whoever writes it. A process that fails ends it all:
/// ChildFailed with its exit code, or Interrupted.
void run_processes(char** argv, int count,
                   const std::function<void(int, const std::string&)>& visit);

}  // namespace syncbench
