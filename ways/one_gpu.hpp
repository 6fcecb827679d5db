// Ways of one GPU, a kernel a step (study, IV).
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "common/cuda_resources.hpp"
#include "common/graphs.hpp"
#include "ways/way.hpp"

namespace syncbench::ways {

/// One call a step, into one stream.
class StreamWay : public QueuedWay {
 public:
  StreamWay(const LaunchApi& api, const StreamPool& pool, Steps steps)
      : QueuedWay(pool, std::move(steps)), api_(api) {}

  void launch(int count) override { launch_into(pool().stream(0), count); }

 protected:
  void launch_into(cudaStream_t stream, int count) const {
    steps().for_each(count, [&](int kind) { launch_one(kind, stream); });
  }
  void launch_one(int kind, cudaStream_t stream) const {
    check_cuda(api_.launch(steps().kinds[kind][0], stream), api_.name, __FILE__,
               __LINE__);
  }

 private:
  LaunchApi api_;
};

/// The host waits for each step.
class WaitedWay : public StreamWay {
 public:
  using StreamWay::StreamWay;

  void launch(int count) override {
    const cudaStream_t stream = pool().stream(0);
    steps().for_each(count, [&](int kind) {
      launch_one(kind, stream);
      CUDA_CHECK(cudaStreamSynchronize(stream));
    });
  }
};

/// Every other step in another stream, each behind an event of the one before.
class EventWay : public StreamWay {
 public:
  using StreamWay::StreamWay;

  void launch(int count) override {
    int number = 0;
    steps().for_each(count, [&](int kind) { launch_next(kind, number++); });
  }

 private:
  void launch_next(int kind, int number) {
    const cudaStream_t streams[] = {pool().stream(0), pool().other_stream(0)};
    const int here = number % 2;
    if (number > 0) {
      CUDA_CHECK(
          cudaStreamWaitEvent(streams[here], events_[1 - here].get(), 0));
    }
    launch_one(kind, streams[here]);
    CUDA_CHECK(cudaEventRecord(events_[here].get(), streams[here]));
  }

  Event events_[2];
};

/// One launch of a graph of all steps, one behind the other.
class GraphWay : public StreamWay {
 public:
  GraphWay(const LaunchApi& api, const StreamPool& pool, Steps steps)
      : StreamWay(api, pool, std::move(steps)), capturing_(pool.device(0)) {}

  void prepare(int count) override {
    graphs_.prepare(count, pool().stream(0), [&] { return capture(count); });
  }
  void launch(int count) override { graphs_.launch(count, pool().stream(0)); }

  /// The graph of so many steps.
  Graph capture(int count) const {
    return Graph(capturing_.get(),
                 [&] { launch_into(capturing_.get(), count); });
  }

 private:
  Stream capturing_;
  PreparedGraphs graphs_;
};

/// A launch of a graph of one kernel for each step.
class GraphSeamWay : public StreamWay {
 public:
  GraphSeamWay(const LaunchApi& api, const StreamPool& pool, Steps steps)
      : StreamWay(api, pool, std::move(steps)) {
    for (const auto& kind : this->steps().kinds) {
      of_kinds_.push_back(
          std::make_unique<GraphWay>(api, pool, all_of(kind[0])));
    }
  }

  void prepare(int /*count*/) override {
    for (const auto& graph : of_kinds_) graph->prepare(1);
  }
  void launch(int count) override {
    steps().for_each(count, [&](int kind) { of_kinds_[kind]->launch(1); });
  }

 private:
  std::vector<std::unique_ptr<GraphWay>> of_kinds_;
};

/// Programmatic launches have to be in the code that a GPU runs.
inline void require_programmatic(const void* kernel) {
  if (code_version(kernel) >= 90) return;
  throw CannotMeasure("no-programmatic-launch",
                      "no programmatic launch before compute capability 9.0");
}

/// Maker of a `Made` that launches by this API.
template <class Made, const LaunchApi& kApi>
std::unique_ptr<Way> make_on_one_gpu(const StreamPool& pool,
                                     const std::vector<Gpu>& gpus,
                                     const Steps& steps) {
  if (&kApi == &kCooperativeApi) require_cooperative(gpus);
  if (&kApi == &kProgrammaticApi)
    require_programmatic(steps.kinds[0][0].kernel);
  return std::make_unique<Made>(kApi, pool, steps);
}

/// Maker of graphs of programmatic launches, which older toolkits cannot
/// capture.
inline std::unique_ptr<Way> make_programmatic_graph(const StreamPool& pool,
                                                    const std::vector<Gpu>&,
                                                    const Steps& steps) {
  require_programmatic(steps.kinds[0][0].kernel);
  if (CUDART_VERSION < 12030) {
    throw CannotMeasure("toolkit",
                        "programmatic launches in graphs need CUDA 12.3");
  }
  return std::make_unique<GraphWay>(kProgrammaticApi, pool, steps);
}

}  // namespace syncbench::ways
