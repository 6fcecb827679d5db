// Command line of every executable: argv -> Options, or a UsageError. The
// parser and --help go through one table: the options that all programs have
// and those that a program adds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/errors.hpp"
#include "common/sets.hpp"

namespace syncbench {

inline constexpr int kDefaultSamples = 100;
inline constexpr int kDefaultGpuCount = 2;

// The most of what can be counted on the command line; more is a mistake.
inline constexpr int kMaxSamples = 1000000;
inline constexpr int kMaxGpuCount = 1024;

/// What the command line says to every program.
struct Options {
  int gpu_count = 0;                 ///< 0: not given
  int only_gpu = -1;                 ///< this one of the visible GPUs alone
  int samples = kDefaultSamples;     ///< samples a measured total
  bool stats = false;                ///< add the columns of --stats
  bool all = false;                  ///< measure all sets
  std::vector<std::string> methods;  ///< empty: those of the sets measured
  /// What to print instead of measuring; none: measure.
  std::function<std::string()> print;

  /// Whether sections and points of a set are measured.
  bool measures(Set set) const { return all || set != Set::kEvidence; }

  /// Whether a method of a set is; one that is named is, whatever its set.
  bool wants(const std::string& method, Set set) const;
};

/// One option: a row of the table.
struct Option {
  std::string name;      ///< without --
  std::string argument;  ///< its value in --help; empty: it takes none
  std::string help;      ///< --help breaks it into lines
  /// Called with the value, each time that the option is given. Keeps it where
  /// the program looks, or in `options`. Throws UsageError where it is wrong.
  std::function<void(const std::string& value, Options& options)> take;
};

/// What a program can measure under one name.
struct MethodInfo {
  std::string name;
  std::string description;       ///< what it does
  std::string group = {};        ///< for scripts: whom it joins, or its kind
  std::string notes = {};        ///< what a reader of its rows has to know
  std::string instruction = {};  ///< About::instruction
  Set set = Set::kToday;
};

/// What a program is, and what its command line may hold.
struct ProgramInfo {
  std::string name;
  std::string summary;
  bool takes_gpu_count = false;
  bool takes_stats = true;          ///< its rows have means
  std::vector<Option> options;      ///< its own; all programs have others
  std::vector<MethodInfo> methods;  ///< for --list and --method
  std::vector<MethodInfo> missing;  ///< not in this build, and why
  int default_samples = kDefaultSamples;
  std::string counted = "samples of every total";  ///< by --samples
  std::string columns;  ///< of all tables, by describe(), for --columns
  bool quiet = false;   ///< another process says on standard error the same
};

/// Reads the whole command line. Throws UsageError on anything not understood.
/// Options::print may refer to `info`.
Options parse_options(const ProgramInfo& info, int argc, char** argv);

/// `name=NAME version=... commit=... toolkit=...`, for --version and at the top
/// of an output.
std::string version_text(const ProgramInfo& info);

/// Number of GPUs to measure when `found` >= 1 are there; 0 requested: at most
/// kDefaultGpuCount. An explicit count beyond the node is a usage error.
int resolve_gpu_count(int requested, int found);

/// `text` with an escape sequence such as \n or \x1b for every byte that is no
/// printable ASCII, so that it cannot break a line or move the cursor.
std::string printable(const std::string& text);

/// An argument for a message: printable(), in quotes, cut after 200 bytes.
std::string quoted(const std::string& text);

/// A decimal whole number from 1 to `maximum`, without leading zeros, and
/// nothing else. UsageError that names `name` otherwise.
int parse_count(const std::string& text, const std::string& name, int maximum);

/// A number of bytes, 1 to 2^50, which may end in K, M or G (of 1024); else as
/// parse_count().
long long parse_bytes(const std::string& text, const std::string& name);

/// "; did you mean NAME?" where one of `names` is near to `word`; else nothing.
std::string did_you_mean(const std::string& word,
                         const std::vector<std::string>& names);

/// The words of WORD[,WORD...], of which some may be empty.
std::vector<std::string> split_words(const std::string& text);

}  // namespace syncbench
