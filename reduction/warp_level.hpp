// The section on sums of 32 values by one warp (study, Table V).
#pragma once

#include <string>

#include "common/measuring_run.hpp"
#include "reduction/array_sizes.hpp"

namespace syncbench {

/// Measures the methods and types that the command line asks for; a row each.
void warp_level_section(MeasuringRun& run, const SumOptions& sums);

/// Its lines of --help.
std::string describe_warp_level();

}  // namespace syncbench
