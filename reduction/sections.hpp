// The sections of Reduction, by the file that measures them.
#pragma once

#include <string>
#include <vector>

#include "common/measuring_run.hpp"
#include "common/options.hpp"
#include "reduction/array_sizes.hpp"

namespace syncbench::reduction {

/// When more threads pay: rates of a loop over shared memory (study, Table
/// III), sums there by few and by many threads, and where the second become
/// faster, predicted and measured (Table IV).
void model_sections(MeasuringRun& run, const SumOptions& sums);

/// What --method calls them, and their lines of --list.
std::vector<MethodInfo> model_methods();
std::string describe_model();

/// The section `one GPU` (study, Figure 15 and Table VI), whose rates are by
/// the GPU's own events. Returns the number of rows with a wrong sum.
int measure_one_gpu(MeasuringRun& run, const SumOptions& sums,
                    const ArraySizes& sizes);

/// The sections `strong scaling` (`sizes` are of the whole array) and, on
/// several GPUs, `weak scaling` (of each GPU's part; study, Figure 16), whose
/// rates are by the host's clock. Returns the number of rows with a wrong sum.
int measure_many_gpus(MeasuringRun& run, const SumOptions& sums,
                      const ArraySizes& sizes);

/// The lines of --columns of these sections.
std::string describe_arrays();

}  // namespace syncbench::reduction
