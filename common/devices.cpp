#include "common/devices.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "common/check.hpp"
#include "common/cpus.hpp"
#include "common/errors.hpp"

namespace syncbench {
namespace {

Gpu describe_gpu(int index) {
  cudaDeviceProp properties = {};
  CUDA_CHECK(cudaGetDeviceProperties(&properties, index));
  char bus_id[32] = "";
  CUDA_CHECK(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, index));
  Gpu gpu;
  gpu.index = index;
  gpu.name = properties.name;
  gpu.sm_count = properties.multiProcessorCount;
  gpu.major = properties.major;
  gpu.minor = properties.minor;
  gpu.cooperative_launch = properties.cooperativeLaunch != 0;
  gpu.pci_bus_id = bus_id;
  std::transform(gpu.pci_bus_id.begin(), gpu.pci_bus_id.end(),
                 gpu.pci_bus_id.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return gpu;
}

// Why there is no device, from what cudaGetDeviceCount() returned.
std::string no_device_reason(cudaError_t error) {
  if (error == cudaSuccess) return "none is visible";
  int driver = 0;
  if (error == cudaErrorInsufficientDriver &&
      cudaDriverGetVersion(&driver) == cudaSuccess) {
    if (driver == 0) return "there is no NVIDIA driver";
    return "the driver is for CUDA " + cuda_version_text(driver) +
           ", this program was built with " +
           cuda_version_text(CUDART_VERSION) +
           ": update the driver, or build with a toolkit that is no newer "
           "(CUDACXX names its nvcc)";
  }
  return cudaGetErrorString(error);
}

// Makes a context with spinning waits on one GPU and makes it current.
cudaError_t initialize_gpu(int index) {
#if CUDART_VERSION >= 12000
  // cudaSetDevice makes the context; the flags have to come before.
  const cudaError_t error = cudaInitDevice(index, cudaDeviceScheduleSpin,
                                           cudaInitDeviceFlagsAreValid);
  return error != cudaSuccess ? error : cudaSetDevice(index);
#else
  cudaError_t error = cudaSetDevice(index);
  if (error == cudaSuccess) error = cudaSetDeviceFlags(cudaDeviceScheduleSpin);
  return error != cudaSuccess ? error : cudaFree(nullptr);
#endif
}

}  // namespace

void load_kernels_eagerly() { setenv("CUDA_MODULE_LOADING", "EAGER", 1); }

std::string cuda_version_text(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

std::vector<Gpu> find_gpus() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    throw NoDeviceError("no usable CUDA device: " + no_device_reason(error));
  }
  std::vector<Gpu> gpus;
  for (int index = 0; index < count; ++index) {
    gpus.push_back(describe_gpu(index));
  }
  return gpus;
}

void prepare_gpus(std::vector<Gpu>& gpus, const std::vector<Gpu>& of_others) {
  const auto cpus_near = [](const Gpu& gpu) {
    return read_cpu_list("/sys/bus/pci/devices/" + gpu.pci_bus_id +
                         "/local_cpulist");
  };
  std::vector<std::vector<int>> near;
  for (const Gpu& gpu : of_others) near.push_back(cpus_near(gpu));
  for (const Gpu& gpu : gpus) {
    const cudaError_t error = initialize_gpu(gpu.index);
    if (error != cudaSuccess) {
      throw NoDeviceError("GPU " + std::to_string(gpu.index) + " (" + gpu.name +
                          ") cannot be used: " + cudaGetErrorString(error));
    }
    near.push_back(cpus_near(gpu));
  }
  CUDA_CHECK(cudaSetDevice(gpus[0].index));
  const std::vector<int> cpus =
      choose_cpus(near, allowed_cpus(), core_siblings);
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    gpus[i].cpu = cpus[of_others.size() + i];
  }
}

bool waits_spinning() {
  unsigned flags = 0;
  CUDA_CHECK(cudaGetDeviceFlags(&flags));
  return (flags & cudaDeviceScheduleMask) == cudaDeviceScheduleSpin;
}

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

const char* kernel_loading() {
  void* entry = find_driver_entry("cuModuleGetLoadingMode", 11070);
  if (entry == nullptr) return "?";
  CUmoduleLoadingMode mode = {};
  const auto ask = reinterpret_cast<CUresult (*)(CUmoduleLoadingMode*)>(entry);
  check_cuda(static_cast<cudaError_t>(ask(&mode)), "cuModuleGetLoadingMode",
             __FILE__, __LINE__);
  return mode == CU_MODULE_EAGER_LOADING ? "eagerly" : "lazily";
}

std::vector<int> device_numbers(const std::vector<Gpu>& gpus) {
  std::vector<int> numbers;
  for (const Gpu& gpu : gpus) numbers.push_back(gpu.index);
  return numbers;
}

}  // namespace syncbench
