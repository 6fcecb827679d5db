// The sizes of the arrays that a run sums.
#pragma once

#include <vector>

#include "common/devices.hpp"
#include "common/options.hpp"

namespace syncbench {

struct ArraySizes {
  long long smallest, largest;  ///< bytes
  /// The smallest, `factor` times as much, and so on.
  std::vector<long long> swept(int factor) const;
};

/// What the options ask for. By default 1 MiB to the largest power of two of
/// which each GPU's memory holds `parts`, and has room for one. UsageError
/// where an array is larger than what is free on a GPU, is no whole number of
/// elements of each type asked for, or where the smallest is larger than the
/// largest.
ArraySizes array_sizes(const Options& options, const std::vector<Gpu>& gpus,
                       int parts);

/// Bytes of the L2 cache of GPU 0.
long long l2_bytes();

}  // namespace syncbench
