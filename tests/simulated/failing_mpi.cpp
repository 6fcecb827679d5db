// Preloaded: a process in which one call of MPI fails, or that gets a signal
// when it leaves MPI. FAIL_MPI: name of the call, and which of its calls, from
// 1. SIGNAL: its number. SLOW_BROADCAST: seconds that each takes.
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <sstream>
#include <string>

namespace {

bool fails(const std::string& call) {
  static int left = 0;
  static const std::string wanted = [] {
    const char* asked = std::getenv("FAIL_MPI");
    std::string name;
    std::istringstream(asked == nullptr ? "" : asked) >> name >> left;
    return name;
  }();
  return call == wanted && --left == 0;
}

}  // namespace

extern "C" {

// The others may wait for these two, so they take place.
int MPI_Init_thread(int* count, char*** arguments, int wanted, int* provided) {
  const int result = PMPI_Init_thread(count, arguments, wanted, provided);
  if (fails("provided")) *provided = MPI_THREAD_SINGLE;
  return fails("MPI_Init_thread") ? MPI_ERR_OTHER : result;
}
int MPI_Finalize() {
  if (const char* number = std::getenv("SIGNAL")) std::raise(std::atoi(number));
  const int result = PMPI_Finalize();
  return fails("MPI_Finalize") ? MPI_ERR_OTHER : result;
}

int MPI_Comm_set_errhandler(MPI_Comm group, MPI_Errhandler handler) {
  if (fails("MPI_Comm_set_errhandler")) return MPI_ERR_OTHER;
  return PMPI_Comm_set_errhandler(group, handler);
}
int MPI_Comm_rank(MPI_Comm group, int* rank) {
  if (fails("MPI_Comm_rank")) return MPI_ERR_OTHER;
  return PMPI_Comm_rank(group, rank);
}
int MPI_Comm_size(MPI_Comm group, int* size) {
  if (fails("MPI_Comm_size")) return MPI_ERR_OTHER;
  return PMPI_Comm_size(group, size);
}
int MPI_Comm_split_type(MPI_Comm group, int type, int key, MPI_Info info,
                        MPI_Comm* part) {
  if (fails("MPI_Comm_split_type")) return MPI_ERR_OTHER;
  return PMPI_Comm_split_type(group, type, key, info, part);
}
int MPI_Comm_free(MPI_Comm* group) {
  if (fails("MPI_Comm_free")) return MPI_ERR_OTHER;
  return PMPI_Comm_free(group);
}
int MPI_Barrier(MPI_Comm group) {
  return fails("MPI_Barrier") ? MPI_ERR_OTHER : PMPI_Barrier(group);
}
int MPI_Bcast(void* data, int count, MPI_Datatype type, int root,
              MPI_Comm group) {
  if (const char* seconds = std::getenv("SLOW_BROADCAST")) {
    sleep(static_cast<unsigned>(std::atoi(seconds)));
  }
  if (fails("MPI_Bcast")) return MPI_ERR_OTHER;
  return PMPI_Bcast(data, count, type, root, group);
}
int MPI_Allgather(const void* sent, int count, MPI_Datatype type,
                  void* received, int of_each, MPI_Datatype as,
                  MPI_Comm group) {
  if (fails("MPI_Allgather")) return MPI_ERR_OTHER;
  return PMPI_Allgather(sent, count, type, received, of_each, as, group);
}
int MPI_Allgatherv(const void* sent, int count, MPI_Datatype type,
                   void* received, const int* counts, const int* starts,
                   MPI_Datatype as, MPI_Comm group) {
  if (fails("MPI_Allgatherv")) return MPI_ERR_OTHER;
  return PMPI_Allgatherv(sent, count, type, received, counts, starts, as,
                         group);
}
int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag,
              MPI_Comm group, MPI_Request* request) {
  if (fails("MPI_Irecv")) return MPI_ERR_OTHER;
  return PMPI_Irecv(data, count, type, from, tag, group, request);
}
int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag,
              MPI_Comm group, MPI_Request* request) {
  if (fails("MPI_Isend")) return MPI_ERR_OTHER;
  return PMPI_Isend(data, count, type, to, tag, group, request);
}
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* states) {
  if (fails("MPI_Waitall")) return MPI_ERR_OTHER;
  return PMPI_Waitall(count, requests, states);
}

}  // extern "C"
