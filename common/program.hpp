// main() of every executable: options, signals, errors -> exit codes.
#pragma once

#include <functional>
#include <string>

#include "common/options.hpp"
#include "common/table.hpp"

namespace syncbench {

/// A single updating line on a terminal, nothing elsewhere.
class Progress {
 public:
  Progress();
  void show(const std::string& text);
  void clear() { show(""); }

 private:
  bool terminal_;
};

using Measure = std::function<void(const Options&, LineWriter&)>;

/// "PROGRAM: error: MESSAGE", one line whatever is in the message.
std::string error_line(const std::string& program, const std::string& message);

/// How a failure is said: a line without its end. Returns the exit code,
/// `code`.
using SayFailure = std::function<int(const std::string& line, int code)>;
int say_failure(const std::string& line, int code);  ///< on stderr

/// Runs `measure(options, out)` for the command line, or what else it asks
/// for, and returns the exit code. Every failure is one line on stderr.
int run_program(const ProgramInfo& info, int argc, char** argv,
                const Measure& measure, const SayFailure& say = say_failure);

class MeasuringRun;

/// The same of a program that measures all its sections in one process.
int run_sections(const ProgramInfo& info, int argc, char** argv,
                 const std::function<std::string(MeasuringRun&)>& sections);

}  // namespace syncbench
