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

/// Throws CudaError of this call, or of one that was kept by keep_failure().
[[noreturn]] void throw_cuda_error(cudaError_t code, const char* call,
                                   const char* file, int line);

/// For destructors, which cannot throw: keeps the first call of this thread
/// that has failed, for throw_cuda_error() and throw_kept_failure().
void keep_failure(cudaError_t code, const char* call, const char* file,
                  int line);

/// Keeps the failure of a call of another library in the same way.
void keep_failure(const std::runtime_error& failure);

/// Throws what was kept, if anything was.
void throw_kept_failure();

/// Throws CudaError unless `code` is cudaSuccess. The driver's CUresult has the
/// same numbers as cudaError_t, so a driver call is checked after a cast.
inline void check_cuda(cudaError_t code, const char* call, const char* file,
                       int line) {
  if (code != cudaSuccess) throw_cuda_error(code, call, file, line);
}

/// Throws CannotMeasure for cudaErrorNotSupported, as above for all else.
void check_asked(cudaError_t code, const char* call, const char* file,
                 int line);

/// The calls of one API, of which the first asks whether it can be had here.
class AskedApi {
 public:
  explicit AskedApi(const char* name) : name_(name) {}

  void check(cudaError_t code, const char* file, int line) {
    (works_ ? check_cuda : check_asked)(code, name_, file, line);
    works_ = true;
  }

 private:
  const char* name_;
  bool works_ = false;
};

}  // namespace syncbench

#define CUDA_CHECK(call) \
  ::syncbench::check_cuda((call), #call, __FILE__, __LINE__)

/// The same of a call that asks whether something can be had here: where it
/// cannot, CannotMeasure.
#define CUDA_ASK(call) \
  ::syncbench::check_asked((call), #call, __FILE__, __LINE__)

/// The same in a destructor, which cannot throw: keep_failure().
#define KEEP_FAILURE(call) \
  ::syncbench::keep_failure((call), #call, __FILE__, __LINE__)
