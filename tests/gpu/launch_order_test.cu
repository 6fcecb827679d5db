// GPU test: the check of the order of kernels that ImplicitBarrier makes before
// it measures passes every method, and fails the same launches without what
// orders them.
#include <unistd.h>

#include <cstdio>
#include <functional>

#include "implicit_barrier/order.hpp"
#include "tests/gpu/gpu_test.hpp"

namespace syncbench {
namespace {

/// Every other kernel in another stream, behind nothing.
class TwoStreams : public SingleGpuLaunch {
 public:
  using SingleGpuLaunch::SingleGpuLaunch;
  void launch(int repeats) override {
    for (int i = 0; i < repeats; ++i) {
      launch_one(chain()[0].call, pool().stream(0, i % 2));
    }
  }
};

/// A graph of kernels of which none depends on another.
class LooseGraph : public SingleGpuLaunch {
 public:
  using SingleGpuLaunch::SingleGpuLaunch;
  void launch(int repeats) override {
    const KernelCall& call = chain()[0].call;
    cudaKernelNodeParams node = {};
    node.func = const_cast<void*>(call.kernel);
    node.gridDim = call.grid;
    node.blockDim = call.block;
    node.kernelParams = call.arguments;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    CUDA_CHECK(cudaGraphCreate(&graph, 0));
    for (int i = 0; i < repeats; ++i) {
      cudaGraphNode_t added = nullptr;
      CUDA_CHECK(cudaGraphAddKernelNode(&added, graph, nullptr, 0, &node));
    }
    CUDA_CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    CUDA_CHECK(cudaGraphLaunch(exec, pool().stream(0)));
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaGraphExecDestroy(exec));
    CUDA_CHECK(cudaGraphDestroy(graph));
  }
};

struct Control {
  const char* name;
  const void* kernel;
  LaunchMethodInfo::Make<QueuedLaunch, KernelChain> make;
};

int run() {
  if (launches_wait_for_kernels()) return kSkipped;
  ProgramInfo info;
  info.name = "launch_order_test";
  Options options;
  options.gpu_count = 1;
  LineWriter out(STDOUT_FILENO);
  Measuring measuring(info, options, out);
  std::printf("%d methods are in order\n", prove_order(measuring));
  const void* no_wait = programmatic_kernels(Trigger::kNoWait).link;
  const Control controls[] = {
      {"two streams without events", kUnitKernels.link,
       make_single<TwoStreams, kTraditionalApi>},
      {"a graph without edges", kUnitKernels.link,
       make_single<LooseGraph, kTraditionalApi>},
      {"programmatic launch without wait", no_wait,
       make_single<SingleGpuLaunch, kProgrammaticApi>},
      {"a graph of it", no_wait, make_programmatic_graph}};
  int failures = 0;
  for (const Control& control : controls) {
    try {
      const LinksSeen seen = run_links(
          measuring.run.gpu(), control.kernel, [&](const KernelCall& call) {
            return control.make(measuring.pool, measuring.run.gpus(), {{call}});
          });
      std::printf("%s: %u wrong words, %d to %d kernels of %d: %s\n",
                  control.name, seen.wrong, seen.fewest, seen.largest, kLinks,
                  seen.in_order() ? "NOT SEEN" : "seen");
      failures += seen.in_order();
    } catch (const CannotMeasure& error) {
      std::printf("%s: skipped, %s\n", control.name, error.what());
    }
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace syncbench

int main() { return syncbench::gpu_test_main(syncbench::run); }
