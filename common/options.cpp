#include "common/options.hpp"

#include <getopt.h>

#include <algorithm>
#include <cstdlib>

#include "common/option_values.hpp"

namespace syncbench {
namespace {

enum LongOption {
  kMethodOption = 1000,
  kBlocksOption,
  kSamplesOption,
  kProcessesOption,
  kMachineCodeOption,
  kTypeOption,
  kMinBytesOption,
  kMaxBytesOption,
  kStatsOption
};

// `name`, which has to be a method of the program.
std::string parse_method(const std::string& name, const ProgramInfo& info) {
  for (const MethodInfo& method : info.methods) {
    if (method.name == name) return name;
  }
  for (const MethodInfo& method : info.missing) {
    if (method.name == name) throw UsageError(name + ": " + method.description);
  }
  throw UsageError("unknown method " + quoted(name) + " (--list names them)");
}

// Adds a value of --blocks-per-sm, once.
void add_blocks_per_sm(const ProgramInfo& info, const std::string& word,
                       std::vector<int>& blocks) {
  if (info.most_blocks_per_sm == 0) {
    throw UsageError("--blocks-per-sm: no grids are swept here");
  }
  const int count =
      parse_count(word, "--blocks-per-sm", info.most_blocks_per_sm);
  if (std::find(blocks.begin(), blocks.end(), count) == blocks.end()) {
    blocks.push_back(count);
  }
}

// `name`, which has to be a type of elements that the program sums.
std::string parse_type(const std::string& name, const ProgramInfo& info) {
  std::string known;
  for (const std::string& type : info.types) {
    if (type == name) return name;
    known += (known.empty() ? "" : ", ") + type;
  }
  throw UsageError("unknown type " + quoted(name) + ": it is one of " + known);
}

void take_array_option(const ProgramInfo& info, int option, Options& options) {
  if (info.types.empty()) {
    throw UsageError("--type, --min-bytes, --max-bytes: no arrays here");
  }
  switch (option) {
    case kTypeOption:
      return for_each_word(optarg, [&](const std::string& word) {
        options.types.push_back(parse_type(word, info));
      });
    case kMinBytesOption:
      options.min_bytes = parse_bytes(optarg, "--min-bytes");
      return;
    case kMaxBytesOption:
      options.max_bytes = parse_bytes(optarg, "--max-bytes");
  }
}

std::vector<int> swept_blocks_per_sm(const ProgramInfo& info) {
  std::vector<int> blocks;
  for (int count = 1; count <= info.most_blocks_per_sm; count *= 2) {
    blocks.push_back(count);
  }
  return blocks;
}

// getopt has seen an option that the table does not hold, or one without its
// value. A negative number was meant as the gpu_count.
[[noreturn]] void reject_option(const ProgramInfo& info, int result, int argc,
                                char** argv) {
  std::string word = argv[optind - 1];
  if (result == ':')
    throw UsageError("option " + quoted(word) + " needs a value");
  if (word.rfind("--", 0) != 0) {  // a short one; optind may still be before it
    const std::string start = std::string("-") + static_cast<char>(optopt);
    for (int i = 1; i < argc; ++i) {
      if (std::string(argv[i]).rfind(start, 0) == 0) word = argv[i];
    }
    if (info.takes_gpu_count && optopt >= '0' && optopt <= '9') {
      parse_count(word, "gpu_count", kMaxGpuCount);
    }
  }
  throw UsageError("unknown option " + quoted(word));
}

// getopt would take --samp for --samples: a script that says so breaks when an
// option is added.
void require_whole_names(const struct option* table, int argc, char** argv) {
  for (int i = 1; i < argc && std::string(argv[i]) != "--"; ++i) {
    const std::string word = argv[i];
    if (word.rfind("--", 0) != 0) continue;
    const std::string name = word.substr(2, word.find('=') - 2);
    const struct option* found = table;
    while (found->name != nullptr && found->name != name) ++found;
    if (found->name == nullptr) {
      throw UsageError("unknown option " + quoted(word));
    }
  }
}

void take_option(const ProgramInfo& info, int option, Options& options) {
  switch (option) {
    case 'h':
      options.action = Action::kHelp;
      return;
    case 'v':
      options.action = Action::kVersion;
      return;
    case 'l':
      options.action = Action::kList;
      return;
    case 'd':
      options.action = Action::kDevices;
      return;
    case kMethodOption:
      return for_each_word(optarg, [&](const std::string& word) {
        options.methods.push_back(parse_method(word, info));
      });
    case kBlocksOption:
      return for_each_word(optarg, [&](const std::string& word) {
        add_blocks_per_sm(info, word, options.blocks_per_sm);
      });
    case kSamplesOption:
      options.samples = parse_count(optarg, "--samples", kMaxSamples);
      return;
    case kProcessesOption:
      if (info.default_processes == 0) {
        throw UsageError("--processes: this program measures in one");
      }
      options.processes = parse_count(optarg, "--processes", kMaxProcesses);
      return;
    case kMachineCodeOption:
      if (!info.machine_code) {
        throw UsageError("--machine-code: this program has no methods to say");
      }
      options.architecture = parse_count(optarg, "--machine-code", 999);
      options.action = Action::kMachineCode;
      return;
    case kStatsOption:
      if (info.counted != nullptr) throw UsageError("--stats: no means here");
      options.stats = true;
      return;
    default:
      take_array_option(info, option, options);
  }
}

}  // namespace

bool Options::wants(const std::string& method) const {
  return methods.empty() ||
         std::find(methods.begin(), methods.end(), method) != methods.end();
}

bool Options::wants_type(const std::string& type) const {
  return types.empty() ||
         std::find(types.begin(), types.end(), type) != types.end();
}

Options parse_options(const ProgramInfo& info, int argc, char** argv) {
  const struct option table[] = {
      {"help", no_argument, nullptr, 'h'},
      {"version", no_argument, nullptr, 'v'},
      {"list", no_argument, nullptr, 'l'},
      {"devices", no_argument, nullptr, 'd'},
      {"method", required_argument, nullptr, kMethodOption},
      {"blocks-per-sm", required_argument, nullptr, kBlocksOption},
      {"samples", required_argument, nullptr, kSamplesOption},
      {"processes", required_argument, nullptr, kProcessesOption},
      {"machine-code", required_argument, nullptr, kMachineCodeOption},
      {"stats", no_argument, nullptr, kStatsOption},
      {"type", required_argument, nullptr, kTypeOption},
      {"min-bytes", required_argument, nullptr, kMinBytesOption},
      {"max-bytes", required_argument, nullptr, kMaxBytesOption},
      {nullptr, 0, nullptr, 0}};
  Options options;
  require_whole_names(table, argc, argv);
  options.samples = info.default_samples;
  opterr = 0;
  unsetenv("POSIXLY_CORRECT");  // with it, options may not follow gpu_count
  optind = 0;  // glibc: start afresh, so that tests may parse twice
  for (int result;
       (result = getopt_long(argc, argv, ":h", table, nullptr)) != -1;) {
    if (result == '?' || result == ':') {
      reject_option(info, result, argc, argv);
    }
    take_option(info, result, options);
  }
  if (options.blocks_per_sm.empty()) {
    options.blocks_per_sm = swept_blocks_per_sm(info);
  }
  const int positionals = argc - optind;
  const int allowed = info.takes_gpu_count ? 1 : 0;
  if (positionals > allowed) {
    throw UsageError("unexpected argument " + quoted(argv[optind + allowed]));
  }
  if (positionals == 1) {
    options.gpu_count = parse_count(argv[optind], "gpu_count", kMaxGpuCount);
  }
  if (options.processes == 0) {
    options.processes = options.gpu_count > kFewGpus
                            ? info.processes_on_many_gpus
                            : info.default_processes;
  }
  return options;
}

int resolve_gpu_count(int requested, int found, bool* clamped) {
  *clamped = false;
  if (requested > found) {
    throw UsageError("requested " + std::to_string(requested) +
                     " GPUs but only " + std::to_string(found) +
                     (found == 1 ? " was found" : " were found"));
  }
  if (requested > 0) return requested;
  *clamped = found < kDefaultGpuCount;
  return std::min(found, kDefaultGpuCount);
}

}  // namespace syncbench
