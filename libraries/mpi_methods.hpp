// MPI's barrier of processes with a GPU each.
#pragma once

#include <memory>

#include "libraries/method.hpp"

namespace syncbench {

std::unique_ptr<Session> open_mpi_barrier(Team& team, Lengths lengths);
std::unique_ptr<Session> open_mpi_launch(Team& team, Lengths lengths);

}  // namespace syncbench
