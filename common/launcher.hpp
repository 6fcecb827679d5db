// Which processes have mpirun or srun started? By the variables of Open MPI,
// MPICH and Slurm.
#pragma once

#include <cstdlib>
#include <initializer_list>

namespace syncbench {

/// The number in the first of these variables that is set; -1: none is.
inline int number_in(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const char* text = std::getenv(name);
    if (text != nullptr) return std::atoi(text);
  }
  return -1;
}

/// How many, this one included; -1: no launcher has started this one. A batch
/// script of Slurm has the number of its tasks, but is no step of several.
inline int launched_processes() {
  return number_in(
      {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"});
}

/// The number of this one among them.
inline int launched_number() {
  return number_in({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"});
}

}  // namespace syncbench
