// Sums of 32 values in shared memory by one warp (study, section VII-C).
#pragma once

#include <vector>

#include "explicit_barrier/method_entry.hpp"

namespace syncbench::reduction {

using explicit_barrier::MethodEntry;

/// The methods for one type of values, in the order of the study's Table V and
/// then the newer ones.
struct WarpSums {
  const char* type;  ///< as --type spells it
  std::vector<MethodEntry> methods;
};

/// Of double, as in the study, then float and int.
std::vector<WarpSums> warp_sums();

/// All of them, those of one name together: for --list and --machine-code.
std::vector<MethodEntry> warp_sum_methods();

}  // namespace syncbench::reduction
