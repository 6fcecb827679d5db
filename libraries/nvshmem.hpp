// Methods of NVSHMEM, which needs a process for each GPU. no_nvshmem.cpp has
// the same for builds without it.
#pragma once

#include <memory>
#include <string>

#include "libraries/method.hpp"

namespace syncbench {

std::string nvshmem_version();  ///< empty: not in this build

std::unique_ptr<Session> open_nvshmem_sync_block(Team& team, Lengths lengths);
std::unique_ptr<Session> open_nvshmem_barrier_block(Team& team,
                                                    Lengths lengths);
std::unique_ptr<Session> open_nvshmem_sync_grid(Team& team, Lengths lengths);
std::unique_ptr<Session> open_nvshmem_barrier_grid(Team& team, Lengths lengths);
std::unique_ptr<Session> open_nvshmem_sync_stream(Team& team, Lengths lengths);
std::unique_ptr<Session> open_nvshmem_barrier_stream(Team& team,
                                                     Lengths lengths);
std::unique_ptr<Session> open_nvshmem_sync_host(Team& team, Lengths lengths);
std::unique_ptr<Session> open_nvshmem_barrier_host(Team& team, Lengths lengths);

/// Leaves NVSHMEM where a method has joined it. All processes call it.
void end_nvshmem();

}  // namespace syncbench
