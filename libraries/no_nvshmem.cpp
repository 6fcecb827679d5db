#include "libraries/sessions.hpp"

namespace syncbench::libraries {

std::string nvshmem_version() { return ""; }

std::unique_ptr<Session> open_nvshmem_sync_block(Team&, Lengths) { return {}; }
std::unique_ptr<Session> open_nvshmem_barrier_block(Team&, Lengths) {
  return {};
}
std::unique_ptr<Session> open_nvshmem_sync_grid(Team&, Lengths) { return {}; }
std::unique_ptr<Session> open_nvshmem_barrier_grid(Team&, Lengths) {
  return {};
}
std::unique_ptr<Session> open_nvshmem_sync_stream(Team&, Lengths) { return {}; }
std::unique_ptr<Session> open_nvshmem_barrier_stream(Team&, Lengths) {
  return {};
}
std::unique_ptr<Session> open_nvshmem_sync_host(Team&, Lengths) { return {}; }
std::unique_ptr<Session> open_nvshmem_barrier_host(Team&, Lengths) {
  return {};
}

void end_nvshmem() {}

}  // namespace syncbench::libraries
