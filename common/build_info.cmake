# Writes the constants of common/build_info.hpp: the versions of the suite and of nvcc, and the
# commit. It runs at every build, so that the commit in the output is the one that was compiled.
# Arguments: SOURCE_DIR OUTPUT VERSION SUITE_COMMIT NVCC
set(commit "${SUITE_COMMIT}")
if(commit STREQUAL "")
  execute_process(
    COMMAND git describe --always --dirty --abbrev=12 --exclude *
    WORKING_DIRECTORY "${SOURCE_DIR}"
    OUTPUT_VARIABLE commit
    OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET)
endif()
if(commit STREQUAL "")
  set(commit "unknown")
endif()
set(text "// Written by common/build_info.cmake at every build.
#include \"common/build_info.hpp\"
const char* const syncbench::kVersion = \"${VERSION}\";
const char* const syncbench::kCommit = \"${commit}\";
const char* const syncbench::kNvcc = \"${NVCC}\";
")
set(old "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" old)
endif()
if(NOT old STREQUAL text)
  file(WRITE "${OUTPUT}" "${text}")
endif()
