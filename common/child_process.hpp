// A process that this one starts and reads. Host code only; nothing here
// touches CUDA.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace syncbench {

using LineVisitor = std::function<void(const std::string&)>;

/// A pipe whose reading end is cut into lines.
class LinePipe {
 public:
  LinePipe();
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

}  // namespace syncbench
