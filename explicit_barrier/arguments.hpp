// What the host hands to the kernels of a launch beside what all methods get.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace syncbench::explicit_barrier {

/// of_rank[rank] points to the argument of GPU `rank`. `failure` says why
/// kernels ended with an error, where it knows; it keeps alive what the others
/// point to.
struct Arguments {
  std::vector<void*> of_rank;
  std::function<std::optional<std::string>()> failure = [] {
    return std::nullopt;
  };
};

}  // namespace syncbench::explicit_barrier
