// A way orders steps: step s begins on no GPU before step s - 1 has ended on
// those that it depends on. What a step launches is given to it.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "common/cuda_resources.hpp"
#include "common/devices.hpp"
#include "common/errors.hpp"
#include "common/launch.hpp"
#include "common/timing.hpp"

namespace syncbench::ways {

/// Streams of several GPUs, the same for all ways. The time between
/// two kernels is a stream's own, as the section `streams` shows. Streams made
/// one after the other are alike, so every 32nd is used; the samples of a row
/// take turns with these.
class StreamPool {
 public:
  static constexpr int kStreams = 10;

  /// For so many turns. Default: as many streams as show what differs between
  /// them.
  explicit StreamPool(const std::vector<int>& devices, int turns = kStreams)
      : devices_(devices), turns_(turns) {
    for (int i = 0; i <= (turns - 1) * kApart; ++i) {
      made_.push_back(make_streams(devices));
    }
  }

  /// From here on all ways launch into the streams of this turn.
  void turn_to(int turn) { turn_ = turn % turns_; }
  int turn() const { return turn_; }  ///< from 0 on

  /// Until the guard ends, ways of one GPU launch into this stream, which
  /// nobody makes; nullptr: into those of the pool.
  class Given {
   public:
    Given(StreamPool& pool, cudaStream_t stream)
        : pool_(pool), before_(pool.given_) {
      pool_.given_ = stream;
    }
    Given(const Given&) = delete;
    ~Given() { pool_.given_ = before_; }

   private:
    StreamPool& pool_;
    cudaStream_t before_;
  };

  /// GPU at position `gpu` of the constructor's list.
  int device(int gpu) const { return devices_[gpu]; }
  cudaStream_t stream(int gpu) const {
    return given_ != nullptr ? given_ : stream(gpu, turn_);
  }
  /// That of the next turn. std::logic_error where the pool has one.
  cudaStream_t other_stream(int gpu) const {
    if (turns_ == 1) throw std::logic_error("a pool of one stream");
    return stream(gpu, (turn_ + 1) % turns_);
  }
  cudaStream_t stream(int gpu, int turn) const {
    return made_[static_cast<std::size_t>(turn) * kApart][gpu].get();
  }

 private:
  static constexpr int kApart = 32;

  std::vector<int> devices_;
  int turns_;
  std::vector<std::vector<Stream>> made_;
  int turn_ = 0;
  cudaStream_t given_ = nullptr;
};

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
