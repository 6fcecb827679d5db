// The ways to launch a kernel, each with the wait that ends it (study, IV, VI).
#pragma once

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/devices.hpp"
#include "common/errors.hpp"
#include "common/gpu_threads.hpp"
#include "common/launch.hpp"
#include "common/timing.hpp"
#include "implicit_barrier/graphs.hpp"
#include "implicit_barrier/kernels.hpp"
#include "implicit_barrier/stream_pool.hpp"

namespace syncbench {

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
    for (int i = 0; i < repeats; ++i) {
      for (const ChainLink& link : chain_) {
        for (int j = 0; j < link.times; ++j) launch_one(link.call, stream);
      }
    }
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
    for (int i = 0; i < repeats; ++i) {
      for (const ChainLink& link : chain()) {
        for (int j = 0; j < link.times; ++j) launch_next(link.call, number++);
      }
    }
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
    if (graphs_.count(repeats) != 0) return;
    GraphExec exec(capture(repeats));
    exec.upload(pool().stream(0));
    CUDA_CHECK(cudaStreamSynchronize(pool().stream(0)));
    graphs_.emplace(repeats, std::move(exec));
  }
  void launch(int repeats) override {
    graphs_.at(repeats).launch(pool().stream(0));
  }

  /// The graph that `repeats` make.
  Graph capture(int repeats) {
    return Graph(capturing_.get(),
                 [&] { launch_into(capturing_.get(), repeats); });
  }

 private:
  Stream capturing_;
  std::map<int, GraphExec> graphs_;  // by their repeats
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
    for (int i = 0; i < repeats; ++i) {
      for (const auto& [graph, times] : graphs_) {
        for (int j = 0; j < times; ++j) graph->launch(1);
      }
    }
  }
  void wait() override { CUDA_CHECK(cudaDeviceSynchronize()); }

 private:
  struct OneKernel {
    std::unique_ptr<GraphLaunch> graph;
    int times;
  };
  std::vector<OneKernel> graphs_;
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
    for (int i = 0; i < repeats; ++i) {
      for (Link& link : links_) {
        for (int j = 0; j < link.times; ++j) launch_one(link);
      }
    }
  }

  void wait() override {
    for (int gpu = 0; gpu < gpus(); ++gpu) {
      CUDA_CHECK(cudaSetDevice(pool().device(gpu)));
      CUDA_CHECK(cudaDeviceSynchronize());
    }
    CUDA_CHECK(cudaSetDevice(pool().device(0)));
  }

 private:
  struct Link {
    std::vector<MultiDeviceLaunch> launches;  // one a turn
    int times;
  };

  void launch_one(Link& link) {
    const auto check = works_ ? check_cuda : check_asked;
    check(link.launches[pool().turn()](), MultiDeviceLaunch::kApi, __FILE__,
          __LINE__);
    works_ = true;
  }

  std::vector<Link> links_;
  bool works_ = false;  // the first launch asks whether these GPUs have it
};

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

/// Programmatic launches have to be in the code that a GPU runs.
inline void require_programmatic(const void* kernel) {
  cudaFuncAttributes attributes = {};
  CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
  if (attributes.ptxVersion >= kProgrammaticVersion) return;
  throw CannotMeasure("no-programmatic-launch",
                      "no programmatic launch before compute capability 9.0");
}

/// In which sections a method is: in `null kernel`, `sleep kernel` and `held
/// queue`; in `workload test` and `streams` too; in all of them, as the
/// study's.
enum class Breadth { kFew, kMost, kAll };

/// One entry of the list of methods.
struct LaunchMethodInfo {
  template <class Made, class What>
  using Make = std::unique_ptr<Made> (*)(const StreamPool&,
                                         const std::vector<Gpu>&, const What&);
  const char* name;
  const char* description;
  bool multi_gpu;
  /// Makes a launch on the given GPUs, the first of the pool. A QueuedLaunch if
  /// launches queue up; another one waits for each kernel.
  Make<QueuedLaunch, KernelChain> make_queued;
  Make<LaunchMethod, KernelCall> make_waiting = nullptr;
  const UnitKernels* kernels = &kUnitKernels;  ///< that sections launch with it
  Breadth breadth = Breadth::kFew;
  bool makes_graphs = false;  ///< GraphLaunch, for the section `graphs`
  /// From then on the process launches more slowly, so it is not in the
  /// sections before those that use several streams.
  bool slows_process = false;

  LaunchMethodInfo of(const UnitKernels& own) const {
    LaunchMethodInfo copy = *this;
    copy.kernels = &own;
    return copy;
  }
  LaunchMethodInfo in(Breadth sections) const {
    LaunchMethodInfo copy = *this;
    copy.breadth = sections;
    return copy;
  }
  LaunchMethodInfo with_graphs() const {
    LaunchMethodInfo copy = *this;
    copy.makes_graphs = true;
    return copy;
  }
  LaunchMethodInfo slowing() const {
    LaunchMethodInfo copy = *this;
    copy.slows_process = true;
    return copy;
  }

  bool queues() const { return make_queued != nullptr; }
  std::unique_ptr<LaunchMethod> make(const StreamPool& pool,
                                     const std::vector<Gpu>& gpus,
                                     const KernelCall& call) const {
    if (queues()) return make_queued(pool, gpus, {{call}});
    return make_waiting(pool, gpus, call);
  }
};

