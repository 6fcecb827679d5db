// One OpenMP thread for each GPU, pinned to a CPU next to it.
#pragma once

#include <omp.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "common/check.hpp"
#include "common/cpus.hpp"
#include "common/devices.hpp"
#include "common/timing.hpp"

namespace syncbench {

/// First failed call of a thread; no exception may leave a parallel region.
struct CallResult {
  cudaError_t code = cudaSuccess;
  const char* call = "";

  /// Keeps the first failure.
  void note(cudaError_t result, const char* name) {
    if (code != cudaSuccess || result == cudaSuccess) return;
    code = result;
    call = name;
  }
};

class GpuThreads {
 public:
  explicit GpuThreads(const std::vector<Gpu>& gpus) : gpus_(gpus) {
    omp_set_dynamic(0);
  }

  /// Runs `body(rank) -> CallResult` in the thread of every GPU, which is
  /// current there, all starting together behind an OpenMP barrier. A body that
  /// fails has to meet the barriers of the others all the same. Returns the
  /// nanoseconds that the body of rank 0 took, without creating threads; throws
  /// CudaError for the first GPU that failed.
  template <class Body>
  double run(Body body) {
    const int count = static_cast<int>(gpus_.size());
    std::vector<CallResult> results(gpus_.size());
    std::vector<char> pinned(gpus_.size(), 1);
    int threads = 0;
    double total = 0;
#pragma omp parallel num_threads(count)
    {
      const int rank = omp_get_thread_num();
      const bool complete = omp_get_num_threads() == count;
      if (complete) {
        pinned[rank] = pin(gpus_[rank].cpu);
        results[rank].note(cudaSetDevice(gpus_[rank].index), "cudaSetDevice");
      }
#pragma omp barrier
      if (rank == 0) {
        threads = omp_get_num_threads();
        start_ = HostClock::now();
      }
      if (complete) {
        const CallResult result = body(rank);
        if (rank == 0) total = elapsed_ns(start_, HostClock::now());
        results[rank].note(result.code, result.call);
      }
    }
    check(threads, results, pinned);
    return total;
  }

  /// When the body of rank 0 started, for that body and after run().
  HostClock::time_point start() const { return start_; }

 private:
  static bool pin(int cpu) {
    try {
      pin_this_thread(cpu);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  void check(int threads, const std::vector<CallResult>& results,
             const std::vector<char>& pinned) const {
    if (threads != static_cast<int>(gpus_.size())) {
      throw std::runtime_error("OpenMP gave " + std::to_string(threads) +
                               " threads for " + std::to_string(gpus_.size()) +
                               " GPUs (OMP_THREAD_LIMIT?)");
    }
    for (std::size_t rank = 0; rank < gpus_.size(); ++rank) {
      const std::string gpu = "GPU " + std::to_string(gpus_[rank].index);
      const CallResult& result = results[rank];
      check_cuda(result.code, (std::string(result.call) + " on " + gpu).c_str(),
                 __FILE__, __LINE__);
      if (!pinned[rank]) {
        throw std::runtime_error("cannot pin the thread of " + gpu +
                                 " to CPU " + std::to_string(gpus_[rank].cpu));
      }
    }
  }

  std::vector<Gpu> gpus_;
  HostClock::time_point start_;
};

}  // namespace syncbench
