// Preloaded: a process that gets the signal of the variable SIGNAL when it
// leaves MPI.
#include <mpi.h>

#include <csignal>
#include <cstdlib>

extern "C" int MPI_Finalize() {
  std::raise(std::atoi(std::getenv("SIGNAL")));
  return PMPI_Finalize();
}
