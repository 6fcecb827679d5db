#include "common/check.hpp"

#include <string>

namespace syncbench {

CudaError::CudaError(cudaError_t code, const char* call, const char* file,
                     int line)
    : std::runtime_error(std::string(call) + " failed at " + file + ":" +
                         std::to_string(line) + ": " + cudaGetErrorName(code) +
                         " (" + cudaGetErrorString(code) + ")"),
      code_(code) {}

void throw_cuda_error(cudaError_t code, const char* call, const char* file,
                      int line) {
  cudaGetLastError();  // an error left behind would be blamed on a later call
  throw CudaError(code, call, file, line);
}

}  // namespace syncbench
