// The ways to launch a kernel, each with the wait that ends it (study, IV, VI).
#pragma once

#include <omp.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/cpus.hpp"
#include "common/devices.hpp"
#include "common/launch.cuh"
#include "common/timing.hpp"

namespace syncbench {

/// Nanoseconds of a series of launches.
struct LaunchTimes {
  double launched;  ///< until the last launch call returned
  double total;     ///< until all kernels had ended and the host knew
};

/// A launch method bound to one kernel and to the GPUs it runs on.
class LaunchMethod {
 public:
  virtual ~LaunchMethod() = default;

  /// Launches the kernel `repeats` times and waits for the end.
  virtual LaunchTimes run(int repeats) = 0;

  /// Nanoseconds that the wait takes when nothing is running.
  virtual double idle_wait_ns() = 0;
};

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
      : gpus_(gpus), streams_(make_streams(gpus)),
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

/// One OpenMP thread a GPU, each on a CPU next to it: launch, device
/// synchronize, OpenMP barrier (study, Fig. 6). Every repeat ends in the
/// barrier, so `launched` contains the waits of all repeats but the last.
class OmpTraditionalLaunch : public LaunchMethod {
 public:
  OmpTraditionalLaunch(const std::vector<Gpu>& gpus, const KernelCall& call)
      : gpus_(gpus), call_(call) {
    omp_set_dynamic(0);
    for (const Gpu& gpu : gpus) streams_.emplace_back(gpu.index);
  }

  LaunchTimes run(int repeats) override {
    HostClock::time_point launched;
    const double total = time_in_parallel([&](int gpu) {
      cudaError_t error = cudaSuccess;
      for (int i = 0; i < repeats; ++i) {
        // Goes on after an error: a thread that left would hang the others.
        const cudaError_t launch =
            launch_traditional(call_, streams_[gpu].get());
        if (gpu == 0 && i == repeats - 1) launched = HostClock::now();
        const cudaError_t wait = cudaDeviceSynchronize();
        if (error == cudaSuccess) error = launch != cudaSuccess ? launch : wait;
#pragma omp barrier
      }
      return error;
    });
    return {elapsed_ns(start_, launched), total};
  }

  double idle_wait_ns() override {
    return time_in_parallel([](int) {
      const cudaError_t error = cudaDeviceSynchronize();
#pragma omp barrier
      return error;
    });
  }

 private:
  /// Nanoseconds that thread 0 spends in `body(gpu)`, which all threads start
  /// together; creating the threads is not in it.
  template <class Body>
  double time_in_parallel(Body body) {
    const int count = static_cast<int>(gpus_.size());
    std::vector<cudaError_t> errors(count, cudaSuccess);
    std::vector<char> pinned(count, 1);
    int threads = 0;
    double total = 0;
#pragma omp parallel num_threads(count)
    {
      const int gpu = omp_get_thread_num();
      const bool complete = omp_get_num_threads() == count;
      if (complete) {
        pinned[gpu] = pin_to(gpus_[gpu].cpu);
        errors[gpu] = cudaSetDevice(gpus_[gpu].index);
      }
#pragma omp barrier
      if (gpu == 0) {
        threads = omp_get_num_threads();
        start_ = HostClock::now();
      }
      if (complete) {
        const cudaError_t error = body(gpu);
        if (gpu == 0) total = elapsed_ns(start_, HostClock::now());
        if (errors[gpu] == cudaSuccess) errors[gpu] = error;
      }
    }
    if (threads != count) {
      throw std::runtime_error("OpenMP gave " + std::to_string(threads) +
                               " threads for " + std::to_string(count) +
                               " GPUs (OMP_THREAD_LIMIT?)");
    }
    for (int gpu = 0; gpu < count; ++gpu) {
      CUDA_CHECK(errors[gpu]);
      if (!pinned[gpu]) {
        throw std::runtime_error("cannot pin the thread of GPU " +
                                 std::to_string(gpu) + " to CPU " +
                                 std::to_string(gpus_[gpu].cpu));
      }
    }
    return total;
  }

  // No exception may leave the parallel region.
  static bool pin_to(int cpu) {
    try {
      pin_this_thread(cpu);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  std::vector<Gpu> gpus_;
  KernelCall call_;
  std::vector<Stream> streams_;
  HostClock::time_point start_;
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