/// make_queued of a `Made` that launches by this API.
template <class Made, const LaunchApi& kApi>
std::unique_ptr<QueuedLaunch> make_single(const StreamPool& pool,
                                          const std::vector<Gpu>& gpus,
                                          const KernelChain& chain) {
  if (&kApi == &kCooperativeApi) require_cooperative(gpus);
  if (&kApi == &kProgrammaticApi) require_programmatic(chain[0].call.kernel);
  return std::make_unique<Made>(kApi, pool, chain);
}

/// The same of graphs of programmatic launches, which older toolkits cannot
/// capture.
inline std::unique_ptr<QueuedLaunch> make_programmatic_graph(
    const StreamPool& pool, const std::vector<Gpu>& gpus,
    const KernelChain& chain) {
  if (CUDART_VERSION < 12030) {
    throw CannotMeasure("toolkit",
                        "programmatic launches in graphs need CUDA 12.3");
  }
  return make_single<GraphLaunch, kProgrammaticApi>(pool, gpus, chain);
}

/// The same of launches in a domain, which older toolkits do not know.
inline std::unique_ptr<QueuedLaunch> make_remote_domain(
    const StreamPool& pool, const std::vector<Gpu>& gpus,
    const KernelChain& chain) {
  if (CUDART_VERSION < 12000) {
    throw CannotMeasure("toolkit",
                        "memory synchronization domains need CUDA 12");
  }
  return make_single<SingleGpuLaunch, kRemoteDomainApi>(pool, gpus, chain);
}

/// Every launch method that ImplicitBarrier measures, in the order of its rows.
/// A .cu file beside this one adds its own by add_launch_method().
inline std::vector<LaunchMethodInfo>& launch_methods() {
  using Gpus = std::vector<Gpu>;
  using Info = LaunchMethodInfo;
  static std::vector<Info> methods = {
      Info{"traditional_launch", "kernel<<<...>>>() on one GPU", false,
           make_single<SingleGpuLaunch, kTraditionalApi>}
          .in(Breadth::kAll),
      Info{"cooperative_launch", "cudaLaunchCooperativeKernel on one GPU",
           false, make_single<SingleGpuLaunch, kCooperativeApi>}
          .in(Breadth::kAll)
          .slowing(),
      Info{"multi_cooperative_launch",
           "cuLaunchCooperativeKernelMultiDevice (driver); before CUDA 13 "
           "cudaLaunchCooperativeKernelMultiDevice (runtime)",
           true,
           [](const StreamPool& pool, const Gpus& gpus,
              const KernelChain& chain) -> std::unique_ptr<QueuedLaunch> {
             require_cooperative(gpus);
             return std::make_unique<MultiCooperativeLaunch>(
                 pool, static_cast<int>(gpus.size()), chain);
           }}
          .in(Breadth::kAll)
          .slowing(),
      Info{"single_omp_traditional_launch",
           "a thread a GPU: launch, device synchronize, OpenMP barrier", true,
           nullptr,
           [](const StreamPool& pool, const Gpus& gpus,
              const KernelCall& call) -> std::unique_ptr<LaunchMethod> {
             return std::make_unique<OmpTraditionalLaunch>(pool, gpus, call);
           }}
          .in(Breadth::kAll)
          .slowing(),
      Info{"graph_launch", "a graph of all the kernels, one behind the other",
           false, make_single<GraphLaunch, kTraditionalApi>}
          .in(Breadth::kMost)
          .with_graphs(),
      Info{"graph_cooperative", "a graph of cooperative kernels", false,
           make_single<GraphLaunch, kCooperativeApi>}
          .slowing(),
      Info{"graph_seam", "a launch of a graph of one kernel, each time", false,
           make_single<GraphSeamLaunch, kTraditionalApi>},
      Info{"programmatic_launch",
           "programmatic launch; each kernel lets the next begin, then waits "
           "for the one before",
           false, make_single<SingleGpuLaunch, kProgrammaticApi>}
          .of(programmatic_kernels(Trigger::kFirst))
          .in(Breadth::kMost),
      Info{"programmatic_after_wait",
           "the same, but each waits first, then lets the next begin", false,
           make_single<SingleGpuLaunch, kProgrammaticApi>}
          .of(programmatic_kernels(Trigger::kAfterWait)),
      Info{"programmatic_at_end",
           "the same, but the next begins when it has ended", false,
           make_single<SingleGpuLaunch, kProgrammaticApi>}
          .of(programmatic_kernels(Trigger::kNever)),
      Info{"graph_programmatic", "a graph of programmatic_launch", false,
           make_programmatic_graph}
          .of(programmatic_kernels(Trigger::kFirst))
          .with_graphs(),
      Info{"event_wait",
           "two streams in turn, each kernel behind an event of the one before",
           false, make_single<EventLaunch, kTraditionalApi>}
          .slowing(),
      Info{"remote_domain_launch",
           "in the remote memory synchronization domain", false,
           make_remote_domain}
          .slowing()};
  return methods;
}

/// Adds a method; the result is of no use but to initialize a constant.
inline bool add_launch_method(const LaunchMethodInfo& method) {
  launch_methods().push_back(method);
  return true;
}

/// std::out_of_range where there is none of this name.
inline const LaunchMethodInfo& find_launch_method(const std::string& name) {
  for (const LaunchMethodInfo& method : launch_methods()) {
    if (method.name == name) return method;
  }
  throw std::out_of_range(name);
}

}  // namespace syncbench
