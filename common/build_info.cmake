# Writes build_info.hpp with the versions of the suite and of nvcc, and the commit;
# run at every build, so that the commit in the output is the one that was compiled.
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
#pragma once
#define SYNCBENCH_VERSION \"${VERSION}\"
#define SYNCBENCH_COMMIT \"${commit}\"
#define SYNCBENCH_NVCC \"${NVCC}\"
")
set(old "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" old)
endif()
if(NOT old STREQUAL text)
  file(WRITE "${OUTPUT}" "${text}")
endif()
