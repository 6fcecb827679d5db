// One OpenMP thread for each GPU, pinned to a CPU next to it.
#pragma once

#include <cuda_runtime_api.h>
#include <omp.h>

#include <vector>

#include "common/devices.hpp"
#include "common/timing.hpp"

namespace syncbench {

/// First failed call of a thread; no exception may leave a parallel region.
struct CallResult {
  cudaError_t code = cudaSuccess;
  const char* call = "";
  HostClock::time_point when = {};

  /// Keeps the first failure.
  void note(cudaError_t result, const char* name) {
    if (code != cudaSuccess || result == cudaSuccess) return;
    *this = {result, name, HostClock::now()};
  }
};

class GpuThreads {
 public:
  explicit GpuThreads(const std::vector<Gpu>& gpus) : gpus_(gpus) {
    omp_set_dynamic(0);
  }

  /// Runs `body(rank) -> CallResult` in the thread of every GPU, which is
  /// current there, all starting together behind an OpenMP barrier. A body that
  /// fails must still meet the barriers of the others. Returns the nanoseconds
  /// of rank 0's body, without creating threads. Throws CudaError of the call
  /// that failed first, as later failures may follow from it. No body runs if a
  /// GPU cannot be made current.
  template <class Body>
  double run(Body body) {
    const int count = static_cast<int>(gpus_.size());
    std::vector<CallResult> made_current(gpus_.size()), results(gpus_.size());
    std::vector<char> pinned(gpus_.size(), 1);
    int threads = 0;
    double total = 0;
#pragma omp parallel num_threads(count)
    {
      const int rank = omp_get_thread_num();
      const bool complete = omp_get_num_threads() == count;
      if (complete) {
        pinned[rank] = pin(gpus_[rank].cpu);
        made_current[rank].note(cudaSetDevice(gpus_[rank].index),
                                "cudaSetDevice");
      }
#pragma omp barrier
      const bool all_are = complete && succeeded(made_current);
      if (rank == 0) {
        threads = omp_get_num_threads();
        start_ = HostClock::now();
      }
      if (all_are) {
        results[rank] = body(rank);
        if (rank == 0) total = elapsed_ns(start_, HostClock::now());
      }
    }
    check(threads, succeeded(made_current) ? results : made_current, pinned);
    return total;
  }

  /// When the body of rank 0 started, for that body and after run().
  HostClock::time_point start() const { return start_; }

 private:
  static bool pin(int cpu);
  static bool succeeded(const std::vector<CallResult>& results);

  void check(int threads, const std::vector<CallResult>& results,
             const std::vector<char>& pinned) const;

  std::vector<Gpu> gpus_;
  HostClock::time_point start_;
};

}  // namespace syncbench
