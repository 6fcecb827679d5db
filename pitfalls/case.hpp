// What a case of Pitfalls is, and what it is given.
#pragma once

#include <string>
#include <vector>

#include "common/devices.hpp"
#include "common/method_info.hpp"

namespace syncbench::pitfalls {

/// What is done with a barrier, or whether a kernel has its barriers and
/// fences.
enum class Form {
  kAllowed,       ///< as the rules say
  kExits,         ///< a part of the group ends without the barrier
  kStays,         ///< a part of the group runs on without the barrier
  kTooMany,       ///< more blocks than are resident at the same time
  kOneByOne,      ///< each launch waits for its kernel (CUDA_LAUNCH_BLOCKING)
  kEachInBranch,  ///< each lane in a branch of its own (study, Figure 17)
  kWrong,         ///< a race: a barrier or a fence is missing
  kRight          ///< the same kernel with it
};

constexpr Form kAllForms[] = {
    Form::kAllowed,  Form::kExits,        Form::kStays, Form::kTooMany,
    Form::kOneByOne, Form::kEachInBranch, Form::kWrong, Form::kRight};

/// The name of a form in a row.
const char* name_of(Form form);

/// Which table the results of a case go to.
enum class Section { kWarpBarrier, kPartialGroup, kRace, kLitmus };

class Child;

/// One program, right or wrong, which runs in a process of its own in each of
/// its forms.
struct Case {
  const char* name;
  const char* text;
  Section section;
  std::vector<Form> forms;
  int fewest_gpus;  ///< 1: it runs on GPU 0 alone; else on all
  /// Calls child.launch() before each launch, and then child.result(). Throws
  /// CannotMeasure before the first launch where the machine cannot have it.
  void (*run)(Child& child, Form form);
  int patience = 1;  ///< it is given so many times the usual T
  /// Nothing holds its threads. If they do not come out early, the checks of
  /// the others prove nothing.
  bool control = false;
  Set set = Set::kToday;
};

/// The same case, of another set.
inline Case in_set(Set set, Case one) {
  one.set = set;
  return one;
}

std::vector<Case> warp_barrier_cases();
std::vector<Case> partial_block_cases();
std::vector<Case> partial_grid_cases();
std::vector<Case> block_race_cases();
std::vector<Case> fence_race_cases();
std::vector<Case> message_passing_cases();

/// All of them, in the order of the rows (Pitfalls.cpp).
std::vector<Case> all_cases();

/// What this build cannot have, and why.
std::vector<MethodInfo> missing_cases();

}  // namespace syncbench::pitfalls
