#include <mpi.h>

#include <algorithm>
#include <stdexcept>

#include "libraries/team.hpp"

namespace syncbench::libraries::mpi {
namespace {

int processes = 1;

// MPI ends the process where a call fails, unless it is told to return.
void check(int result, const char* call) {
  if (result == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(result, text, &length);
  throw std::runtime_error(std::string(call) + ": " + text);
}

}  // namespace

std::string version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return "MPI";
  const std::string whole(text, static_cast<std::size_t>(length));
  return whole.substr(0, whole.find_first_of(",\n"));
}

World start(int* argc, char*** argv) {
  World world;
  int provided = 0;
  check(MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided),
        "MPI_Init_thread");
  if (provided < MPI_THREAD_FUNNELED) {
    throw std::runtime_error(
        "this MPI allows no threads but the one that calls it");
  }
  check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN),
        "MPI_Comm_set_errhandler");
  check(MPI_Comm_rank(MPI_COMM_WORLD, &world.rank), "MPI_Comm_rank");
  check(MPI_Comm_size(MPI_COMM_WORLD, &world.size), "MPI_Comm_size");
  processes = world.size;
  MPI_Comm node;
  check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, world.rank,
                            MPI_INFO_NULL, &node),
        "MPI_Comm_split_type");
  check(MPI_Comm_rank(node, &world.local_rank), "MPI_Comm_rank");
  // Nodes are numbered by their first processes.
  int first = world.rank;
  check(MPI_Bcast(&first, 1, MPI_INT, 0, node), "MPI_Bcast");
  check(MPI_Comm_free(&node), "MPI_Comm_free");
  std::vector<int> firsts(static_cast<std::size_t>(world.size));
  check(MPI_Allgather(&first, 1, MPI_INT, firsts.data(), 1, MPI_INT,
                      MPI_COMM_WORLD),
        "MPI_Allgather");
  std::sort(firsts.begin(), firsts.end());
  firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
  world.nodes = static_cast<int>(firsts.size());
  world.node = static_cast<int>(
      std::lower_bound(firsts.begin(), firsts.end(), first) - firsts.begin());
  return world;
}

void barrier() {
  if (processes > 1) check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
}

void broadcast(void* data, std::size_t bytes) {
  if (processes == 1) return;
  check(MPI_Bcast(data, static_cast<int>(bytes), MPI_BYTE, 0, MPI_COMM_WORLD),
        "MPI_Bcast");
}

std::vector<std::string> gather(const std::string& text) {
  if (processes == 1) return {text};
  const auto count = static_cast<std::size_t>(processes);
  const int length = static_cast<int>(text.size());
  std::vector<int> lengths(count), starts(count);
  check(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT,
                      MPI_COMM_WORLD),
        "MPI_Allgather");
  for (std::size_t i = 1; i < count; ++i) {
    starts[i] = starts[i - 1] + lengths[i - 1];
  }
  std::string all(static_cast<std::size_t>(starts.back() + lengths.back()), 0);
  check(MPI_Allgatherv(text.data(), length, MPI_CHAR, all.data(),
                       lengths.data(), starts.data(), MPI_CHAR, MPI_COMM_WORLD),
        "MPI_Allgatherv");
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) {
    texts.push_back(all.substr(static_cast<std::size_t>(starts[i]),
                               static_cast<std::size_t>(lengths[i])));
  }
  return texts;
}

void exchange(const std::vector<Message>& messages) {
  std::vector<MPI_Request> requests(2 * messages.size());
  MPI_Request* next = requests.data();
  for (const Message& message : messages) {
    const int bytes = static_cast<int>(message.bytes);
    check(MPI_Irecv(message.received, bytes, MPI_BYTE, message.other, 0,
                    MPI_COMM_WORLD, next++),
          "MPI_Irecv");
    check(MPI_Isend(message.sent, bytes, MPI_BYTE, message.other, 0,
                    MPI_COMM_WORLD, next++),
          "MPI_Isend");
  }
  check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(),
                    MPI_STATUSES_IGNORE),
        "MPI_Waitall");
}

void end() {
  if (MPI_Finalize() != MPI_SUCCESS) {  // MPI has no texts any more
    throw std::runtime_error("MPI_Finalize failed");
  }
}

}  // namespace syncbench::libraries::mpi
