// What the node has: GPUs, their limits, the CPUs next to them.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/check.hpp"
#include "common/cpus.hpp"
#include "common/cuda_resources.hpp"
#include "common/errors.hpp"

namespace syncbench {

struct Gpu {
  int index = 0;  ///< CUDA device ordinal among the visible ones
  std::string name;
  int sm_count = 0;
  int major = 0;  ///< compute capability
  int minor = 0;
  int max_threads_per_sm = 0;
  bool cooperative_launch = false;
  std::string pci_bus_id;  ///< lower case, as in /sys/bus/pci/devices
  int cpu = -1;  ///< CPU for the thread that drives it; -1: not pinned

  bool has_sleep() const { return major >= 7; }  ///< nanosleep: sm_70
};

/// Loads all kernels when a context is made, not at their first launch. To be
/// called before the first other CUDA call.
inline void load_kernels_eagerly() {
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
}

inline Gpu describe_gpu(int index) {
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
  gpu.max_threads_per_sm = properties.maxThreadsPerMultiProcessor;
  gpu.cooperative_launch = properties.cooperativeLaunch != 0;
  gpu.pci_bus_id = bus_id;
  std::transform(gpu.pci_bus_id.begin(), gpu.pci_bus_id.end(),
                 gpu.pci_bus_id.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return gpu;
}

/// All visible GPUs, at least one; NoDeviceError otherwise.
inline std::vector<Gpu> find_gpus() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    const char* reason =
        error == cudaSuccess ? "none is visible" : cudaGetErrorString(error);
    throw NoDeviceError(std::string("no usable CUDA device: ") + reason);
  }
  std::vector<Gpu> gpus;
  for (int index = 0; index < count; ++index) {
    gpus.push_back(describe_gpu(index));
  }
  return gpus;
}

/// Makes a context with spinning waits on each GPU (a GPU that cannot is a
/// NoDeviceError) and picks the CPU for its thread.
inline void prepare_gpus(std::vector<Gpu>& gpus) {
  std::vector<std::vector<int>> near;
  for (const Gpu& gpu : gpus) {
    near.push_back(read_cpu_list("/sys/bus/pci/devices/" + gpu.pci_bus_id +
                                 "/local_cpulist"));
  }
  const std::vector<int> cpus =
      choose_cpus(near, allowed_cpus(), core_siblings);
  for (Gpu& gpu : gpus) {
    gpu.cpu = cpus[&gpu - gpus.data()];
    const DeviceGuard guard(gpu.index);
    CUDA_CHECK(cudaSetDeviceFlags(cudaDeviceScheduleSpin));
    const cudaError_t error = cudaFree(nullptr);
    if (error != cudaSuccess) {
      throw NoDeviceError("GPU " + std::to_string(gpu.index) + " (" + gpu.name +
                          ") cannot be used: " + cudaGetErrorString(error));
    }
  }
}

/// "13.0" for CUDA's version number 13000.
inline std::string cuda_version_text(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

}  // namespace syncbench
