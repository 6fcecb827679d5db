// Ways of several GPUs, a kernel a step on each: no kernel of a step begins
// before those of the step before have ended on the GPUs that it waits for.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "common/cuda_resources.hpp"
#include "common/gpu_threads.hpp"
#include "common/graphs.hpp"
#include "ways/way.hpp"

namespace syncbench::ways {

/// What is enqueued in the streams of all GPUs between two steps.
class EnqueuedBarrier {
 public:
  virtual ~EnqueuedBarrier() = default;
  /// `streams`: one a GPU.
  virtual void enqueue(const std::vector<cudaStream_t>& streams) = 0;
  /// A launch has failed: ends all waits, which would last for ever.
  virtual void release() {}
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

/// Each GPU's stream waits for events of some others.
class Events : public EnqueuedBarrier {
 public:
  /// GPU i waits for those of others[i].
  Events(const std::vector<int>& devices, std::vector<std::vector<int>> others)
      : events_(make_events(devices)), others_(std::move(others)) {}

  void enqueue(const std::vector<cudaStream_t>& streams) override {
    for (std::size_t i = 0; i < streams.size(); ++i) {
      CUDA_CHECK(cudaEventRecord(events_[i].get(), streams[i]));
    }
    for (std::size_t i = 0; i < streams.size(); ++i) {
      for (const int other : others_[i]) {
        CUDA_CHECK(cudaStreamWaitEvent(streams[i], events_[other].get(), 0));
      }
    }
  }

 private:
  std::vector<Event> events_;
  std::vector<std::vector<int>> others_;
};

/// Of all others whose number is at most so far from its own.
inline std::unique_ptr<EnqueuedBarrier> events_within(
    int distance, const std::vector<int>& devices) {
  const int gpus = static_cast<int>(devices.size());
  std::vector<std::vector<int>> others(devices.size());
  for (int i = 0; i < gpus; ++i) {
    for (int j = 0; j < gpus; ++j) {
      if (i != j && std::abs(i - j) <= distance) others[i].push_back(j);
    }
  }
  return std::make_unique<Events>(devices, others);
}
inline std::unique_ptr<EnqueuedBarrier> events_of_all(
    const std::vector<int>& devices) {
  return events_within(static_cast<int>(devices.size()), devices);
}
inline std::unique_ptr<EnqueuedBarrier> events_of_neighbors(
    const std::vector<int>& devices) {
  return events_within(1, devices);
}

/// The first stream waits for the others, and these for it.
class StarOfEvents : public EnqueuedBarrier {
 public:
  explicit StarOfEvents(const std::vector<int>& devices)
      : events_(make_events(devices)) {}

  void enqueue(const std::vector<cudaStream_t>& streams) override {
    join(streams);
    fork(streams);
  }

  void join(const std::vector<cudaStream_t>& streams) {
    for (std::size_t i = 1; i < streams.size(); ++i) {
      CUDA_CHECK(cudaEventRecord(events_[i].get(), streams[i]));
      CUDA_CHECK(cudaStreamWaitEvent(streams[0], events_[i].get(), 0));
    }
  }
  void fork(const std::vector<cudaStream_t>& streams) {
    CUDA_CHECK(cudaEventRecord(events_[0].get(), streams[0]));
    for (std::size_t i = 1; i < streams.size(); ++i) {
      CUDA_CHECK(cudaStreamWaitEvent(streams[i], events_[0].get(), 0));
    }
  }

 private:
  std::vector<Event> events_;
};

inline std::unique_ptr<EnqueuedBarrier> events_of_star(
    const std::vector<int>& devices) {
  return std::make_unique<StarOfEvents>(devices);
}

/// Kernels launched one by one, all from the calling thread, and a barrier that
/// is enqueued between steps.
class EnqueuedWay : public QueuedWay {
 public:
  EnqueuedWay(const StreamPool& pool, Steps steps,
              std::unique_ptr<EnqueuedBarrier> barrier)
      : QueuedWay(pool, std::move(steps)), barrier_(std::move(barrier)) {}

  void launch(int count) override {
    try {
      launch_all(count);
    } catch (...) {
      barrier_->release();
      KEEP_FAILURE(cudaSetDevice(pool().device(0)));
      throw;
    }
  }

