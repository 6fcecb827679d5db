// Methods of NCCL. no_nccl.cpp has the same for builds without it.
#pragma once

#include <memory>
#include <string>

#include "libraries/method.hpp"

namespace syncbench {

std::string nccl_version();  ///< "2.28.9"; empty: not in this build

std::unique_ptr<Session> open_nccl_all_reduce(Team& team, Lengths lengths);
std::unique_ptr<Session> open_nccl_graph(Team& team, Lengths lengths);
std::unique_ptr<Session> open_nccl_lsa_block(Team& team, Lengths lengths);
std::unique_ptr<Session> open_nccl_lsa_grid(Team& team, Lengths lengths);

}  // namespace syncbench
