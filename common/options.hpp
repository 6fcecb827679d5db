// Command line of every executable: argv -> Options, or a UsageError.
#pragma once

#include <getopt.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "common/errors.hpp"

namespace syncbench {

inline constexpr int kDefaultSamples = 100;
inline constexpr int kMaxSamples = 1000000;
inline constexpr int kDefaultGpuCount = 2;

/// What a program can measure under one name.
struct MethodInfo {
  std::string name;
  std::string description;
};

/// What the command line of a program may hold.
struct ProgramInfo {
  std::string name;
  std::string summary;
  bool takes_gpu_count = false;
  int most_blocks_per_sm = 0;  ///< it sweeps 1, 2, 4, ... this; 0: no grids
  std::vector<MethodInfo> methods;
  std::string columns;  ///< description of all tables, for --help
};

enum class Action { kMeasure, kHelp, kVersion, kList, kDevices };

struct Options {
  Action action = Action::kMeasure;
  int gpu_count = 0;                 ///< 0: not given
  int samples = kDefaultSamples;     ///< samples a measured total
  bool stats = false;                ///< add the columns of --stats
  std::vector<std::string> methods;  ///< empty: all
  std::vector<int> blocks_per_sm;    ///< of the grids to measure

  bool wants(const std::string& method) const {
    return methods.empty() ||
           std::find(methods.begin(), methods.end(), method) != methods.end();
  }
};

/// A decimal whole number from 1 to `maximum` and nothing else.
inline int parse_count(const std::string& text, const std::string& name,
                       int maximum) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < 1 || value > maximum) {
    throw UsageError(name + " must be a whole number from 1 to " +
                     std::to_string(maximum) + ", got '" + text + "'");
  }
  return value;
}

/// Calls visit(WORD) for each of WORD[,WORD...].
template <class Visitor>
void for_each_word(const std::string& text, Visitor visit) {
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    visit(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

/// `name`, which has to be one of `known`.
inline std::string parse_method(const std::string& name,
                                const std::vector<MethodInfo>& known) {
  for (const MethodInfo& method : known) {
    if (method.name == name) return name;
  }
  throw UsageError("unknown method '" + name + "' (--list names them)");
}

namespace detail {

inline constexpr int kMaxGpuCount = 1024;  // more is a mistake on any node

// getopt has seen an option that the table does not hold, or one without its
// value. A negative number was meant as the gpu_count.
[[noreturn]] inline void reject_option(const ProgramInfo& info, int result,
                                       int argc, char** argv) {
  std::string word = argv[optind - 1];
  if (result == ':') throw UsageError("option '" + word + "' needs a value");
  if (word.rfind("--", 0) != 0) {  // a short one; optind may still be before it
    const std::string start = std::string("-") + static_cast<char>(optopt);
    for (int i = 1; i < argc; ++i) {
      if (std::string(argv[i]).rfind(start, 0) == 0) word = argv[i];
    }
    if (info.takes_gpu_count && optopt >= '0' && optopt <= '9') {
      parse_count(word, "gpu_count", kMaxGpuCount);
    }
  }
  throw UsageError("unknown option '" + word + "'");
}

}  // namespace detail

/// Reads the whole command line. Throws UsageError on anything not understood.
inline Options parse_options(const ProgramInfo& info, int argc, char** argv) {
  enum { kMethodOption = 1000, kBlocksOption, kSamplesOption, kStatsOption };
  const struct option table[] = {
      {"help", no_argument, nullptr, 'h'},
      {"version", no_argument, nullptr, 'v'},
      {"list", no_argument, nullptr, 'l'},
      {"devices", no_argument, nullptr, 'd'},
      {"method", required_argument, nullptr, kMethodOption},
      {"blocks-per-sm", required_argument, nullptr, kBlocksOption},
      {"samples", required_argument, nullptr, kSamplesOption},
      {"stats", no_argument, nullptr, kStatsOption},
      {nullptr, 0, nullptr, 0}};
  Options options;
  opterr = 0;
  optind = 0;  // glibc: start afresh, so that tests may parse twice
  for (int result;
       (result = getopt_long(argc, argv, ":h", table, nullptr)) != -1;) {
    switch (result) {
      case 'h':
        options.action = Action::kHelp;
        break;
      case 'v':
        options.action = Action::kVersion;
        break;
      case 'l':
        options.action = Action::kList;
        break;
      case 'd':
        options.action = Action::kDevices;
        break;
      case kMethodOption:
        for_each_word(optarg, [&](const std::string& word) {
          options.methods.push_back(parse_method(word, info.methods));
        });
        break;
      case kBlocksOption:
        if (info.most_blocks_per_sm == 0) {
          throw UsageError("--blocks-per-sm: no grids are swept here");
        }
        for_each_word(optarg, [&](const std::string& word) {
          auto& blocks = options.blocks_per_sm;
          const int count =
              parse_count(word, "--blocks-per-sm", info.most_blocks_per_sm);
          if (std::find(blocks.begin(), blocks.end(), count) == blocks.end()) {
            blocks.push_back(count);
          }
        });
        break;
      case kSamplesOption:
        options.samples = parse_count(optarg, "--samples", kMaxSamples);
        break;
      case kStatsOption:
        options.stats = true;
        break;
      default:
        detail::reject_option(info, result, argc, argv);
    }
  }
  if (options.blocks_per_sm.empty()) {
    for (int blocks = 1; blocks <= info.most_blocks_per_sm; blocks *= 2) {
      options.blocks_per_sm.push_back(blocks);
    }
  }
  const int positionals = argc - optind;
  const int allowed = info.takes_gpu_count ? 1 : 0;
  if (positionals > allowed) {
    throw UsageError(std::string("unexpected argument '") +
                     argv[optind + allowed] + "'");
  }
  if (positionals == 1) {
    options.gpu_count =
        parse_count(argv[optind], "gpu_count", detail::kMaxGpuCount);
  }
  return options;
}

/// Number of GPUs to measure when `found` >= 1 are there. An explicit count
/// beyond the node is a usage error; the default is clamped (*clamped set).
inline int resolve_gpu_count(int requested, int found, bool* clamped) {
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
