#include "common/check.hpp"

#include <exception>
#include <string>
#include <utility>

#include "common/errors.hpp"

namespace syncbench {
namespace {

thread_local std::exception_ptr kept_failure;

}  // namespace

CudaError::CudaError(cudaError_t code, const char* call, const char* file,
                     int line)
    : std::runtime_error(std::string(call) + " failed at " + file + ":" +
                         std::to_string(line) + ": " + cudaGetErrorName(code) +
                         " (" + cudaGetErrorString(code) + ")"),
      code_(code) {}

void throw_cuda_error(cudaError_t code, const char* call, const char* file,
                      int line) {
  cudaGetLastError();  // an error left behind would be blamed on a later call
  throw_kept_failure();
  throw CudaError(code, call, file, line);
}

void keep_failure(cudaError_t code, const char* call, const char* file,
                  int line) {
  if (code == cudaSuccess) return;
  cudaGetLastError();
  if (kept_failure) return;
  kept_failure = std::make_exception_ptr(CudaError(code, call, file, line));
}

void keep_failure(const std::runtime_error& failure) {
  if (!kept_failure) kept_failure = std::make_exception_ptr(failure);
}

void throw_kept_failure() {
  if (!kept_failure) return;
  std::rethrow_exception(std::exchange(kept_failure, nullptr));
}

void check_asked(cudaError_t code, const char* call, const char* file,
                 int line) {
  if (code != cudaErrorNotSupported) return check_cuda(code, call, file, line);
  cudaGetLastError();
  throw CannotMeasure("unsupported", CudaError(code, call, file, line).what());
}

}  // namespace syncbench
