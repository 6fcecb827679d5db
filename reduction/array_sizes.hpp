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

/// What the options ask for. By default 1 MiB to the largest power of two that
/// `parts` times fits into the memory of GPU 0. UsageError where an array is
/// larger than the memory that is free there, is no whole number of elements of
/// each type asked for, or where the smallest is larger than the largest.
ArraySizes array_sizes(const Options& options, int parts);

/// Bytes of the L2 cache of GPU 0.
long long l2_bytes();

}  // namespace syncbench
