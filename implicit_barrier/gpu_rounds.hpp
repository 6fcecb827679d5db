// Rounds of kernels on several GPUs, and the ways in which no kernel of a round
// begins before all those of the round before have ended.
#pragma once

#include <cuda.h>

#include <map>
#include <memory>
#include <vector>

#include "common/peer_access.hpp"
#include "implicit_barrier/launch_kinds.hpp"

namespace syncbench::implicit_barrier {

/// What is enqueued in the streams of all GPUs between two rounds.
class EnqueuedBarrier {
 public:
  virtual ~EnqueuedBarrier() = default;
  /// `streams`: one a GPU.
  virtual void enqueue(const std::vector<cudaStream_t>& streams) = 0;
  /// A launch has failed: ends all waits, which would last for ever.
  virtual void release() {}
};

/// A repeat is a round. Subclasses say how to launch and separate rounds.
class GpuRounds : public QueuedLaunch {
 public:
  GpuRounds(const StreamPool& pool, RoundCalls calls)
      : QueuedLaunch(pool, static_cast<int>(calls.late.size())),
        calls_(std::move(calls)) {}

  void wait() override {
    for (int gpu = gpus() - 1; gpu >= 0; --gpu) {
      CUDA_CHECK(cudaSetDevice(pool().device(gpu)));
      CUDA_CHECK(cudaDeviceSynchronize());
    }
  }

 protected:
  std::vector<cudaStream_t> streams() const {
    std::vector<cudaStream_t> all;
    for (int gpu = 0; gpu < gpus(); ++gpu) all.push_back(pool().stream(gpu));
    return all;
  }
  const RoundCalls& calls() const { return calls_; }

 private:
  RoundCalls calls_;
};

/// Kernels launched one by one, all from the calling thread, and a barrier that
/// is enqueued behind them.
class EnqueuedRounds : public GpuRounds {
 public:
  EnqueuedRounds(const StreamPool& pool, RoundCalls calls,
                 std::unique_ptr<EnqueuedBarrier> barrier)
      : GpuRounds(pool, std::move(calls)), barrier_(std::move(barrier)) {}

  void launch(int repeats) override {
    try {
      launch_all(repeats);
    } catch (...) {
      barrier_->release();
      throw;
    }
  }

 private:
  void launch_all(int repeats) {
    const std::vector<cudaStream_t> all = streams();
    for (int round = 0; round < repeats; ++round) {
      if (round > 0) barrier_->enqueue(all);
      for (int gpu = 0; gpu < gpus(); ++gpu) {
        CUDA_CHECK(cudaSetDevice(pool().device(gpu)));
        CUDA_CHECK(launch_traditional(calls().of(round, gpu), all[gpu]));
      }
    }
    CUDA_CHECK(cudaSetDevice(pool().device(0)));
  }

  std::unique_ptr<EnqueuedBarrier> barrier_;
};

/// One event a GPU.
inline std::vector<Event> make_events(const std::vector<int>& devices) {
  std::vector<Event> events;
  for (const int device : devices) {
    const DeviceGuard guard(device);
    events.emplace_back();
  }
  return events;
}

/// Each stream waits for an event of each other one.
class EventsToAll : public EnqueuedBarrier {
 public:
  explicit EventsToAll(const std::vector<int>& devices)
      : events_(make_events(devices)) {}

  void enqueue(const std::vector<cudaStream_t>& streams) override {
    for (std::size_t i = 0; i < streams.size(); ++i) {
      CUDA_CHECK(cudaEventRecord(events_[i].get(), streams[i]));
    }
    for (std::size_t i = 0; i < streams.size(); ++i) {
      for (std::size_t j = 0; j < streams.size(); ++j) {
        if (i == j) continue;
        CUDA_CHECK(cudaStreamWaitEvent(streams[i], events_[j].get(), 0));
      }
    }
  }

 private:
  std::vector<Event> events_;
};

/// The first stream waits for the others, and these for it.
class EventsOfStar : public EnqueuedBarrier {
 public:
  explicit EventsOfStar(const std::vector<int>& devices)
      : events_(make_events(devices)) {}

  void enqueue(const std::vector<cudaStream_t>& streams) override {
    for (std::size_t i = 1; i < streams.size(); ++i) {
      CUDA_CHECK(cudaEventRecord(events_[i].get(), streams[i]));
      CUDA_CHECK(cudaStreamWaitEvent(streams[0], events_[i].get(), 0));
    }
    CUDA_CHECK(cudaEventRecord(events_[0].get(), streams[0]));
    for (std::size_t i = 1; i < streams.size(); ++i) {
      CUDA_CHECK(cudaStreamWaitEvent(streams[i], events_[0].get(), 0));
    }
  }

