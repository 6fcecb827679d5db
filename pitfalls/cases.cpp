// The list of all cases.
#include "pitfalls/case.hpp"

namespace syncbench {

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& group :
       {warp_barrier_cases, partial_block_cases, partial_grid_cases,
        block_race_cases, fence_race_cases, message_passing_cases}) {
    for (Case& one : group()) cases.push_back(std::move(one));
  }
  return cases;
}

}  // namespace syncbench
