// What was built.
#pragma once

namespace syncbench {

extern const char* const kVersion;  ///< of the suite
extern const char* const kCommit;   ///< of its sources; "unknown" without git
extern const char* const kNvcc;     ///< version of the compiler of CUDA sources

}  // namespace syncbench