 private:
  std::vector<Event> events_;
};

/// Each stream writes its round into a flag of each other GPU, and waits for
/// those of the others (the driver's stream memory operations).
class FlagsOfStreams : public EnqueuedBarrier {
 public:
  /// flags[i]: a word of each GPU, which GPU i waits for. CannotMeasure where
  /// the driver has no such operations.
  explicit FlagsOfStreams(std::vector<unsigned*> flags);

  void enqueue(const std::vector<cudaStream_t>& streams) override;
  void release() override;

 private:
  using BatchMemOp = CUresult (*)(CUstream, unsigned, CUstreamBatchMemOpParams*,
                                  unsigned);
  BatchMemOp batch_ = nullptr;
  std::vector<unsigned*> flags_;
  unsigned round_ = 0;
  AskedApi api_{"cuStreamBatchMemOp"};
};

/// Rounds with events from each GPU to each other in one graph.
class GraphOfGpus : public EnqueuedRounds {
 public:
  GraphOfGpus(const StreamPool& pool, const RoundCalls& calls)
      : EnqueuedRounds(pool, calls,
                       std::make_unique<EventsToAll>(devices_of(pool, calls))),
        events_(make_events(devices_of(pool, calls))) {}

  void prepare(int repeats) override {
    graphs_.prepare(repeats, pool().stream(0),
                    [&] { return capture(repeats); });
  }
  void launch(int repeats) override {
    graphs_.launch(repeats, pool().stream(0));
  }

 private:
  static std::vector<int> devices_of(const StreamPool& pool,
                                     const RoundCalls& calls) {
    std::vector<int> devices;
    for (std::size_t i = 0; i < calls.late.size(); ++i) {
      devices.push_back(pool.device(static_cast<int>(i)));
    }
    return devices;
  }

  // The other streams join the capture of the first, and come back to it.
  Graph capture(int repeats) {
    const std::vector<cudaStream_t> all = streams();
    return Graph(all[0], [&] {
      CUDA_CHECK(cudaEventRecord(events_[0].get(), all[0]));
      for (std::size_t i = 1; i < all.size(); ++i) {
        CUDA_CHECK(cudaStreamWaitEvent(all[i], events_[0].get(), 0));
      }
      EnqueuedRounds::launch(repeats);
      for (std::size_t i = 1; i < all.size(); ++i) {
        CUDA_CHECK(cudaEventRecord(events_[i].get(), all[i]));
        CUDA_CHECK(cudaStreamWaitEvent(all[0], events_[i].get(), 0));
      }
    });
  }

  std::vector<Event> events_;
  PreparedGraphs graphs_;
};

/// One multi-device launch a round.
class MultiDeviceRounds : public GpuRounds {
 public:
  MultiDeviceRounds(const StreamPool& pool, RoundCalls calls)
      : GpuRounds(pool, std::move(calls)) {}

  void prepare(int /*repeats*/) override {
    for (int round = 0; round < gpus(); ++round) launch_of(round);
  }
  void launch(int repeats) override {
    for (int round = 0; round < repeats; ++round) {
      api_.check(launch_of(round % gpus())(), __FILE__, __LINE__);
    }
  }

 private:
  // One for each late GPU, of the streams of this turn.
  MultiDeviceLaunch& launch_of(int round) {
    const std::pair<int, int> key = {pool().turn(), round};
    const auto found = launches_.find(key);
    if (found != launches_.end()) return found->second;
    std::vector<KernelCall> kernels;
    std::vector<int> devices;
    for (int gpu = 0; gpu < gpus(); ++gpu) {
      kernels.push_back(calls().of(round, gpu));
      devices.push_back(pool().device(gpu));
    }
    return launches_
        .emplace(key, MultiDeviceLaunch(kernels, devices, streams()))
        .first->second;
  }

  std::map<std::pair<int, int>, MultiDeviceLaunch> launches_;
  AskedApi api_{MultiDeviceLaunch::kApi};
};

/// One entry of the list of ways.
struct GpuBarrierInfo {
  const char* name;
  const char* description;
  std::unique_ptr<LaunchMethod> (*make)(const StreamPool&,
                                        const std::vector<Gpu>&,
                                        const RoundCalls&);
  bool needs_peers = false;  ///< access of all GPUs to each other's memory
  bool is_launch = false;    ///< a launch method, whose name this is too
  bool is_one_call = false;  ///< of all rounds, however short they are
};

/// Every way that the section `between GPUs` measures, in the order of its
/// rows.
const std::vector<GpuBarrierInfo>& gpu_barriers();

}  // namespace syncbench::implicit_barrier
