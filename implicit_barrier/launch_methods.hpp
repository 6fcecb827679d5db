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

/// Launches that queue up behind each other, all from the calling thread, and
/// one wait at the end.
class QueuedLaunch : public LaunchMethod {
 public:
  LaunchTimes run(int repeats) override {
    const auto start = HostClock::now();
    for (int i = 0; i < repeats; ++i) launch();
    const auto launched = HostClock::now();
    wait();
    return {elapsed_ns(start, launched), elapsed_ns(start, HostClock::now())};
  }

  double idle_wait_ns() override {
    const auto start = HostClock::now();
    wait();
    return elapsed_ns(start, HostClock::now());
  }

 private:
  virtual void launch() = 0;
  virtual void wait() = 0;
};

/// kernel<<<...>>>() or a cooperative launch on one GPU, then
/// cudaDeviceSynchronize().
class SingleGpuLaunch : public QueuedLaunch {
 public:
  using Launch = cudaError_t (*)(const KernelCall&, cudaStream_t);

  SingleGpuLaunch(Launch launch, const Gpu& gpu, const KernelCall& call)
      : launch_(launch), call_(call), stream_(gpu.index) {}

 private:
  void launch() override { CUDA_CHECK(launch_(call_, stream_.get())); }
  void wait() override { CUDA_CHECK(cudaDeviceSynchronize()); }

  Launch launch_;
  KernelCall call_;
  Stream stream_;
};

/// One multi-device launch for all GPUs, which is also a barrier between them;
/// then cudaDeviceSynchronize() of each.
class MultiCooperativeLaunch : public QueuedLaunch {
 public:
  MultiCooperativeLaunch(const std::vector<Gpu>& gpus, const KernelCall& call)
      : devices_(device_numbers(gpus)),
        streams_(make_streams(devices_)),
        launch_(std::vector<KernelCall>(devices_.size(), call), devices_,
                stream_handles(streams_)) {}

 private:
  void launch() override { CUDA_CHECK(launch_()); }

  void wait() override {
    for (const int device : devices_) {
      CUDA_CHECK(cudaSetDevice(device));
      CUDA_CHECK(cudaDeviceSynchronize());
    }
    CUDA_CHECK(cudaSetDevice(devices_[0]));
  }

  std::vector<int> devices_;
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
