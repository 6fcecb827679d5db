// Launching on one GPU and on several, one function a launch API.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "common/check.hpp"
#include "common/cuda_resources.hpp"
#include "common/launch_attributes.hpp"

namespace syncbench {

/// True when CUDA_LAUNCH_BLOCKING makes every launch wait for its kernel.
inline bool launches_wait_for_kernels() {
  const char* blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
  return blocking != nullptr && std::strcmp(blocking, "0") != 0;
}

/// A kernel with everything but the stream: what to launch, ready made, so that
/// nothing but the launch itself is timed.
struct KernelCall {
  const void* kernel = nullptr;
  dim3 grid;
  dim3 block;
  void** arguments = nullptr;  ///< as cudaLaunchKernel takes them
};

inline cudaError_t launch_traditional(const KernelCall& call,
                                      cudaStream_t stream) {
  return cudaLaunchKernel(call.kernel, call.grid, call.block, call.arguments, 0,
                          stream);
}

inline cudaError_t launch_cooperative(const KernelCall& call,
                                      cudaStream_t stream) {
  return cudaLaunchCooperativeKernel(call.kernel, call.grid, call.block,
                                     call.arguments, 0, stream);
}

/// What the runtime's calls of any launch take. It points into itself.
struct LaunchConfig : cudaLaunchConfig_t {
  LaunchConfig(const KernelCall& call, cudaStream_t launch_stream,
               const LaunchAttributes& attributes);
  LaunchConfig(const LaunchConfig&) = delete;
  cudaLaunchAttribute list[3] = {};
};

inline LaunchConfig::LaunchConfig(const KernelCall& call,
                                  cudaStream_t launch_stream,
                                  const LaunchAttributes& attributes)
    : cudaLaunchConfig_t{} {
  gridDim = call.grid;
  blockDim = call.block;
  stream = launch_stream;
  attrs = list;
  const auto add = [&](cudaLaunchAttributeID id) -> cudaLaunchAttributeValue& {
    list[numAttrs].id = id;
    return list[numAttrs++].val;
  };
  if (attributes.cooperative) {
    add(cudaLaunchAttributeCooperative).cooperative = 1;
  }
  if (attributes.cluster > 0) {
    auto& shape = add(cudaLaunchAttributeClusterDimension).clusterDim;
    shape.x = static_cast<unsigned>(attributes.cluster);
    shape.y = shape.z = 1;
  }
  if (attributes.programmatic) {
    add(cudaLaunchAttributeProgrammaticStreamSerialization)
        .programmaticStreamSerializationAllowed = 1;
  }
}

/// A launch with any attributes.
inline cudaError_t launch(const KernelCall& call, cudaStream_t stream,
                          const LaunchAttributes& attributes) {
  const LaunchConfig config(call, stream, attributes);
  return cudaLaunchKernelExC(&config, call.kernel, call.arguments);
}

#if CUDART_VERSION < 13000

/// One cooperative launch on several devices, with the runtime's call.
class MultiDeviceLaunch {
 public:
  static constexpr const char* kApi =
      "cudaLaunchCooperativeKernelMultiDevice (runtime)";

  /// Launches calls[i] on devices[i], in streams[i] (no default stream): the
  /// same kernel and shape on all, with arguments of its own on each.
  MultiDeviceLaunch(const std::vector<KernelCall>& calls,
                    const std::vector<int>& devices,
                    const std::vector<cudaStream_t>& streams) {
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const KernelCall& call = calls[i];
      cudaLaunchParams parameters = {};
      parameters.func = const_cast<void*>(call.kernel);
      parameters.gridDim = call.grid;
      parameters.blockDim = call.block;
      parameters.args = call.arguments;
      parameters.stream = streams[i];
      parameters_.push_back(parameters);
    }
  }

  /// With flags 0: no kernel starts before all earlier work of all the streams
  /// has ended, and later work waits for all kernels (study, section VI-A).
  cudaError_t operator()() {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // that is the point
    return cudaLaunchCooperativeKernelMultiDevice(
        parameters_.data(), static_cast<unsigned>(parameters_.size()), 0);
#pragma GCC diagnostic pop
  }

 private:
  std::vector<cudaLaunchParams> parameters_;
};

#else  // CUDA 13 removed the runtime's call, the driver still has its own

class MultiDeviceLaunch {
 public:
  static constexpr const char* kApi =
      "cuLaunchCooperativeKernelMultiDevice (driver)";

  MultiDeviceLaunch(const std::vector<KernelCall>& calls,
                    const std::vector<int>& devices,
                    const std::vector<cudaStream_t>& streams) {
    // Looked up when running: linked, the program would not even start, and
    // say why, on a machine without a driver.
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found = {};
    CUDA_CHECK(cudaGetDriverEntryPointByVersion(
        "cuLaunchCooperativeKernelMultiDevice", &entry, 9000, cudaEnableDefault,
        &found));
    if (found != cudaDriverEntryPointSuccess) {
      CUDA_CHECK(cudaErrorNotSupported);
    }
    launch_ = reinterpret_cast<Launch>(entry);
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const KernelCall& call = calls[i];
      const DeviceGuard guard(devices[i]);
      CUDA_LAUNCH_PARAMS parameters = {};
      CUDA_CHECK(cudaGetFuncBySymbol(&parameters.function, call.kernel));
      parameters.gridDimX = call.grid.x;
      parameters.gridDimY = call.grid.y;
      parameters.gridDimZ = call.grid.z;
      parameters.blockDimX = call.block.x;
      parameters.blockDimY = call.block.y;
      parameters.blockDimZ = call.block.z;
      parameters.hStream = streams[i];
      parameters.kernelParams = call.arguments;
      parameters_.push_back(parameters);
    }
  }

  cudaError_t operator()() {
    return static_cast<cudaError_t>(launch_(
        parameters_.data(), static_cast<unsigned>(parameters_.size()), 0));
  }

 private:
  using Launch = CUresult (*)(CUDA_LAUNCH_PARAMS*, unsigned, unsigned);
  Launch launch_ = nullptr;
  std::vector<CUDA_LAUNCH_PARAMS> parameters_;
};

#endif

}  // namespace syncbench
