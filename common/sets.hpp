// Who asks for what is measured.
#pragma once

namespace syncbench {

/// Of a method, a section or a point. A row is of the last set, in this order,
/// that its method, its section or its point is of.
enum class Set {
  kStudy,    ///< tables and figures of the study show it
  kToday,    ///< a programmer asks for it today
  kEvidence  ///< what stands behind these: measured with --all alone
};

/// "study", "today" or "evidence".
constexpr const char* name_of(Set set) {
  constexpr const char* kNames[] = {"study", "today", "evidence"};
  return kNames[static_cast<int>(set)];
}

}  // namespace syncbench
