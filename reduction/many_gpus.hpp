// Sums of arrays that several GPUs hold (study, Figure 16).
#pragma once

#include "common/measuring_run.hpp"
#include "reduction/array_sizes.hpp"

namespace syncbench {

/// The sections `strong scaling` (`sizes` are of the whole array) and, on
/// several GPUs, `weak scaling` (of each GPU's part). Returns the number of
/// rows with a wrong sum.
int measure_many_gpus(MeasuringRun& run, const SumOptions& sums,
                      const ArraySizes& sizes);

}  // namespace syncbench
