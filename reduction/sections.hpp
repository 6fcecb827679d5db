// The sections of Reduction, by the file that measures them.
#pragma once

#include <string>
#include <vector>

#include "common/measuring_run.hpp"
#include "common/options.hpp"
#include "reduction/array_sizes.hpp"

namespace syncbench::reduction {

/// Sums of 32 values by one warp (study, Table V), of the methods and types
/// that the command line asks for.
void warp_level_section(MeasuringRun& run, const SumOptions& sums);

/// Its lines of --columns.
std::string describe_warp_level();

/// When more threads pay: rates of a loop over shared memory (study, Table
/// III), sums there by few and by many threads, and where the second become
/// faster, predicted and measured (Table IV).
void model_sections(MeasuringRun& run, const SumOptions& sums);

/// What --method calls them, and their lines of --list.
std::vector<MethodInfo> model_methods();
std::string describe_model();

/// The section `one GPU` (study, Figure 15 and Table VI). Returns the number of
/// rows with a wrong sum.
int measure_one_gpu(MeasuringRun& run, const SumOptions& sums,
                    const ArraySizes& sizes);

/// The sections `strong scaling` (`sizes` are of the whole array) and, on
/// several GPUs, `weak scaling` (of each GPU's part; study, Figure 16). Returns
/// the number of rows with a wrong sum.
int measure_many_gpus(MeasuringRun& run, const SumOptions& sums,
                      const ArraySizes& sizes);

}  // namespace syncbench::reduction
