// Command line of every executable: argv -> Options, or a UsageError.
#pragma once

#include <getopt.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
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

/// Splits NAME[,NAME...] and checks every name against `known`.
inline std::vector<std::string> parse_methods(
    const std::string& text, const std::vector<MethodInfo>& known) {
  std::vector<std::string> names;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string name = text.substr(begin, end - begin);
    const bool found =
        std::any_of(known.begin(), known.end(),
                    [&name](const MethodInfo& m) { return m.name == name; });
    if (!found) {
      throw UsageError("unknown method '" + name + "' (--list names them)");
    }
    names.push_back(name);
    begin = end + 1;
  }
  return names;
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
  enum { kMethodOption = 1000, kSamplesOption, kStatsOption };
  const struct option table[] = {
      {"help", no_argument, nullptr, 'h'},
      {"version", no_argument, nullptr, 'v'},
      {"list", no_argument, nullptr, 'l'},
      {"devices", no_argument, nullptr, 'd'},
      {"method", required_argument, nullptr, kMethodOption},
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
        for (auto& name : parse_methods(optarg, info.methods)) {
          options.methods.push_back(std::move(name));
        }
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
