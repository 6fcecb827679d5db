// Errors of CUDA calls: every call goes through CUDA_CHECK.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>

namespace syncbench {

/// A CUDA call failed. what() names the call, the place and the CUDA error.
class CudaError : public std::runtime_error {
 public:
  CudaError(cudaError_t code, const char* call, const char* file, int line);

  cudaError_t code() const { return code_; }

 private:
  cudaError_t code_;
};

[[noreturn]] void throw_cuda_error(cudaError_t code, const char* call,
                                   const char* file, int line);

/// Throws CudaError unless `code` is cudaSuccess. The driver's CUresult has the
/// same numbers as cudaError_t, so a driver call is checked after a cast.
inline void check_cuda(cudaError_t code, const char* call, const char* file,
                       int line) {
  if (code != cudaSuccess) throw_cuda_error(code, call, file, line);
}

}  // namespace syncbench

#define CUDA_CHECK(call) \
  ::syncbench::check_cuda((call), #call, __FILE__, __LINE__)
