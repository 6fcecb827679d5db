// The lines by which a process that runs a case tells its parent of it: a word,
// and cells behind most, with tabs between them.
#pragma once

namespace syncbench {

inline constexpr const char* kReadyLine = "ready";      ///< the GPUs work
inline constexpr const char* kLaunchLine = "launch";    ///< before each launch
inline constexpr const char* kResultLine = "result";    ///< cells follow
inline constexpr const char* kRowLine = "row";          ///< cells follow
inline constexpr const char* kErrorLine = "error";      ///< a name of CUDA's
inline constexpr const char* kNoteLine = "note";        ///< a text
inline constexpr const char* kSkippedLine = "skipped";  ///< a tag, a reason

}  // namespace syncbench
