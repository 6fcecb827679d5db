// The ways to launch a kernel, each with the wait that ends it (study, IV, VI).
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/devices.hpp"
#include "common/errors.hpp"
#include "common/gpu_threads.hpp"
#include "common/launch.hpp"
#include "common/timing.hpp"
#include "implicit_barrier/kernels.hpp"
#include "implicit_barrier/stream_pool.hpp"

namespace syncbench {

/// Nanoseconds of a series of launches.
struct LaunchTimes {
  double launched;  ///< until the last launch call returned
  double total;     ///< until all kernels had ended and the host knew
};

/// A launch method bound to what it launches and to the GPUs it runs on.
class LaunchMethod {
 public:
  virtual ~LaunchMethod() = default;

  /// Launches `repeats` times and waits for the end.
  virtual LaunchTimes run(int repeats) = 0;

  /// Nanoseconds that the wait takes when nothing is running.
  virtual double idle_wait_ns() = 0;
};

/// Launches that queue up behind each other, all from the calling thread, and
/// one wait at the end.
class QueuedLaunch : public LaunchMethod {
 public:
  /// On the first `gpus` GPUs of the pool.
  QueuedLaunch(const StreamPool& pool, int gpus) : pool_(pool), gpus_(gpus) {}

  LaunchTimes run(int repeats) override {
    const auto start = HostClock::now();
    launch(repeats);
    const auto launched = HostClock::now();
    wait();
    return {elapsed_ns(start, launched), elapsed_ns(start, HostClock::now())};
  }

  double idle_wait_ns() override {
    const auto start = HostClock::now();
    wait();
    return elapsed_ns(start, HostClock::now());
  }

  /// As often as `repeats` says, all into the streams of the pool's turn.
  virtual void launch(int repeats) = 0;
  virtual void wait() = 0;

  const StreamPool& pool() const { return pool_; }
  int gpus() const { return gpus_; }

 private:
  const StreamPool& pool_;
  int gpus_;
};

/// kernel<<<...>>>() or a cooperative launch on one GPU of each kernel of a
/// chain, then cudaDeviceSynchronize().
class SingleGpuLaunch : public QueuedLaunch {
 public:
  using Launch = cudaError_t (*)(const KernelCall&, cudaStream_t);

  SingleGpuLaunch(Launch launch, const StreamPool& pool,
                  std::vector<KernelCall> chain)
      : QueuedLaunch(pool, 1), launch_(launch), chain_(std::move(chain)) {}

  void launch(int repeats) override {
    for (int i = 0; i < repeats; ++i) {
      for (const KernelCall& call : chain_) {
        check_cuda(launch_(call, pool().stream(0)),
                   launch_ == launch_traditional
                       ? "cudaLaunchKernel"
                       : "cudaLaunchCooperativeKernel",
                   __FILE__, __LINE__);
      }
    }
  }
  void wait() override { CUDA_CHECK(cudaDeviceSynchronize()); }

 private:
  Launch launch_;
  std::vector<KernelCall> chain_;
};

/// One multi-device launch for all GPUs, which is also a barrier between them;
/// then cudaDeviceSynchronize() of each.
class MultiCooperativeLaunch : public QueuedLaunch {
 public:
  MultiCooperativeLaunch(const StreamPool& pool, int gpus,
                         const KernelCall& call)
      : QueuedLaunch(pool, gpus) {
    std::vector<int> devices;
    for (int gpu = 0; gpu < gpus; ++gpu) devices.push_back(pool.device(gpu));
    for (int turn = 0; turn < StreamPool::kStreams; ++turn) {
      std::vector<cudaStream_t> streams;
      for (int gpu = 0; gpu < gpus; ++gpu) {
        streams.push_back(pool.stream(gpu, turn));
      }
      launches_.emplace_back(std::vector<KernelCall>(gpus, call), devices,
                             streams);
    }
  }

  void launch(int repeats) override {
    for (int i = 0; i < repeats; ++i) {
      const auto check = works_ ? check_cuda : check_asked;
      check(launches_[pool().turn()](), MultiDeviceLaunch::kApi, __FILE__,
            __LINE__);
      works_ = true;
    }
  }

  void wait() override {
    for (int gpu = 0; gpu < gpus(); ++gpu) {
      CUDA_CHECK(cudaSetDevice(pool().device(gpu)));
      CUDA_CHECK(cudaDeviceSynchronize());
    }
    CUDA_CHECK(cudaSetDevice(pool().device(0)));
  }

 private:
  std::vector<MultiDeviceLaunch> launches_;  // one a turn
  bool works_ = false;  // the first launch asks whether these GPUs have it
};

/// One OpenMP thread a GPU: launch, device synchronize, OpenMP barrier (study,
/// Fig. 6). Every repeat ends in the barrier, so `launched` contains the waits
/// of all repeats but the last.
class OmpTraditionalLaunch : public LaunchMethod {
 public:
  OmpTraditionalLaunch(const StreamPool& pool, const std::vector<Gpu>& gpus,
                       const KernelCall& call)
      : pool_(pool), threads_(gpus), call_(call) {}

