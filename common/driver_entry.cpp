#include "common/driver_entry.hpp"

#include "common/check.hpp"

namespace syncbench {

void* find_driver_entry(const char* name, [[maybe_unused]] unsigned version) {
  void* entry = nullptr;
#if CUDART_VERSION >= 13000
  cudaDriverEntryPointQueryResult found = {};
  const cudaError_t error = cudaGetDriverEntryPointByVersion(
      name, &entry, version, cudaEnableDefault, &found);
#elif CUDART_VERSION >= 12000
  cudaDriverEntryPointQueryResult found = {};
  const cudaError_t error =
      cudaGetDriverEntryPoint(name, &entry, cudaEnableDefault, &found);
#else
  const cudaError_t error =
      cudaGetDriverEntryPoint(name, &entry, cudaEnableDefault);
#endif
  if (error == cudaErrorSymbolNotFound || error == cudaErrorNotSupported) {
    cudaGetLastError();
    return nullptr;
  }
  check_cuda(error, "cudaGetDriverEntryPoint", __FILE__, __LINE__);
  return entry;
}

}  // namespace syncbench
