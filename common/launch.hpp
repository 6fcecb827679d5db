// Launching on one GPU and on several, one function a launch API.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <memory>
#include <tuple>
#include <vector>

#include "common/launch_attributes.hpp"

namespace syncbench {

/// True when CUDA_LAUNCH_BLOCKING makes every launch wait for its kernel.
bool launches_wait_for_kernels();

/// Compute capability, times 10, that the kernel's code is made for on this
/// GPU. Made from PTX for an older one, it lacks what a newer one has.
int code_version(const void* kernel);

/// A kernel with everything but the stream: what to launch, ready made, so that
/// nothing but the launch itself is timed.
struct KernelCall {
  const void* kernel = nullptr;
  dim3 grid;
  dim3 block;
  void** arguments = nullptr;             ///< as cudaLaunchKernel takes them
  std::size_t shared_bytes = 0;           ///< of dynamic shared memory, a block
  std::shared_ptr<const void> kept = {};  ///< what `arguments` point into
};

/// A call that keeps its arguments, of the types that the kernel takes.
template <class... Arguments>
KernelCall call_with(const void* kernel, dim3 grid, dim3 block,
                     const Arguments&... arguments) {
  struct Kept {
    std::tuple<Arguments...> values;
    std::array<void*, sizeof...(Arguments)> addresses;
  };
  const auto kept = std::make_shared<Kept>(Kept{{arguments...}, {}});
  kept->addresses = std::apply(
      [](auto&... value) { return decltype(kept->addresses){&value...}; },
      kept->values);
  return {kernel, grid, block, kept->addresses.data(), 0, kept};
}

inline cudaError_t launch_traditional(const KernelCall& call,
                                      cudaStream_t stream) {
  return cudaLaunchKernel(call.kernel, call.grid, call.block, call.arguments,
                          call.shared_bytes, stream);
}

inline cudaError_t launch_cooperative(const KernelCall& call,
                                      cudaStream_t stream) {
  return cudaLaunchCooperativeKernel(call.kernel, call.grid, call.block,
                                     call.arguments, call.shared_bytes, stream);
}

/// What the runtime's calls of any launch take. It points into itself.
struct LaunchConfig : cudaLaunchConfig_t {
  LaunchConfig(const KernelCall& call, cudaStream_t launch_stream,
               const LaunchAttributes& attributes);
  LaunchConfig(const LaunchConfig&) = delete;
  std::array<cudaLaunchAttribute, 4> list = {};  ///< or std::out_of_range
};

/// A launch with any attributes.
cudaError_t launch(const KernelCall& call, cudaStream_t stream,
                   const LaunchAttributes& attributes);

/// A kernel may begin while the one before it in the stream runs, and waits for
/// it by an instruction of its own.
inline cudaError_t launch_programmatic(const KernelCall& call,
                                       cudaStream_t stream) {
  LaunchAttributes attributes;
  attributes.programmatic = true;
  return launch(call, stream, attributes);
}

/// In the remote memory synchronization domain.
inline cudaError_t launch_in_remote_domain(const KernelCall& call,
                                           cudaStream_t stream) {
  LaunchAttributes attributes;
  attributes.remote_domain = true;
  return launch(call, stream, attributes);
}

/// A way to launch one kernel on one GPU.
struct LaunchApi {
  const char* name;  ///< of the call, for errors
  cudaError_t (*launch)(const KernelCall&, cudaStream_t);
};
inline constexpr LaunchApi kTraditionalApi = {"cudaLaunchKernel",
                                              launch_traditional};
inline constexpr LaunchApi kCooperativeApi = {"cudaLaunchCooperativeKernel",
                                              launch_cooperative};
inline constexpr LaunchApi kProgrammaticApi = {"cudaLaunchKernelExC",
                                               launch_programmatic};
inline constexpr LaunchApi kRemoteDomainApi = {"cudaLaunchKernelExC",
                                               launch_in_remote_domain};

/// One cooperative launch on several devices, with the runtime's call or, where
/// that is gone (CUDA 13), with the driver's.
class MultiDeviceLaunch {
 public:
  static constexpr const char* kApi =
      CUDART_VERSION < 13000
          ? "cudaLaunchCooperativeKernelMultiDevice (runtime)"
          : "cuLaunchCooperativeKernelMultiDevice (driver)";

  /// Launches calls[i] on devices[i], in streams[i] (no default stream): the
  /// same kernel and shape on all, with arguments of its own on each.
  /// CannotMeasure where the driver has no such launch.
  MultiDeviceLaunch(const std::vector<KernelCall>& calls,
                    const std::vector<int>& devices,
                    const std::vector<cudaStream_t>& streams);

  /// With flags 0: no kernel starts before all earlier work of all the streams
  /// has ended, and later work waits for all kernels (study, section VI-A).
  cudaError_t operator()();

 private:
#if CUDART_VERSION < 13000
  std::vector<cudaLaunchParams> parameters_;
#else
  using Launch = CUresult (*)(CUDA_LAUNCH_PARAMS*, unsigned, unsigned);
  Launch launch_ = nullptr;
  std::vector<CUDA_LAUNCH_PARAMS> parameters_;
#endif
};

}  // namespace syncbench
