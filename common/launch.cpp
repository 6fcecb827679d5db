#include "common/launch.hpp"

#include <cstdlib>
#include <cstring>

#include "common/check.hpp"
#include "common/cuda_resources.hpp"
#include "common/devices.hpp"
#include "common/errors.hpp"

namespace syncbench {

bool launches_wait_for_kernels() {
  const char* blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
  return blocking != nullptr && std::strcmp(blocking, "0") != 0;
}

int code_version(const void* kernel) {
  cudaFuncAttributes attributes = {};
  CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
  return attributes.ptxVersion;
}

LaunchConfig::LaunchConfig(const KernelCall& call, cudaStream_t launch_stream,
                           const LaunchAttributes& attributes)
    : cudaLaunchConfig_t{} {
  gridDim = call.grid;
  blockDim = call.block;
  dynamicSmemBytes = call.shared_bytes;
  stream = launch_stream;
  attrs = list.data();
  const auto add = [&](cudaLaunchAttributeID id) -> cudaLaunchAttributeValue& {
    list.at(numAttrs).id = id;
    return list.at(numAttrs++).val;
  };
  if (attributes.cooperative) {
    add(cudaLaunchAttributeCooperative).cooperative = 1;
  }
  if (attributes.cluster > 0 && !attributes.in_code) {
    auto& shape = add(cudaLaunchAttributeClusterDimension).clusterDim;
    shape.x = static_cast<unsigned>(attributes.cluster);
    shape.y = shape.z = 1;
  }
  if (attributes.programmatic) {
    add(cudaLaunchAttributeProgrammaticStreamSerialization)
        .programmaticStreamSerializationAllowed = 1;
  }
#if CUDART_VERSION >= 12000
  if (attributes.remote_domain) {
    add(cudaLaunchAttributeMemSyncDomain).memSyncDomain =
        cudaLaunchMemSyncDomainRemote;
  }
#endif
}

cudaError_t launch(const KernelCall& call, cudaStream_t stream,
                   const LaunchAttributes& attributes) {
  const LaunchConfig config(call, stream, attributes);
  return cudaLaunchKernelExC(&config, call.kernel, call.arguments);
}

#if CUDART_VERSION < 13000

MultiDeviceLaunch::MultiDeviceLaunch(const std::vector<KernelCall>& calls,
                                     const std::vector<int>& devices,
                                     const std::vector<cudaStream_t>& streams) {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const KernelCall& call = calls[i];
    cudaLaunchParams parameters = {};
    parameters.func = const_cast<void*>(call.kernel);
    parameters.gridDim = call.grid;
    parameters.blockDim = call.block;
    parameters.args = call.arguments;
    parameters.sharedMem = call.shared_bytes;
    parameters.stream = streams[i];
    parameters_.push_back(parameters);
  }
}

cudaError_t MultiDeviceLaunch::operator()() {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // that is the point
  return cudaLaunchCooperativeKernelMultiDevice(
      parameters_.data(), static_cast<unsigned>(parameters_.size()), 0);
#pragma GCC diagnostic pop
}

#else

MultiDeviceLaunch::MultiDeviceLaunch(const std::vector<KernelCall>& calls,
                                     const std::vector<int>& devices,
                                     const std::vector<cudaStream_t>& streams) {
  void* entry = find_driver_entry("cuLaunchCooperativeKernelMultiDevice", 9000);
  if (entry == nullptr) {
    throw CannotMeasure(
        "no-multi-device",
        "the driver has no cuLaunchCooperativeKernelMultiDevice");
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
    parameters.sharedMemBytes = static_cast<unsigned>(call.shared_bytes);
    parameters.hStream = streams[i];
    parameters.kernelParams = call.arguments;
    parameters_.push_back(parameters);
  }
}

cudaError_t MultiDeviceLaunch::operator()() {
  return static_cast<cudaError_t>(launch_(
      parameters_.data(), static_cast<unsigned>(parameters_.size()), 0));
}

#endif

}  // namespace syncbench
