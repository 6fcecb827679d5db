// Processes that this one starts and reads, one that hangs among them, and
// the process as the unit of replication: a program starts itself again,
// several times one after the other, and reads what each run of it measured.
// What a process gets only once (memory, contexts, queues, CPUs) then varies.
// Host code only; nothing here touches CUDA.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
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

using LineVisitor = std::function<void(const std::string&)>;

/// A pipe, or what else can be read, whose reading end is cut into lines.
class LinePipe {
 public:
  LinePipe();
  /// Of an open descriptor, which it closes.
  explicit LinePipe(int read_end) : read_end_(read_end) {}
  LinePipe(const LinePipe&) = delete;
  LinePipe& operator=(const LinePipe&) = delete;
  ~LinePipe();

  int write_end() const { return write_end_; }
  int read_end() const { return read_end_; }  ///< -1 once all was read
  void close_writing();

  /// Reads what is there and calls visit(line) for every whole line; at the end
  /// also for what follows the last one. Returns the number of bytes.
  std::size_t take(const LineVisitor& visit);

 private:
  int read_end_ = -1, write_end_ = -1;
  std::string rest_;
};

/// A run of this executable, with its standard output and error in pipes. It
/// has its own process group, so that only its parent passes on Ctrl-C. What is
/// left of the group is killed when it ends or this object goes.
class ChildProcess {
 public:
  /// `argv`: its command line, ended by a null pointer. `marks`: NAME=VALUE,
  /// which its environment holds before everything of this one's.
  ChildProcess(char** argv, const std::vector<std::string>& marks);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  pid_t pid() const { return pid_; }

  /// True until both of its outputs have ended.
  bool writes() const { return out_.read_end() >= 0 || err_.read_end() >= 0; }

  /// Waits for output, at most `limit`, and calls on_out(line), on_err(line)
  /// for what is there. Returns the number of bytes.
  std::size_t read(std::chrono::milliseconds limit, const LineVisitor& on_out,
                   const LineVisitor& on_err);

  /// Its status as waitpid() gives it, once it has ended; nothing where it has
  /// not within `limit`.
  std::optional<int> ended_within(std::chrono::milliseconds limit);

  /// Waits for its end.
  int wait();

  /// Sends `signal` to its whole group; false where it has not ended after
  /// `limit`. It is then left alone.
  bool end(int signal, std::chrono::milliseconds limit);

 private:
  int reap();  // it has ended; its status

  LinePipe out_, err_;
  pid_t pid_ = -1;  // of one that has not been reaped
};

/// How many processes mpirun or srun has started, this one included, by the
/// variables of Open MPI, MPICH and Slurm; -1: no launcher has started this
/// one. A batch script of Slurm has the number of its tasks, but is no step of
/// several.
int launched_processes();

/// The number of this one among them.
int launched_number();

}  // namespace syncbench
