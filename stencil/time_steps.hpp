// The sections of Stencil.
#pragma once

#include <set>
#include <string>

#include "common/measuring_run.hpp"
#include "libraries/processes.hpp"

namespace syncbench::stencil {

using libraries::ProcessRun;

/// Threads of a block; there is one block on each SM.
inline constexpr int kFieldThreads = 1024;

/// The part of a GPU's memory that the largest field takes.
inline constexpr int kPartOfMemory = 4;

/// What the command line says of fields.
struct FieldOptions {
  long long max_bytes = 0;  ///< of the largest on each GPU; 0: kPartOfMemory
};

/// What was wrong.
struct WrongSteps {
  int rows = 0;
  std::set<std::string> ways;  ///< in the small fields before any row

  /// For an error; empty: nothing was.
  std::string text() const;
};

/// The sections `time steps 2D` and `time steps 3D`: every way on one GPU, on
/// two, four and so on, and on all; in several processes, on all alone. Each
/// way has first shown its results to be those of the host.
WrongSteps measure_time_steps(MeasuringRun& run, const ProcessRun& process,
                              const FieldOptions& fields);

/// Their lines of --columns.
std::string describe_time_steps();

}  // namespace syncbench::stencil
