// The kinds of launches, each with the wait that ends it (study, IV, VI).
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "common/cuda_resources.hpp"
#include "common/gpu_threads.hpp"
#include "common/graphs.hpp"
#include "common/launch.hpp"
#include "common/timing.hpp"
#include "implicit_barrier/device_graphs.hpp"
#include "implicit_barrier/stream_pool.hpp"

namespace syncbench::implicit_barrier {

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
    prepare(repeats);
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

  /// What a launch of so many needs once, and what may wait for kernels.
  virtual void prepare(int /*repeats*/) {}
  /// As often as `repeats` says, all into the streams of the pool's turn.
  virtual void launch(int repeats) = 0;
  virtual void wait() = 0;

  const StreamPool& pool() const { return pool_; }
  int gpus() const { return gpus_; }

 private:
  const StreamPool& pool_;
  int gpus_;
};

/// So many launches of a kernel.
struct ChainLink {
  KernelCall call;
  int times = 1;
};
/// What is launched, one behind the other, at each repeat.
using KernelChain = std::vector<ChainLink>;

/// Calls visit(link) for all launches of `repeats`. A link has `times`.
template <class Links, class Visitor>
void for_each_launch(Links& links, int repeats, Visitor visit) {
  for (int i = 0; i < repeats; ++i) {
    for (auto& link : links) {
      for (int j = 0; j < link.times; ++j) visit(link);
    }
  }
}

/// One call a kernel on one GPU, then cudaDeviceSynchronize().
class SingleGpuLaunch : public QueuedLaunch {
 public:
  SingleGpuLaunch(const LaunchApi& api, const StreamPool& pool,
                  KernelChain chain)
      : QueuedLaunch(pool, 1), api_(api), chain_(std::move(chain)) {}

  void launch(int repeats) override { launch_into(pool().stream(0), repeats); }
  void wait() override { CUDA_CHECK(cudaDeviceSynchronize()); }

 protected:
  void launch_into(cudaStream_t stream, int repeats) {
    for_each_launch(chain_, repeats, [&](const ChainLink& link) {
      launch_one(link.call, stream);
    });
  }
  void launch_one(const KernelCall& call, cudaStream_t stream) {
    check_cuda(api_.launch(call, stream), api_.name, __FILE__, __LINE__);
  }
  const KernelChain& chain() const { return chain_; }

 private:
  LaunchApi api_;
  KernelChain chain_;
};

/// Every other kernel in another stream of the GPU, each behind an event of the
/// one before.
class EventLaunch : public SingleGpuLaunch {
 public:
  using SingleGpuLaunch::SingleGpuLaunch;

  void launch(int repeats) override {
    int number = 0;
    for_each_launch(chain(), repeats, [&](const ChainLink& link) {
      launch_next(link.call, number++);
    });
  }

 private:
  void launch_next(const KernelCall& call, int number) {
    const cudaStream_t streams[] = {
        pool().stream(0),
        pool().stream(0, (pool().turn() + 1) % StreamPool::kStreams)};
    const int here = number % 2;
    if (number > 0) {
      CUDA_CHECK(
          cudaStreamWaitEvent(streams[here], events_[1 - here].get(), 0));
    }
    launch_one(call, streams[here]);
    CUDA_CHECK(cudaEventRecord(events_[here].get(), streams[here]));
  }

  Event events_[2];
};

/// One launch of a graph of all kernels, one behind the other.
class GraphLaunch : public SingleGpuLaunch {
 public:
  GraphLaunch(const LaunchApi& api, const StreamPool& pool, KernelChain chain)
      : SingleGpuLaunch(api, pool, std::move(chain)),
        capturing_(pool.device(0)) {}

  void prepare(int repeats) override {
    graphs_.prepare(repeats, pool().stream(0),
                    [&] { return capture(repeats); });
  }
  void launch(int repeats) override {
    graphs_.launch(repeats, pool().stream(0));
  }

  /// The graph that `repeats` make.
  Graph capture(int repeats) {
    return Graph(capturing_.get(),
                 [&] { launch_into(capturing_.get(), repeats); });
  }

 private:
  Stream capturing_;
  PreparedGraphs graphs_;
};

/// A launch of a graph of one kernel for each.
class GraphSeamLaunch : public QueuedLaunch {
 public:
  GraphSeamLaunch(const LaunchApi& api, const StreamPool& pool,
                  const KernelChain& chain)
      : QueuedLaunch(pool, 1) {
    for (const auto& [call, times] : chain) {
      graphs_.push_back(
          {std::make_unique<GraphLaunch>(api, pool, KernelChain{{call}}),
           times});
    }
  }

  void prepare(int /*repeats*/) override {
    for (const OneKernel& kernel : graphs_) kernel.graph->prepare(1);
  }
  void launch(int repeats) override {
    for_each_launch(graphs_, repeats,
                    [](OneKernel& kernel) { kernel.graph->launch(1); });
  }
  void wait() override { CUDA_CHECK(cudaDeviceSynchronize()); }

