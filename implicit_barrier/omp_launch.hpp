// The CPU-side barrier between GPUs (study, section VI-B).
#pragma once

#include <omp.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "common/cpus.hpp"
#include "common/devices.hpp"
#include "common/launch.hpp"
#include "common/timing.hpp"
#include "implicit_barrier/launch_method.hpp"

namespace syncbench {

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

}  // namespace syncbench
