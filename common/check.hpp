// Errors of CUDA calls: every call goes through CUDA_CHECK.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace syncbench {

/// A CUDA call failed. what() names the call, the place and the CUDA error.
class CudaError : public std::runtime_error {
 public:
  CudaError(cudaError_t code, const char* call, const char* file, int line)
      : std::runtime_error(std::string(call) + " failed at " + file + ":" +
                           std::to_string(line) + ": " +
                           cudaGetErrorName(code) + " (" +
                           cudaGetErrorString(code) + ")"),
        code_(code) {}

  cudaError_t code() const { return code_; }

 private:
  cudaError_t code_;
};

/// Throws CudaError unless `code` is cudaSuccess. The driver's CUresult has the
/// same numbers as cudaError_t, so a driver call is checked after a cast.
inline void check_cuda(cudaError_t code, const char* call, const char* file,
                       int line) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // an error left behind would be blamed on a later call
  throw CudaError(code, call, file, line);
}

}  // namespace syncbench

#define CUDA_CHECK(call) \
  ::syncbench::check_cuda((call), #call, __FILE__, __LINE__)
