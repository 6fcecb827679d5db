// The CPU-side barrier between GPUs (study, section VI-B).
#pragma once

#include <vector>

#include "common/gpu_threads.hpp"
#include "common/launch.hpp"
#include "implicit_barrier/launch_method.hpp"
#include "implicit_barrier/stream_pool.hpp"

namespace syncbench {

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

}  // namespace syncbench
