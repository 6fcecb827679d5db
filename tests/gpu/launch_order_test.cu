// GPU test: the check of the order of kernels that ImplicitBarrier makes before
// it measures passes every method, and fails the same launches without what
// orders them.
#include <unistd.h>

#include <cstdio>

#include "implicit_barrier/measuring.hpp"
#include "implicit_barrier/steps.hpp"
#include "tests/gpu/gpu_test.hpp"

namespace syncbench::implicit_barrier::launch_order {
namespace {

/// Every other kernel in another stream, behind nothing.
class TwoStreams : public ways::StreamWay {
 public:
  using StreamWay::StreamWay;
  void launch(int repeats) override {
    for (int i = 0; i < repeats; ++i) {
      launch_one(0, pool().stream(0, i % 2));
    }
  }
};

/// A graph of kernels of which none depends on another.
class LooseGraph : public ways::StreamWay {
 public:
  using StreamWay::StreamWay;
  void launch(int repeats) override {
    const KernelCall& call = steps().kinds[0][0];
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

/// Nothing between the steps of several GPUs.
class NoBarrier : public ways::EnqueuedBarrier {
 public:
  void enqueue(const std::vector<cudaStream_t>&) override {}
};

struct Control {
  const char* name;
  const void* kernel;
  ways::Maker make;
};

/// 1 where what a control has seen looks like order.
int judge(const char* name, const LinksSeen& seen) {
  std::printf("%s: %u wrong words, %u to %u kernels of %d: %s\n", name,
              seen.wrong, seen.fewest, seen.most, kLinks,
              seen.in_order() ? "NOT SEEN" : "seen");
  return seen.in_order() ? 1 : 0;
}

int control_one_gpu(Measuring& measuring) {
  const void* no_wait = programmatic_kernels(Trigger::kNoWait).link;
  const Control controls[] = {
      {"two streams without events", unit_kernels().link,
       ways::make_on_one_gpu<TwoStreams, kTraditionalApi>},
      {"a graph without edges", unit_kernels().link,
       ways::make_on_one_gpu<LooseGraph, kTraditionalApi>},
      {"programmatic launch without wait", no_wait,
       ways::make_on_one_gpu<ways::StreamWay, kProgrammaticApi>},
      {"a graph of it", no_wait, ways::make_programmatic_graph}};
  const Gpu& gpu = measuring.run.gpu();
  int failures = 0;
  for (const Control& control : controls) {
    try {
      const LinkCalls links(control.kernel, 1, gpu.sm_count);
      control.make(measuring.pool, {gpu}, links.steps())->run(kLinks);
      failures += judge(control.name, links.seen());
    } catch (const CannotMeasure& error) {
      std::printf("%s: skipped, %s\n", control.name, error.what());
    }
  }
  return failures;
}

int control_gpus(Measuring& measuring) {
  const int gpus = static_cast<int>(measuring.run.gpus().size());
  if (gpus < 2) return 0;
  const LinkCalls links(unit_kernels().link, gpus, 1);
  ways::EnqueuedWay(measuring.pool, links.steps(),
                    std::make_unique<NoBarrier>())
      .run(kLinks);
  return judge("GPUs without a barrier", links.seen());
}

int control_steps(Measuring& measuring) {
  const Gpu& gpu = measuring.run.gpu();
  StepMemory memory(gpu.index, gpu.sm_count, kLinks);
  int failures = 0;
  for (const StepWay& way : unordered_step_ways()) {
    try {
      StepChain(way, {measuring.pool, gpu, memory},
                {gpu.sm_count, 256, kLinks, 0, true, kLinkDelayCycles})
          .run();
      std::printf("%s: NOT SEEN\n", way.name);
      ++failures;
    } catch (const CannotMeasure& error) {
      std::printf("%s: skipped, %s\n", way.name, error.what());
    } catch (const std::runtime_error& error) {
      std::printf("%s: seen, %s\n", way.name, error.what());
    }
  }
  return failures;
}

int run() {
  if (launches_wait_for_kernels()) return kSkipped;
  ProgramInfo info;
  info.name = "launch_order_test";
  info.takes_gpu_count = true;
  Options options;
  options.gpu_count = static_cast<int>(find_gpus().size());
  LineWriter out(STDOUT_FILENO);
  Measuring measuring(info, options, out);
  for (const LaunchMethodInfo& method : launch_methods()) {
    try {
      measuring.prove(method.name);
    } catch (const CannotMeasure& error) {
      std::printf("%s: skipped, %s\n", method.name, error.what());
    }
  }
  std::printf("%zu methods are in order\n", measuring.proved());
  const int failures = control_one_gpu(measuring) + control_gpus(measuring) +
                       control_steps(measuring);
  return failures == 0 ? 0 : 1;
}

[[maybe_unused]] const bool kAdded =
    add_gpu_test("launch_order", [](const Words&) { return run(); });

}  // namespace
}  // namespace syncbench::implicit_barrier::launch_order