  LaunchTimes run(int repeats) override {
    HostClock::time_point launched;
    const double total = threads_.run([&](int rank) {
      CallResult result;
      for (int i = 0; i < repeats; ++i) {
        result.note(launch_traditional(call_, pool_.stream(rank)),
                    "cudaLaunchKernel");
        if (rank == 0 && i == repeats - 1) launched = HostClock::now();
        result.note(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
#pragma omp barrier
      }
      return result;
    });
    return {elapsed_ns(threads_.start(), launched), total};
  }

  double idle_wait_ns() override {
    return threads_.run([](int) {
      CallResult result;
      result.note(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
#pragma omp barrier
      return result;
    });
  }

 private:
  const StreamPool& pool_;
  GpuThreads threads_;
  KernelCall call_;
};

/// Cooperative launches have to be had on all GPUs that take part.
inline void require_cooperative(const std::vector<Gpu>& gpus) {
  for (const Gpu& gpu : gpus) {
    if (!gpu.cooperative_launch) {
      throw CannotMeasure(
          "no-cooperative-launch",
          "no cooperative launch on GPU " + std::to_string(gpu.index));
    }
  }
}

/// One entry of the list of methods.
struct LaunchMethodInfo {
  template <class Made>
  using Make = std::unique_ptr<Made> (*)(const StreamPool&,
                                         const std::vector<Gpu>&,
                                         const KernelCall&);
  const char* name;
  const char* description;
  bool multi_gpu;
  /// Makes a launch on the given GPUs, the first of the pool: of the kernel of
  /// a section, or of a chain of kernels with that one. A QueuedLaunch if
  /// launches queue up; another one waits for each kernel.
  Make<QueuedLaunch> make_queued;
  Make<LaunchMethod> make_waiting = nullptr;
  const UnitKernels* kernels = &kUnitKernels;  ///< that sections launch with it

  bool queues() const { return make_queued != nullptr; }
  std::unique_ptr<LaunchMethod> make(const StreamPool& pool,
                                     const std::vector<Gpu>& gpus,
                                     const KernelCall& call) const {
    if (queues()) return make_queued(pool, gpus, call);
    return make_waiting(pool, gpus, call);
  }
};

/// Every launch method that ImplicitBarrier measures, in the order of its rows.
/// A .cu file beside this one adds its own by add_launch_method().
inline std::vector<LaunchMethodInfo>& launch_methods() {
  using Gpus = std::vector<Gpu>;
  using Made = std::unique_ptr<QueuedLaunch>;
  static std::vector<LaunchMethodInfo> methods = {
      {"traditional_launch", "kernel<<<...>>>() on one GPU", false,
       [](const StreamPool& pool, const Gpus&, const KernelCall& call) -> Made {
         return std::make_unique<SingleGpuLaunch>(
             launch_traditional, pool, std::vector<KernelCall>{call});
       }},
      {"cooperative_launch", "cudaLaunchCooperativeKernel on one GPU", false,
       [](const StreamPool& pool, const Gpus& gpus,
          const KernelCall& call) -> Made {
         require_cooperative(gpus);
         return std::make_unique<SingleGpuLaunch>(
             launch_cooperative, pool, std::vector<KernelCall>{call});
       }},
      {"multi_cooperative_launch",
       "cuLaunchCooperativeKernelMultiDevice (driver); before CUDA 13 "
       "cudaLaunchCooperativeKernelMultiDevice (runtime)",
       true,
       [](const StreamPool& pool, const Gpus& gpus,
          const KernelCall& call) -> Made {
         require_cooperative(gpus);
         return std::make_unique<MultiCooperativeLaunch>(
             pool, static_cast<int>(gpus.size()), call);
       }},
      {"single_omp_traditional_launch",
       "a thread a GPU: launch, device synchronize, OpenMP barrier", true,
       nullptr,
       [](const StreamPool& pool, const Gpus& gpus,
          const KernelCall& call) -> std::unique_ptr<LaunchMethod> {
         return std::make_unique<OmpTraditionalLaunch>(pool, gpus, call);
       }}};
  return methods;
}

/// Adds a method; the result is of no use but to initialize a constant.
inline bool add_launch_method(const LaunchMethodInfo& method) {
  launch_methods().push_back(method);
  return true;
}

/// std::out_of_range where there is none of this name.
inline const LaunchMethodInfo& find_launch_method(const std::string& name) {
  for (const LaunchMethodInfo& method : launch_methods()) {
    if (method.name == name) return method;
  }
  throw std::out_of_range(name);
}

}  // namespace syncbench
