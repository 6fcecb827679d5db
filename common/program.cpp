#include "common/program.hpp"

#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <vector>

#include "build_info.hpp"
#include "common/child_processes.hpp"
#include "common/devices.hpp"
#include "common/errors.hpp"
#include "common/interrupt.hpp"
#include "common/option_values.hpp"

namespace syncbench {
namespace {

std::string help_text(const ProgramInfo& info) {
  std::string text = "usage: " + info.name + " [options]" +
                     (info.takes_gpu_count ? " [gpu_count]" : "") + "\n\n" +
                     info.summary + "\n\n";
  if (info.takes_gpu_count) {
    text +=
        "  gpu_count         methods of several GPUs run on up to so many\n"
        "                    (default 2, or 1 where the node has one)\n";
  }
  text += "  --method NAME[,NAME...]  measure only these methods\n";
  if (info.most_blocks_per_sm > 0) {
    text +=
        "  --blocks-per-sm N[,N...]  grids of so many blocks per SM instead "
        "of\n"
        "                    1, 2, 4, ... " +
        std::to_string(info.most_blocks_per_sm) + "\n";
  }
  if (!info.types.empty()) {
    text += "  --type TYPE[,TYPE...]  sum only these:";
    for (const std::string& type : info.types) text += " " + type;
    text +=
        "\n"
        "  --min-bytes N, --max-bytes N  the smallest and the largest array; "
        "N may end\n"
        "                    in K, M or G (default 1M to a quarter of a GPU's "
        "memory,\n"
        "                    to a half where several GPUs share an array)\n";
  }
  if (info.default_processes > 0) {
    text +=
        "  --processes N     measure in N processes, one after the other "
        "(default\n                    " +
        std::to_string(info.default_processes) + ", on more than " +
        std::to_string(kFewGpus) + " GPUs " +
        std::to_string(info.processes_on_many_gpus) +
        "); m, s and the interval\n"
        "                    are those of all of them\n";
  }
  const bool has_means = info.counted == nullptr;
  text += "  --samples N       " +
          std::string(has_means ? "samples of every total" : info.counted) +
          (info.default_processes > 0 ? ", in each process" : "") +
          " (default " + std::to_string(info.default_samples) + ")\n";
  if (has_means) {
    text +=
        "  --stats           more columns after the others: n, median, 95%\n"
        "                    interval, SM clock in MHz\n";
  }
  text +=
      "  --list            the methods, one a line\n"
      "  --devices         the visible GPUs, one a line\n"
      "  --version         version and commit\n" +
      std::string(info.machine_code
                      ? "  --machine-code N  what the methods' kernels consist "
                        "of on sm_N\n"
                      : "") +
      "  -h, --help        this text\n\n"
      "Rows are tab-separated on standard output, comments start with '#',\n"
      "a value that does not exist for a row is 'nan'. Columns:\n" +
      info.columns + (has_means ? "  from n on: only with --stats\n" : "") +
      "\nExit codes: 0 all measured; 1 a measurement failed or a row could "
      "not\n"
      "be written; 2 bad usage, including more GPUs than the node has; 3 no\n"
      "usable CUDA device; 4 a method named by --method cannot be measured "
      "here;\n"
      "130 (143) interrupted by SIGINT (SIGTERM), after the current sample; a\n"
      "second one ends it at once.\n";
  return text;
}

void print_devices(LineWriter& out) {
  const std::vector<Gpu> gpus = find_gpus();
  out.line("gpu\tname\tcompute_capability\tsms\tpci_bus_id");
  for (const Gpu& gpu : gpus) {
    out.line(std::to_string(gpu.index) + "\t" + gpu.name + "\t" +
             std::to_string(gpu.major) + "." + std::to_string(gpu.minor) +
             "\t" + std::to_string(gpu.sm_count) + "\t" + gpu.pci_bus_id);
  }
}

void run_action(const ProgramInfo& info, const Options& options,
                LineWriter& out, const Measure& measure) {
  switch (options.action) {
    case Action::kHelp: {
      std::string text = help_text(info);
      text.pop_back();
      return out.line(text);
    }
    case Action::kVersion:
      return out.line(version_text(info));
    case Action::kList:
      for (const MethodInfo& method : info.methods) {
        out.line(method.name + "\t" + method.description);
      }
      return;
    case Action::kDevices:
      return print_devices(out);
    case Action::kMachineCode:
      return out.line(info.machine_code(options.architecture));
    case Action::kMeasure:
      return measure(options, out);
  }
}

// One line, whatever is in the message.
int report(const ProgramInfo& info, const std::string& message, int code) {
  std::string line;
  for (const char byte : message) {
    line += byte == '\n' ? "; " : printable(std::string(1, byte));
  }
  std::fprintf(stderr, "%s: error: %s\n", info.name.c_str(), line.c_str());
  return code;
}

// Standard input, output and error that are closed: a file opened later, say a
// device's, would take their numbers, and rows. Only to be read, so that to
// write to them remains an error.
void open_standard_descriptors() {
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) {
    descriptor = open("/dev/null", O_RDONLY);
  }
  if (descriptor >= 0) close(descriptor);
}

}  // namespace

Progress::Progress()
    : terminal_(isatty(STDERR_FILENO) != 0 && isatty(STDOUT_FILENO) == 0) {}

void Progress::show(const std::string& text) {
  if (!terminal_) return;
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
  std::fflush(stderr);
}

std::string version_text(const ProgramInfo& info) {
  return info.name +
         " " SYNCBENCH_VERSION " (commit " SYNCBENCH_COMMIT ", CUDA " +
         cuda_version_text(CUDART_VERSION) + ")";
}

int run_program(const ProgramInfo& info, int argc, char** argv,
                const Measure& measure) {
  open_standard_descriptors();
  load_kernels_eagerly();
  LineWriter out(STDOUT_FILENO);
  try {
    const bool started = process_number() >= 0;
    if (started) end_with_parent();
    install_signal_handlers(!started);  // who started it says what follows
    const Options options = parse_options(info, argc, argv);
    run_action(info, options, out, measure);
    out.finish();
    return kExitOk;
  } catch (const UsageError& error) {
    return report(info, std::string(error.what()) + " (see --help)",
                  kExitUsage);
  } catch (const NoDeviceError& error) {
    return report(info, error.what(), kExitNoDevice);
  } catch (const NotMeasured& error) {
    return report(info, error.what(), kExitNotMeasured);
  } catch (const Interrupted& interrupted) {
    return report(info, "interrupted; the rows written are whole and valid",
                  kExitInterrupted + interrupted.signal);
  } catch (const ChildFailed& failed) {
    return failed.code;
  } catch (const std::exception& error) {
    return report(info, error.what(), kExitFailed);
  }
}

}  // namespace syncbench
