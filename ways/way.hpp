// A way orders steps: step s begins on no GPU before step s - 1 has ended on
// those that it depends on. What a step launches is given to it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "common/devices.hpp"
#include "common/errors.hpp"
#include "common/launch.hpp"
#include "common/timing.hpp"
#include "ways/stream_pool.hpp"

namespace syncbench::ways {

/// What steps launch, a kernel on each GPU. Step s launches
/// kinds[order[s % order.size()]].
struct Steps {
  std::vector<std::vector<KernelCall>> kinds;  ///< [kind][GPU]
  std::vector<int> order = {0};

  int gpus() const { return static_cast<int>(kinds[0].size()); }

  /// Calls visit(kind) for the first `count` steps.
  template <class Visitor>
  void for_each(int count, Visitor visit) const {
    std::size_t next = 0;
    for (int step = 0; step < count; ++step) {
      visit(order[next]);
      if (++next == order.size()) next = 0;
    }
  }
};

/// Steps that all launch this kernel, on each of so many GPUs.
inline Steps all_of(const KernelCall& call, int gpus = 1) {
  return {{std::vector<KernelCall>(gpus, call)}};
}

/// Nanoseconds of a series of steps.
struct LaunchTimes {
  double launched;  ///< until the last launch call returned
  double total;     ///< until all kernels had ended and the host knew
};

/// Bound to its steps and to the first GPUs of a pool, of which the first is
/// current.
class Way {
 public:
  virtual ~Way() = default;

  /// Launches so many steps, from the first on, and waits for their end.
  virtual LaunchTimes run(int count) = 0;

  /// Nanoseconds that the wait takes when nothing is running.
  virtual double idle_wait_ns() = 0;
};

/// CannotMeasure, of the maker or of the first run, where a way cannot be had
/// on these GPUs.
using Maker = std::unique_ptr<Way> (*)(const StreamPool&,
                                       const std::vector<Gpu>&, const Steps&);

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

/// Launches that queue up behind each other, all from the calling thread, and
/// one wait at the end.
class QueuedWay : public Way {
 public:
  QueuedWay(const StreamPool& pool, Steps steps)
      : pool_(pool), steps_(std::move(steps)) {}

  LaunchTimes run(int count) override {
    prepare(count);
    const auto start = HostClock::now();
    launch(count);
    const auto launched = HostClock::now();
    wait();
    return {elapsed_ns(start, launched), elapsed_ns(start, HostClock::now())};
  }

  double idle_wait_ns() override {
    const auto start = HostClock::now();
    wait();
    return elapsed_ns(start, HostClock::now());
  }

  /// What a launch of so many steps needs once, and what may wait for kernels.
  virtual void prepare(int /*count*/) {}
  /// All into the streams of the pool's turn.
  virtual void launch(int count) = 0;
  void wait() const {
    for (int gpu = gpus() - 1; gpu >= 0; --gpu) {
      if (gpus() > 1) CUDA_CHECK(cudaSetDevice(pool_.device(gpu)));
      CUDA_CHECK(cudaDeviceSynchronize());
    }
  }

  const StreamPool& pool() const { return pool_; }
  int gpus() const { return steps_.gpus(); }

 protected:
  const Steps& steps() const { return steps_; }
  std::vector<int> devices() const {
    std::vector<int> devices;
    for (int gpu = 0; gpu < gpus(); ++gpu) {
      devices.push_back(pool_.device(gpu));
    }
    return devices;
  }
  std::vector<cudaStream_t> streams() const {
    std::vector<cudaStream_t> streams;
    for (int gpu = 0; gpu < gpus(); ++gpu) {
      streams.push_back(pool_.stream(gpu, pool_.turn()));
    }
    return streams;
  }

 private:
  const StreamPool& pool_;
  Steps steps_;
};

}  // namespace syncbench::ways
