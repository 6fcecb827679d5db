// Graphs of kernels that free themselves. Move-only.
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "common/cuda_resources.hpp"

namespace syncbench {

/// What launch_all() launches into `stream`, as a graph.
class Graph {
 public:
  template <class LaunchAll>
  Graph(cudaStream_t stream, LaunchAll launch_all) {
    CUDA_CHECK(
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    cudaGraph_t graph = nullptr;
    try {
      launch_all();
    } catch (...) {
      // The error of the launch is the one to tell.
      if (cudaStreamEndCapture(stream, &graph) == cudaSuccess) {
        graph_.reset(graph);
      }
      throw;
    }
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    graph_.reset(graph);
  }

  cudaGraph_t get() const { return graph_.get(); }

 private:
  Owned<cudaGraph_t> graph_;
};

/// A graph ready to be launched.
class GraphExec {
 public:
#if CUDART_VERSION >= 12000
  static constexpr unsigned kLaunchedByKernels =
      cudaGraphInstantiateFlagDeviceLaunch;
#else
  static constexpr unsigned kLaunchedByKernels = 0;  // cannot be had
#endif

  explicit GraphExec(const Graph& graph, unsigned flags = 0) {
    cudaGraphExec_t exec = nullptr;
    CUDA_CHECK(cudaGraphInstantiateWithFlags(&exec, graph.get(), flags));
    exec_.reset(exec);
  }

  cudaGraphExec_t get() const { return exec_.get(); }

  void upload(cudaStream_t stream) {
    CUDA_CHECK(cudaGraphUpload(exec_.get(), stream));
  }
  void launch(cudaStream_t stream) {
    CUDA_CHECK(cudaGraphLaunch(exec_.get(), stream));
  }
  /// Takes over what differs in a graph of the same kernels.
  void update(const Graph& graph) {
#if CUDART_VERSION >= 12000
    cudaGraphExecUpdateResultInfo result = {};
    CUDA_CHECK(cudaGraphExecUpdate(exec_.get(), graph.get(), &result));
#else
    cudaGraphNode_t node = nullptr;
    cudaGraphExecUpdateResult result = {};
    CUDA_CHECK(cudaGraphExecUpdate(exec_.get(), graph.get(), &node, &result));
#endif
  }

 private:
  Owned<cudaGraphExec_t> exec_;
};

/// Graphs that differ in what they repeat, each made and uploaded once.
class PreparedGraphs {
 public:
  /// Unless there is one of so many repeats: makes it of capture().
  template <class Capture>
  void prepare(int repeats, cudaStream_t stream, Capture capture) {
    if (by_repeats_.count(repeats) != 0) return;
    GraphExec exec(capture());
    exec.upload(stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    by_repeats_.emplace(repeats, std::move(exec));
  }
  void launch(int repeats, cudaStream_t stream) {
    by_repeats_.at(repeats).launch(stream);
  }

 private:
  std::map<int, GraphExec> by_repeats_;
};

}  // namespace syncbench
