// What the other files need of MPI. no_mpi.cpp has the same for builds without
// it, in which there is one process. One thread alone calls these.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace syncbench::libraries::mpi {

/// Where this process is among those that mpirun or srun started.
struct World {
  int rank = 0;
  int size = 1;
  int local_rank = 0;  ///< among the processes of its node
  int node = 0;        ///< number of its node
  int nodes = 1;
};

/// MPI's name and version; empty where it is not in this build.
std::string version();

/// Joins the other processes that mpirun or srun has started. Without it MPI is
/// not called at all, and this process is alone.
World start(int* argc, char*** argv);

/// Returns when all processes have called it: MPI_Barrier.
void barrier();

/// Gives all processes the bytes of process 0.
void broadcast(void* data, std::size_t bytes);

/// The text of each process.
std::vector<std::string> gather(const std::string& text);

/// What a process sends to another, and what it receives from it: as many
/// bytes.
struct Message {
  int other;
  const void* sent;
  void* received;
  std::size_t bytes;
};

/// Sends and receives all of these, at the same time.
void exchange(const std::vector<Message>& messages);

/// To be called last, by all processes.
void end();

}  // namespace syncbench::libraries::mpi
