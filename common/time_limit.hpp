// For waits that have no limit of their own: an operation's in a kernel, MPI's
// for processes that never come.
#pragma once

#include <string>

namespace syncbench {

/// Ends this process with exit code 1 where it lives longer than so many
/// seconds, and writes `line` on stderr before. One at a time.
class TimeLimit {
 public:
  TimeLimit(const std::string& line, int seconds);
  TimeLimit(const TimeLimit&) = delete;
  ~TimeLimit();
};

}  // namespace syncbench
