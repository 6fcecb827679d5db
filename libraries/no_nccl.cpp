#include "libraries/sessions.hpp"

namespace syncbench::libraries {

std::string nccl_version() { return ""; }

std::unique_ptr<Session> open_nccl_all_reduce(Team&, Lengths) { return {}; }
std::unique_ptr<Session> open_nccl_graph(Team&, Lengths) { return {}; }
std::unique_ptr<Session> open_nccl_graph_registered(Team&, Lengths) {
  return {};
}
std::unique_ptr<Session> open_nccl_lsa_block(Team&, Lengths) { return {}; }
std::unique_ptr<Session> open_nccl_lsa_grid(Team&, Lengths) { return {}; }

}  // namespace syncbench::libraries