 private:
  void launch_all(int count) {
    const std::vector<cudaStream_t> all = streams();
    bool first = true;
    steps().for_each(count, [&](int kind) {
      if (!first) barrier_->enqueue(all);
      first = false;
      for (int gpu = 0; gpu < gpus(); ++gpu) {
        CUDA_CHECK(cudaSetDevice(pool().device(gpu)));
        CUDA_CHECK(launch_traditional(steps().kinds[kind][gpu], all[gpu]));
      }
    });
    CUDA_CHECK(cudaSetDevice(pool().device(0)));
  }

  std::unique_ptr<EnqueuedBarrier> barrier_;
};

/// The same in one graph.
class GraphOfGpus : public EnqueuedWay {
 public:
  GraphOfGpus(const StreamPool& pool, Steps steps,
              std::unique_ptr<EnqueuedBarrier> barrier)
      : EnqueuedWay(pool, std::move(steps), std::move(barrier)),
        star_(devices()) {}

  void prepare(int count) override {
    graphs_.prepare(count, pool().stream(0), [&] { return capture(count); });
  }
  void launch(int count) override { graphs_.launch(count, pool().stream(0)); }

 private:
  // The other streams join the capture of the first, and come back to it.
  Graph capture(int count) {
    const std::vector<cudaStream_t> all = streams();
    return Graph(all[0], [&] {
      star_.fork(all);
      EnqueuedWay::launch(count);
      star_.join(all);
    });
  }

  StarOfEvents star_;
  PreparedGraphs graphs_;
};

/// One multi-device launch a step, which is a barrier between the GPUs, too
/// (study, VI-A).
class MultiDeviceWay : public QueuedWay {
 public:
  using QueuedWay::QueuedWay;

  void prepare(int count) override {
    std::vector<MultiDeviceLaunch>& kinds = of_turns_[pool().turn()];
    steps().for_each(count, [&](int last) {
      for (int kind = static_cast<int>(kinds.size()); kind <= last; ++kind) {
        kinds.emplace_back(steps().kinds[kind], devices(), streams());
      }
    });
  }
  void launch(int count) override {
    std::vector<MultiDeviceLaunch>& kinds = of_turns_.at(pool().turn());
    steps().for_each(count, [&](int kind) {
      api_.check(kinds[kind](), __FILE__, __LINE__);
    });
  }

 private:
  std::map<int, std::vector<MultiDeviceLaunch>> of_turns_;
  AskedApi api_{MultiDeviceLaunch::kApi};
};

/// A thread a GPU: launch, device synchronize, OpenMP barrier (study, Fig. 6).
/// Every step ends in the barrier, so `launched` contains the waits of all
/// steps but the last.
class ThreadWay : public Way {
 public:
  ThreadWay(const StreamPool& pool, const std::vector<Gpu>& gpus, Steps steps)
      : pool_(pool), threads_(gpus), steps_(std::move(steps)) {}

  LaunchTimes run(int count) override {
    HostClock::time_point launched;
    const double total = threads_.run([&](int rank) {
      CallResult result;
      int left = count;
      steps_.for_each(count, [&](int kind) {
        result.note(
            launch_traditional(steps_.kinds[kind][rank], pool_.stream(rank)),
            kTraditionalApi.name);
        if (--left == 0 && rank == 0) launched = HostClock::now();
        wait(result);
      });
      return result;
    });
    return {elapsed_ns(threads_.start(), launched), total};
  }

  double idle_wait_ns() override {
    return threads_.run([](int) {
      CallResult result;
      wait(result);
      return result;
    });
  }

 private:
  static void wait(CallResult& result) {
    result.note(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
#pragma omp barrier
  }

  const StreamPool& pool_;
  GpuThreads threads_;
  Steps steps_;
};

inline std::unique_ptr<Way> make_multi_device(const StreamPool& pool,
                                              const std::vector<Gpu>& gpus,
                                              const Steps& steps) {
  require_cooperative(gpus);
  return std::make_unique<MultiDeviceWay>(pool, steps);
}

inline std::unique_ptr<Way> make_threads(const StreamPool& pool,
                                         const std::vector<Gpu>& gpus,
                                         const Steps& steps) {
  return std::make_unique<ThreadWay>(pool, gpus, steps);
}

/// Enqueued, with this barrier between steps.
template <std::unique_ptr<EnqueuedBarrier> (*kBarrier)(const std::vector<int>&),
          class Made = EnqueuedWay>
std::unique_ptr<Way> make_enqueued(const StreamPool& pool,
                                   const std::vector<Gpu>& gpus,
                                   const Steps& steps) {
  return std::make_unique<Made>(pool, steps, kBarrier(device_numbers(gpus)));
}

}  // namespace syncbench::ways
