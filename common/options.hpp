// Command line of every executable: argv -> Options, or a UsageError.
#pragma once

#include <string>
#include <vector>

#include "common/errors.hpp"
#include "common/method_info.hpp"

namespace syncbench {

inline constexpr int kDefaultSamples = 100;
inline constexpr int kDefaultGpuCount = 2;

/// A gpu_count above this is one of many GPUs.
inline constexpr int kFewGpus = 4;

// The most of what can be counted on the command line; more is a mistake.
inline constexpr int kMaxSamples = 1000000;
inline constexpr int kMaxProcesses = 1000;
inline constexpr int kMaxGpuCount = 1024;

/// What the command line of a program may hold.
struct ProgramInfo {
  std::string name;
  std::string summary;
  bool takes_gpu_count = false;
  int most_blocks_per_sm = 0;  ///< it sweeps 1, 2, 4, ... this; 0: no grids
  std::vector<std::string> types = {};  ///< of elements that it sums; or none
  std::vector<MethodInfo> methods;
  std::vector<MethodInfo> missing;  ///< not in this build, and why
  int default_samples = kDefaultSamples;
  /// What --samples counts where rows have no means, and so no --stats.
  const char* counted = nullptr;
  int default_processes = 0;  ///< it measures in so many; 0: in its own alone
  int processes_on_many_gpus = 0;  ///< goes with it: for more than kFewGpus
  std::string columns;             ///< description of all tables, for --help
  /// For --machine-code: what its kernels consist of on an architecture, 90 for
  /// sm_90. None: it does not say.
  std::string (*machine_code)(int architecture) = nullptr;
};

enum class Action { kMeasure, kHelp, kVersion, kList, kDevices, kMachineCode };

struct Options {
  Action action = Action::kMeasure;
  int architecture = 0;              ///< of --machine-code, 90 for sm_90
  int gpu_count = 0;                 ///< 0: not given
  int samples = kDefaultSamples;     ///< samples a measured total (and process)
  int processes = 0;                 ///< to measure in, one after the other
  bool stats = false;                ///< add the columns of --stats
  std::vector<std::string> methods;  ///< empty: all
  std::vector<int> blocks_per_sm;    ///< of the grids to measure
  std::vector<std::string> types;    ///< of the elements to sum; empty: all
  long long min_bytes = 0;           ///< of the smallest array; 0: not given
  long long max_bytes = 0;           ///< of the largest array; 0: not given

  bool wants(const std::string& method) const;
  bool wants_type(const std::string& type) const;
};

/// Reads the whole command line. Throws UsageError on anything not understood.
Options parse_options(const ProgramInfo& info, int argc, char** argv);

/// Number of GPUs to measure when `found` >= 1 are there. An explicit count
/// beyond the node is a usage error; the default is clamped (*clamped set).
int resolve_gpu_count(int requested, int found, bool* clamped);

}  // namespace syncbench
