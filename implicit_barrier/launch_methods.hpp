// Every launch method that ImplicitBarrier measures.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/devices.hpp"
#include "common/errors.hpp"
#include "common/sets.hpp"
#include "implicit_barrier/kernels.hpp"
#include "implicit_barrier/launch_kinds.hpp"

namespace syncbench::implicit_barrier {

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
  if (code_version(kernel) >= kProgrammaticVersion) return;
  throw CannotMeasure("no-programmatic-launch",
                      "no programmatic launch before compute capability 9.0");
}

/// In which sections a method is: kFew in `null kernel`, `sleep kernel`, `one
/// stream`, `graphs` and `held queue`; kMost in `workload test` and `streams`
/// too; kAll also in `sleep instruction`, as the study's.
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
  Set set = Set::kToday;
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
  LaunchMethodInfo of_set(Set other) const {
    LaunchMethodInfo copy = *this;
    copy.set = other;
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

/// make_waiting of graphs that kernels launch.
inline std::unique_ptr<LaunchMethod> make_device_graph(const StreamPool& pool,
                                                       const std::vector<Gpu>&,
                                                       const KernelCall& call) {
  if (CUDART_VERSION < kDeviceGraphToolkit) {
    throw CannotMeasure("toolkit", "kernels launch graphs from CUDA 12 on");
  }
  return std::make_unique<DeviceGraphLaunch>(pool, call);
}

/// make_queued of launches in a domain, which older toolkits do not know.
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
          .in(Breadth::kAll)
          .of_set(Set::kStudy),
      Info{"cooperative_launch", "cudaLaunchCooperativeKernel on one GPU",
           false, make_single<SingleGpuLaunch, kCooperativeApi>}
          .in(Breadth::kAll)
          .of_set(Set::kStudy)
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
          .of_set(Set::kStudy)
          .slowing(),
      Info{"single_omp_traditional_launch",
           "a thread a GPU: launch, device synchronize, OpenMP barrier", true,
           nullptr,
           [](const StreamPool& pool, const Gpus& gpus,
              const KernelCall& call) -> std::unique_ptr<LaunchMethod> {
             const std::vector<KernelCall> calls(gpus.size(), call);
             return std::make_unique<ThreadRounds>(pool, gpus,
                                                   RoundCalls{calls, calls});
           }}
          .in(Breadth::kAll)
          .of_set(Set::kStudy)
          .slowing(),
      Info{"graph_launch", "a graph of all the kernels, one after the other",
           false, make_single<GraphLaunch, kTraditionalApi>}
          .in(Breadth::kMost)
          .with_graphs(),
      Info{"graph_cooperative", "a graph of cooperative kernels", false,
           make_single<GraphLaunch, kCooperativeApi>}
          .of_set(Set::kEvidence)
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
          .of(programmatic_kernels(Trigger::kAfterWait))
          .of_set(Set::kEvidence),
      Info{"programmatic_at_end",
           "the same, but the next begins when it has ended", false,
           make_single<SingleGpuLaunch, kProgrammaticApi>}
          .of(programmatic_kernels(Trigger::kNever))
          .of_set(Set::kEvidence),
      Info{"graph_programmatic", "a graph of programmatic_launch", false,
           make_programmatic_graph}
          .of(programmatic_kernels(Trigger::kFirst))
          .with_graphs(),
      Info{"device_graph_launch",
           "a graph of one kernel, which launches its graph again", false,
           nullptr, make_device_graph}
          .of(relaunching_kernels())
          .slowing(),
      Info{"event_wait",
           "two streams in turn, each kernel after an event of the one before",
           false, make_single<EventLaunch, kTraditionalApi>}
          .slowing(),
      Info{"remote_domain_launch",
           "in the remote memory synchronization domain", false,
           make_remote_domain}
          .of_set(Set::kEvidence)
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

}  // namespace syncbench::implicit_barrier
