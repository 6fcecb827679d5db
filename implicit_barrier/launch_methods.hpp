// Every launch method that ImplicitBarrier measures, and every way of several
// GPUs.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/devices.hpp"
#include "common/errors.hpp"
#include "common/sets.hpp"
#include "implicit_barrier/device_graphs.hpp"
#include "implicit_barrier/kernels.hpp"
#include "ways/one_gpu.hpp"
#include "ways/several_gpus.hpp"

namespace syncbench::implicit_barrier {

using ways::StreamPool;
using ways::Way;

/// In which sections a method is: kFew in `null kernel`, `sleep kernel`, `one
/// stream`, `graphs` and `held queue`; kMost in `workload test` and `streams`
/// too; kAll also in `sleep instruction`, as the study's.
enum class Breadth { kFew, kMost, kAll };

/// One entry of the list of methods.
struct LaunchMethodInfo {
  const char* name;
  const char* description;
  bool multi_gpu;
  ways::Maker make;  ///< of a QueuedWay, unless each launch waits
  const UnitKernels* kernels = &unit_kernels();  ///< for sections
  Breadth breadth = Breadth::kFew;
  Set set = Set::kToday;
  bool makes_graphs = false;  ///< GraphWay, for the section `graphs`
  bool waits = false;         ///< each launch for its kernel
  /// From then on the process launches more slowly, so it is not in the
  /// sections before those that use several streams.
  bool slows_process = false;

  LaunchMethodInfo& of(const UnitKernels& k) { return kernels = &k, *this; }
  LaunchMethodInfo& in(Breadth sections) { return breadth = sections, *this; }
  LaunchMethodInfo& of_set(Set other) { return set = other, *this; }
  LaunchMethodInfo& with_graphs() { return makes_graphs = true, *this; }
  LaunchMethodInfo& slowing() { return slows_process = true, *this; }
  LaunchMethodInfo& waiting() { return waits = true, *this; }

  bool queues() const { return !waits; }
};

/// Launches in a domain, which older toolkits do not know.
inline std::unique_ptr<Way> make_remote_domain(const StreamPool& pool,
                                               const std::vector<Gpu>& gpus,
                                               const ways::Steps& steps) {
  if (CUDART_VERSION < 12000) {
    throw CannotMeasure("toolkit",
                        "memory synchronization domains need CUDA 12");
  }
  return ways::make_on_one_gpu<ways::StreamWay, kRemoteDomainApi>(pool, gpus,
                                                                  steps);
}

/// Every launch method that ImplicitBarrier measures, in the order of its rows.
/// A .cu file beside this one adds its own by add_launch_method().
inline std::vector<LaunchMethodInfo>& launch_methods() {
  using namespace ways;
  using Info = LaunchMethodInfo;
  static std::vector<Info> methods = {
      Info{"traditional_launch", "kernel<<<...>>>() on one GPU", false,
           make_on_one_gpu<StreamWay, kTraditionalApi>}
          .in(Breadth::kAll)
          .of_set(Set::kStudy),
      Info{"cooperative_launch", "cudaLaunchCooperativeKernel on one GPU",
           false, make_on_one_gpu<StreamWay, kCooperativeApi>}
          .in(Breadth::kAll)
          .of_set(Set::kStudy)
          .slowing(),
      Info{"multi_cooperative_launch",
           "cuLaunchCooperativeKernelMultiDevice (driver); before CUDA 13 "
           "cudaLaunchCooperativeKernelMultiDevice (runtime)",
           true, make_multi_device}
          .in(Breadth::kAll)
          .of_set(Set::kStudy)
          .slowing(),
      Info{"single_omp_traditional_launch",
           "a thread a GPU: launch, device synchronize, OpenMP barrier", true,
           make_threads}
          .waiting()
          .in(Breadth::kAll)
          .of_set(Set::kStudy)
          .slowing(),
      Info{"graph_launch", "a graph of all the kernels, one after the other",
           false, make_on_one_gpu<GraphWay, kTraditionalApi>}
          .in(Breadth::kMost)
          .with_graphs(),
      Info{"graph_cooperative", "a graph of cooperative kernels", false,
           make_on_one_gpu<GraphWay, kCooperativeApi>}
          .of_set(Set::kEvidence)
          .slowing(),
      Info{"graph_seam", "a launch of a graph of one kernel, each time", false,
           make_on_one_gpu<GraphSeamWay, kTraditionalApi>},
      Info{"programmatic_launch",
           "programmatic launch; each kernel lets the next begin, then waits "
           "for the one before",
           false, make_on_one_gpu<StreamWay, kProgrammaticApi>}
          .of(programmatic_kernels(Trigger::kFirst))
          .in(Breadth::kMost),
      Info{"programmatic_after_wait",
           "the same, but each waits first, then lets the next begin", false,
           make_on_one_gpu<StreamWay, kProgrammaticApi>}
          .of(programmatic_kernels(Trigger::kAfterWait))
          .of_set(Set::kEvidence),
      Info{"programmatic_at_end",
           "the same, but the next begins when it has ended", false,
           make_on_one_gpu<StreamWay, kProgrammaticApi>}
          .of(programmatic_kernels(Trigger::kNever))
          .of_set(Set::kEvidence),
      Info{"graph_programmatic", "a graph of programmatic_launch", false,
           make_programmatic_graph}
          .of(programmatic_kernels(Trigger::kFirst))
          .with_graphs(),
      Info{"device_graph_launch",
           "a graph of one kernel, which launches its graph again", false,
           make_device_graph}
          .waiting()
          .of(relaunching_kernels())
          .slowing(),
      Info{"event_wait",
           "two streams in turn, each kernel after an event of the one before",
           false, make_on_one_gpu<EventWay, kTraditionalApi>}
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

/// A way of several GPUs.
struct GpuWay {
  const char* name;
  const char* description;  ///< empty: that of the launch method of this name
  ways::Maker make;
  bool needs_peers = false;  ///< access of all GPUs to each other's memory
  bool is_one_call = false;  ///< of all steps, however short they are
};

/// Every way that the section `between GPUs` measures, in the order of its
/// rows.
const std::vector<GpuWay>& gpu_ways();

}  // namespace syncbench::implicit_barrier
