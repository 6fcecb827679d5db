// The GPUs that meet, of one process or of several.
#pragma once

#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <typeindex>
#include <vector>

#include "common/check.hpp"
#include "common/gpu_threads.hpp"
#include "libraries/mpi_calls.hpp"
#include "libraries/watch.hpp"

namespace syncbench::libraries {

/// The GPUs that meet: those of this process and of all others.
class Team {
 public:
  /// `gpus`: of this process; equally many in each.
  Team(const mpi::World& world, Watch& watch, const std::vector<Gpu>& gpus)
      : gpus_(gpus), world_(world), watch_(watch), threads_(gpus) {}

  const std::vector<Gpu>& gpus() const { return gpus_; }
  int processes() const { return world_.size; }
  int nodes() const { return world_.nodes; }
  int rank() const { return world_.rank; }
  int total() const { return world_.size * local(); }
  /// Number of the first of this process among all.
  int first() const { return world_.rank * local(); }
  int local() const { return static_cast<int>(gpus_.size()); }

  /// Runs body(i) -> CallResult in the thread of each GPU of this process, all
  /// starting together, those of the other processes too. Returns the
  /// nanoseconds of the first one's. Where a call fails, all processes end at
  /// once, with what `explain` adds: kernels of other GPUs may wait for this
  /// one's for ever.
  template <class Body>
  double run(Body body,
             const std::function<std::optional<std::string>()>& explain = {}) {
    watch_.progress();
    barrier();
    return threads_.run([&](int i) {
      const CallResult result = body(i);
      if (result.code == cudaSuccess) return result;
      const std::string gpu = " on GPU " + std::to_string(gpus_[i].index);
      const CudaError error(result.code, (result.call + gpu).c_str(), __FILE__,
                            __LINE__);
      const auto why = explain ? explain() : std::nullopt;
      fail((why ? *why + "\n" : "") + error.what());
    });
  }

  /// In the body of run(), where nothing has failed: returns when the threads
  /// of all GPUs have called it, those of the other processes too.
  void meet() {
#pragma omp barrier
    barrier();
  }

  /// Returns when all processes have called it.
  void barrier() {
    end_all_if_it_fails([] { mpi::barrier(); });
  }

  /// Calls MPI where no exception can leave: in the body of run(), or in a
  /// destructor.
  template <class Call>
  void end_all_if_it_fails(Call call) {
    try {
      call();
    } catch (const std::exception& error) {
      fail(error.what());
    }
  }

  /// This process goes on, and is now at `point`, for messages.
  void show(const std::string& point) { watch_.show(point); }

  /// Ends all processes at once, for the same reason.
  [[noreturn]] void fail(const std::string& why) { watch_.fail_here(why); }

  /// A T(team), which is made at the first call, by all processes at the same
  /// time, and lives as long as the team: for what takes long to make.
  template <class T>
  T& kept() {
    std::shared_ptr<void>& one = kept_[typeid(T)];
    if (one == nullptr) one = std::make_shared<T>(*this);
    return *static_cast<T*>(one.get());
  }

 private:
  std::vector<Gpu> gpus_;
  mpi::World world_;
  Watch& watch_;
  GpuThreads threads_;
  std::map<std::type_index, std::shared_ptr<void>> kept_;
};

/// Waits for a stream, unless its work could not be enqueued.
inline void wait_for(cudaStream_t stream, CallResult& result) {
  if (result.code != cudaSuccess) return;
  result.note(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

}  // namespace syncbench::libraries
