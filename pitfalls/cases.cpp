// The list of all cases.
#include "pitfalls/case.hpp"

namespace syncbench {

const char* name_of(Form form) {
  switch (form) {
    case Form::kAllowed:
      return "as allowed";
    case Form::kExits:
      return "exits early";
    case Form::kStays:
      return "stays and skips";
    case Form::kTooMany:
      return "too many blocks";
    case Form::kOneByOne:
      return "one by one";
    case Form::kEachInBranch:
      break;
  }
  return "each in its branch";
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& group :
       {warp_barrier_cases, partial_warp_cases, partial_block_cases,
        partial_grid_cases, partial_node_cases, block_race_cases,
        fence_race_cases}) {
    for (Case& one : group()) cases.push_back(std::move(one));
  }
  return cases;
}

}  // namespace syncbench
