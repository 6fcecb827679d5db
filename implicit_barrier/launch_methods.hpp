// The ways to launch a kernel, each with the wait that ends it (study, IV, VI).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/devices.hpp"
#include "common/launch.hpp"
#include "common/timing.hpp"
#include "implicit_barrier/launch_method.hpp"
#include "implicit_barrier/omp_launch.hpp"

namespace syncbench {

/// kernel<<<...>>>() or a cooperative launch on one GPU, then
/// cudaDeviceSynchronize().
class SingleGpuLaunch : public LaunchMethod {
 public:
  using Launch = cudaError_t (*)(const KernelCall&, cudaStream_t);

  SingleGpuLaunch(Launch launch, const Gpu& gpu, const KernelCall& call)
      : launch_(launch), call_(call), stream_(gpu.index) {}

  LaunchTimes run(int repeats) override {
    cudaError_t error = cudaSuccess;
    const auto start = HostClock::now();
    for (int i = 0; i < repeats && error == cudaSuccess; ++i) {
      error = launch_(call_, stream_.get());
    }
    const auto launched = HostClock::now();
    CUDA_CHECK(cudaDeviceSynchronize());
    const auto end = HostClock::now();
    CUDA_CHECK(error);
    return {elapsed_ns(start, launched), elapsed_ns(start, end)};
  }

  double idle_wait_ns() override {
    const auto start = HostClock::now();
    CUDA_CHECK(cudaDeviceSynchronize());
    return elapsed_ns(start, HostClock::now());
  }

 private:
  Launch launch_;
  KernelCall call_;
  Stream stream_;
};

/// One multi-device launch for all GPUs, which is also a barrier between them;
/// then cudaDeviceSynchronize() of each, all from one thread.
class MultiCooperativeLaunch : public LaunchMethod {
 public:
  MultiCooperativeLaunch(const std::vector<Gpu>& gpus, const KernelCall& call)
      : gpus_(gpus),
        streams_(make_streams(gpus)),
        launch_(call, device_numbers(gpus), stream_handles(streams_)) {}

  LaunchTimes run(int repeats) override {
    cudaError_t error = cudaSuccess;
    const auto start = HostClock::now();
    for (int i = 0; i < repeats && error == cudaSuccess; ++i) {
      error = launch_();
    }
    const auto launched = HostClock::now();
    wait();
    const auto end = HostClock::now();
    CUDA_CHECK(error);
    return {elapsed_ns(start, launched), elapsed_ns(start, end)};
  }

  double idle_wait_ns() override {
    const auto start = HostClock::now();
    wait();
    return elapsed_ns(start, HostClock::now());
  }

 private:
  static std::vector<Stream> make_streams(const std::vector<Gpu>& gpus) {
    std::vector<Stream> streams;
    for (const Gpu& gpu : gpus) streams.emplace_back(gpu.index);
    return streams;
  }

  static std::vector<int> device_numbers(const std::vector<Gpu>& gpus) {
    std::vector<int> numbers;
    for (const Gpu& gpu : gpus) numbers.push_back(gpu.index);
    return numbers;
  }

  static std::vector<cudaStream_t> stream_handles(
      const std::vector<Stream>& streams) {
    std::vector<cudaStream_t> handles;
    for (const Stream& stream : streams) handles.push_back(stream.get());
    return handles;
  }

  void wait() {
    for (const Gpu& gpu : gpus_) {
      CUDA_CHECK(cudaSetDevice(gpu.index));
      CUDA_CHECK(cudaDeviceSynchronize());
    }
    CUDA_CHECK(cudaSetDevice(gpus_[0].index));
  }

  std::vector<Gpu> gpus_;
  std::vector<Stream> streams_;
  MultiDeviceLaunch launch_;
};

/// One entry of the list of methods.
struct LaunchMethodInfo {
  const char* name;
  const char* description;
  bool multi_gpu;
  std::unique_ptr<LaunchMethod> (*make)(const std::vector<Gpu>&,
                                        const KernelCall&);
};

/// Every launch method that ImplicitBarrier measures, in the order of its rows.
inline const std::vector<LaunchMethodInfo>& launch_methods() {
  using Gpus = std::vector<Gpu>;
  using Made = std::unique_ptr<LaunchMethod>;
  static const std::vector<LaunchMethodInfo> kMethods = {
      {"traditional_launch", "kernel<<<...>>>() on one GPU", false,
       [](const Gpus& gpus, const KernelCall& call) -> Made {
         return std::make_unique<SingleGpuLaunch>(launch_traditional, gpus[0],
                                                  call);
       }},
      {"cooperative_launch", "cudaLaunchCooperativeKernel on one GPU", false,
       [](const Gpus& gpus, const KernelCall& call) -> Made {
         return std::make_unique<SingleGpuLaunch>(launch_cooperative, gpus[0],
                                                  call);
       }},
      {"multi_cooperative_launch", MultiDeviceLaunch::kApi, true,
       [](const Gpus& gpus, const KernelCall& call) -> Made {
         return std::make_unique<MultiCooperativeLaunch>(gpus, call);
       }},
      {"single_omp_traditional_launch",
       "a thread a GPU: launch, device synchronize, OpenMP barrier", true,
       [](const Gpus& gpus, const KernelCall& call) -> Made {
         return std::make_unique<OmpTraditionalLaunch>(gpus, call);
       }}};
  return kMethods;
}

}  // namespace syncbench