 private:
  struct OneKernel {
    std::unique_ptr<GraphLaunch> graph;
    int times;
  };
  std::vector<OneKernel> graphs_;
};

/// A graph of one kernel, launched once; its kernel launches it again for each
/// further repeat (a tail launch), so nothing queues up behind it.
class DeviceGraphLaunch : public LaunchMethod {
 public:
  DeviceGraphLaunch(const StreamPool& pool, const KernelCall& call)
      : pool_(pool), graph_(device_graph(Stream(pool.device(0)), call)) {
    graph_.upload(pool.stream(0));
    CUDA_CHECK(cudaStreamSynchronize(pool.stream(0)));
  }

  LaunchTimes run(int repeats) override {
    launch_again(repeats - 1);
    const auto start = HostClock::now();
    graph_.launch(pool_.stream(0));
    const auto launched = HostClock::now();
    CUDA_CHECK(cudaDeviceSynchronize());
    const auto end = HostClock::now();
    check_launched_again();
    return {elapsed_ns(start, launched), elapsed_ns(start, end)};
  }

  double idle_wait_ns() override {
    const auto start = HostClock::now();
    CUDA_CHECK(cudaDeviceSynchronize());
    return elapsed_ns(start, HostClock::now());
  }

 private:
  static GraphExec device_graph(const Stream& capturing,
                                const KernelCall& call) {
    return GraphExec(
        Graph(capturing.get(),
              [&] { CUDA_CHECK(launch_traditional(call, capturing.get())); }),
        GraphExec::kLaunchedByKernels);
  }

  const StreamPool& pool_;
  GraphExec graph_;
};

/// One multi-device launch for all GPUs, which is also a barrier between them;
/// then cudaDeviceSynchronize() of each.
class MultiCooperativeLaunch : public QueuedLaunch {
 public:
  MultiCooperativeLaunch(const StreamPool& pool, int gpus,
                         const KernelChain& chain)
      : QueuedLaunch(pool, gpus) {
    std::vector<int> devices;
    for (int gpu = 0; gpu < gpus; ++gpu) devices.push_back(pool.device(gpu));
    for (const auto& [call, times] : chain) {
      links_.push_back({{}, times});
      for (int turn = 0; turn < StreamPool::kStreams; ++turn) {
        std::vector<cudaStream_t> streams;
        for (int gpu = 0; gpu < gpus; ++gpu) {
          streams.push_back(pool.stream(gpu, turn));
        }
        links_.back().launches.emplace_back(std::vector<KernelCall>(gpus, call),
                                            devices, streams);
      }
    }
  }

  void launch(int repeats) override {
    for_each_launch(links_, repeats, [&](Link& link) {
      api_.check(link.launches[pool().turn()](), __FILE__, __LINE__);
    });
  }

  void wait() override {
    for (int gpu = gpus() - 1; gpu >= 0; --gpu) {
      if (gpus() > 1) CUDA_CHECK(cudaSetDevice(pool().device(gpu)));
      CUDA_CHECK(cudaDeviceSynchronize());
    }
  }

 private:
  struct Link {
    std::vector<MultiDeviceLaunch> launches;  // one a turn
    int times;
  };

  std::vector<Link> links_;
  AskedApi api_{MultiDeviceLaunch::kApi};
};

/// Which GPU's kernel of a round is the long one.
enum class Late { kFirst, kInTurn, kAll };

/// The kernels of each GPU.
struct RoundCalls {
  std::vector<KernelCall> late, other;
  Late who = Late::kAll;

  const KernelCall& of(int round, int gpu) const {
    const int gpus = static_cast<int>(late.size());
    const bool is_late =
        who == Late::kAll || gpu == (who == Late::kFirst ? 0 : round % gpus);
    return is_late ? late[gpu] : other[gpu];
  }
};

/// A thread a GPU: launch, device synchronize, OpenMP barrier (study, Fig. 6).
/// Every repeat ends in the barrier, so `launched` contains the waits of all
/// repeats but the last.
class ThreadRounds : public LaunchMethod {
 public:
  ThreadRounds(const StreamPool& pool, const std::vector<Gpu>& gpus,
               RoundCalls calls)
      : pool_(pool), threads_(gpus), calls_(std::move(calls)) {}

  LaunchTimes run(int repeats) override {
    HostClock::time_point launched;
    const double total = threads_.run([&](int rank) {
      CallResult result;
      for (int round = 0; round < repeats; ++round) {
        result.note(
            launch_traditional(calls_.of(round, rank), pool_.stream(rank)),
            "cudaLaunchKernel");
        if (rank == 0 && round == repeats - 1) launched = HostClock::now();
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
  RoundCalls calls_;
};

}  // namespace syncbench::implicit_barrier
