// The sections of ImplicitBarrier.
#pragma once

#include "common/point_records.hpp"

namespace syncbench {

/// The sections, in the order of the output. The first three are the study's.
inline constexpr const char* kNullSection = "null kernel";
inline constexpr const char* kFusionSection = "sleep kernel";
inline constexpr const char* kWorkloadSection = "workload test";
inline constexpr const char* kHeldSection = "held queue";
inline constexpr const char* kGridSection = "sleep grid";
inline constexpr const char* kSleepSection = "sleep instruction";

}  // namespace syncbench
