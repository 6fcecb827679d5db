// The sections of Reduction that a file each measures.
#pragma once

#include <string>

#include "common/measuring_run.hpp"
#include "reduction/array_sizes.hpp"

namespace syncbench {

/// Sums of 32 values by one warp (study, Table V), of the methods and types
/// that the command line asks for.
void warp_level_section(MeasuringRun& run, const SumOptions& sums);

/// Its lines of --help.
std::string describe_warp_level();

/// The section `one GPU` (study, Figure 15 and Table VI). Returns the number of
/// rows with a wrong sum.
int measure_one_gpu(MeasuringRun& run, const SumOptions& sums,
                    const ArraySizes& sizes);

/// The sections `strong scaling` (`sizes` are of the whole array) and, on
/// several GPUs, `weak scaling` (of each GPU's part; study, Figure 16). Returns
/// the number of rows with a wrong sum.
int measure_many_gpus(MeasuringRun& run, const SumOptions& sums,
                      const ArraySizes& sizes);

}  // namespace syncbench
