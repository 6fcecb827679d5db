// What a case of Pitfalls is, and what it is given.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/sets.hpp"

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

/// Names of the forms in rows.
constexpr const char* kFormNames[] = {
    "as allowed", "exits early",        "stays and skips", "too many blocks",
    "one by one", "each in its branch", "wrong",           "right"};
constexpr const char* name_of(Form form) {
  return kFormNames[static_cast<int>(form)];
}

/// Which section the rows of a case go to, in the order of printing. Those of
/// kWarpVerdict are of the cases of kWarpBarrier.
enum class Section {
  kWarpBarrier,
  kWarpVerdict,
  kPartialGroup,
  kRace,
  kLitmus
};

class Child;

/// One program, right or wrong, which runs in a process of its own in each of
/// its forms.
struct Case {
  /// Calls child.launch() before each launch, and then child.result(). Throws
  /// CannotMeasure before the first launch where the machine cannot have it.
  using Run = void (*)(Child& child, Form form);

  const char* name;
  Set set;
  Run run;  ///< none where this build cannot have it; `text` then says why
  const char* text;
  int fewest_gpus = 1;           ///< 1: it runs on GPU 0 alone; else on all
  std::vector<Form> forms = {};  ///< none: those of most cases of its section
  int patience = 1;              ///< it is given so many times the usual T
  /// A part of a group that nothing holds. If its threads do not come out
  /// early, the checks of the others prove nothing.
  bool control = false;
  Section section = {};  ///< add_cases() says it
};

/// By section and source. Constants of the sources fill it before main().
inline auto& added_cases() {
  static std::map<std::pair<Section, std::string>, std::vector<Case>> cases;
  return cases;
}

/// Adds cases of a source, __FILE__: a constant of it does so before main().
/// True.
inline bool add_cases(const char* file, Section section,
                      const std::vector<Case>& cases) {
  const std::map<Section, std::vector<Form>> usual = {
      {Section::kWarpBarrier, {Form::kEachInBranch}},
      {Section::kPartialGroup, {Form::kExits, Form::kStays, Form::kAllowed}},
      {Section::kRace, {Form::kWrong, Form::kRight}},
      {Section::kLitmus, {Form::kAllowed}}};
  for (Case one : cases) {
    one.section = section;
    if (one.forms.empty()) one.forms = usual.at(section);
    added_cases()[{section, file}].push_back(one);
  }
  return true;
}

/// All that this program has, in the order of their sections, sources and
/// places there.
inline std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& [place, cases] : added_cases()) {
    all.insert(all.end(), cases.begin(), cases.end());
  }
  return all;
}

}  // namespace syncbench::pitfalls
