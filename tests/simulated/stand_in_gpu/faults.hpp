// Calls that fail on demand, and the record of all calls.
#pragma once

#include <cuda_runtime_api.h>

namespace stand_in {

/// To be asked at each call, once: what it returns instead of doing anything,
/// because STAND_IN plans so or a kernel has failed. `from`: who calls.
cudaError_t failure_of(const char* call, const void* from);

}  // namespace stand_in
