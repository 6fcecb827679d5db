// What a run sums: types of elements and sizes of arrays.
#pragma once

#include <string>
#include <vector>

#include "common/devices.hpp"
#include "common/options.hpp"

namespace syncbench::reduction {

/// What the command line says of it.
struct SumOptions {
  std::vector<std::string> types = {};  ///< empty: all
  long long min_bytes = 0;              ///< of the smallest array; 0: not given
  long long max_bytes = 0;              ///< of the largest array; 0: not given

  bool wants_type(const std::string& type) const;

  /// Whether rows of `type` are measured where those of `shown` are of the
  /// study, and of others evidence.
  bool measures_type(const std::string& type, const std::string& shown,
                     const Options& options) const;
};

/// --type, --min-bytes and --max-bytes, which write to `sums`.
std::vector<Option> options_for(SumOptions& sums);

// The largest array by default is one part of so many of a GPU's memory: where
// it is on one GPU it leaves room for other work, of several each holds a part.
inline constexpr int kPartsOnOne = 4;
inline constexpr int kPartsOnSeveral = 2;

struct ArraySizes {
  long long smallest, largest;  ///< bytes
  /// The smallest, `factor` times as much, and so on.
  std::vector<long long> swept(int factor) const;
};

/// What `sums` asks for. By default 1 MiB to the largest power of two of
/// which each GPU's memory holds `parts`, and has room for one. UsageError
/// where an array is larger than what is free on a GPU, is no whole number of
/// elements of each type asked for, or where the smallest is larger than the
/// largest.
ArraySizes array_sizes(const SumOptions& sums, const std::vector<Gpu>& gpus,
                       int parts);

}  // namespace syncbench::reduction
