// Sums of arrays on one GPU (study, Figure 15 and Table VI).
#pragma once

#include "common/measuring_run.hpp"
#include "reduction/array_sizes.hpp"

namespace syncbench {

/// The section `one GPU`. Returns the number of rows with a wrong sum.
int measure_one_gpu(MeasuringRun& run, const SumOptions& sums,
                    const ArraySizes& sizes);

}  // namespace syncbench
