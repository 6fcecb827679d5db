// The sections on when more threads pay: rates of a loop over shared memory
// (study, Table III), sums there by few and by many threads, and where the
// second become faster, predicted and measured (Table IV).
#pragma once

#include <string>
#include <vector>

#include "common/measuring_run.hpp"
#include "common/method_info.hpp"
#include "reduction/array_sizes.hpp"

namespace syncbench {

/// What --method calls these sections.
std::vector<MethodInfo> model_methods();

/// Measures the sections and types that the command line asks for.
void model_sections(MeasuringRun& run, const SumOptions& sums);

/// Their lines of --help.
std::string describe_model();

}  // namespace syncbench
