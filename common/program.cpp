#include "common/program.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "common/child_processes.hpp"
#include "common/devices.hpp"
#include "common/errors.hpp"
#include "common/interrupt.hpp"
#include "common/measuring_run.hpp"

namespace syncbench {
namespace {

// Opens standard input, output and error if they are closed: a file opened
// later would take their numbers, and rows. Read-only, so that writing remains
// an error.
void open_standard_descriptors() {
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) {
    descriptor = open("/dev/null", O_RDONLY);
  }
  if (descriptor >= 0) close(descriptor);
}

// What the output's comments have said, on standard error; not where another
// process says so.
void say_told(const ProgramInfo& info, const LineWriter& out) {
  const char* asked = std::getenv("SYNCBENCH_WARNINGS");
  if (info.quiet || (asked != nullptr && std::string(asked) == "none")) return;
  for (const std::string& line : out.told().lines()) {
    std::fprintf(stderr, "%s: %s\n", info.name.c_str(),
                 printable(line).c_str());
  }
}

}  // namespace

Progress::Progress()
    : terminal_(isatty(STDERR_FILENO) != 0 && isatty(STDOUT_FILENO) == 0) {}

void Progress::show(const std::string& text) {
  if (!terminal_) return;
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
  std::fflush(stderr);
}

std::string error_line(const std::string& program, const std::string& message) {
  std::string line = program + ": error: ";
  for (const char byte : message) {
    line += byte == '\n' ? "; " : printable(std::string(1, byte));
  }
  return line;
}

int say_failure(const std::string& line, int code) {
  std::fprintf(stderr, "%s\n", line.c_str());
  return code;
}

int run_sections(const ProgramInfo& info, int argc, char** argv,
                 const std::function<std::string(MeasuringRun&)>& sections) {
  return run_program(info, argc, argv,
                     [&](const Options& options, LineWriter& out) {
                       MeasuringRun run(info, options, out);
                       run.measure_all([&] { return sections(run); });
                     });
}

int run_program(const ProgramInfo& info, int argc, char** argv,
                const Measure& measure, const SayFailure& say) {
  const auto report = [&](const std::string& message, int code) {
    return say(error_line(info.name, message), code);
  };
  open_standard_descriptors();
  load_kernels_eagerly();
  LineWriter out(STDOUT_FILENO);
  bool started = true;
  try {
    started = process_number() >= 0;
    if (started) end_with_parent();
    install_signal_handlers(!started && !info.quiet);  // another says it there
    const Options options = parse_options(info, argc, argv);
    if (options.print) {
      out.line(options.print());
    } else {
      out.show_stats(options.stats);
      measure(options, out);
    }
    out.finish();
    if (!started) say_told(info, out);
    return kExitOk;
  } catch (const UsageError& error) {
    return report(std::string(error.what()) + " (see --help)", kExitUsage);
  } catch (const NoDeviceError& error) {
    return report(error.what(), kExitNoDevice);
  } catch (const NotMeasured& error) {
    return report(error.what(), kExitNotMeasured);
  } catch (const Interrupted& interrupted) {
    return report("interrupted; the rows written are whole and valid",
                  kExitInterrupted + interrupted.signal);
  } catch (const ChildFailed& failed) {
    return failed.code;
  } catch (const std::exception& error) {
    if (!started) say_told(info, out);
    return report(error.what(), kExitFailed);
  }
}

}  // namespace syncbench
