// The sessions of all methods, by library, each of which says its version too:
// empty where it is not in this build. no_*.cpp is for builds without it.
#pragma once

#include <memory>
#include <string>

#include "libraries/method.hpp"

namespace syncbench::libraries {

// This suite's barrier library, which is in all builds.
std::string peer_grid_version();
std::unique_ptr<Session> open_peer_grid(Team& team, Lengths lengths);

// MPI, whose version mpi_calls.hpp has.
std::unique_ptr<Session> open_mpi_barrier(Team& team, Lengths lengths);
std::unique_ptr<Session> open_mpi_launch(Team& team, Lengths lengths);

std::string nccl_version();  ///< "2.28.9"
std::unique_ptr<Session> open_nccl_all_reduce(Team& team, Lengths lengths);
std::unique_ptr<Session> open_nccl_graph(Team& team, Lengths lengths);
std::unique_ptr<Session> open_nccl_graph_registered(Team& team,
                                                    Lengths lengths);
std::unique_ptr<Session> open_nccl_lsa_block(Team& team, Lengths lengths);
std::unique_ptr<Session> open_nccl_lsa_grid(Team& team, Lengths lengths);

// NVSHMEM, which needs a process for each GPU.
std::string nvshmem_version();
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

}  // namespace syncbench::libraries
