// Errors of NCCL's calls.
#pragma once

#include <nccl.h>

#include <stdexcept>
#include <string>

#include "common/check.hpp"

namespace syncbench {

inline std::string nccl_failure(ncclResult_t result, const char* call) {
  return std::string(call) + ": " + ncclGetErrorString(result);
}

inline void check_nccl(ncclResult_t result, const char* call) {
  if (result != ncclSuccess) {
    throw std::runtime_error(nccl_failure(result, call));
  }
}

/// In a destructor, which cannot throw: keep_failure().
inline void keep_nccl_failure(ncclResult_t result, const char* call) {
  if (result != ncclSuccess) {
    keep_failure(std::runtime_error(nccl_failure(result, call)));
  }
}

}  // namespace syncbench
