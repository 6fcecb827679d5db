// Section `graphs`: what a graph of kernels costs the GPU, and the host.
#include <algorithm>

#include "implicit_barrier/section.hpp"

namespace syncbench::implicit_barrier {
namespace {

/// How many graphs of so many kernels follow each other; 1: none do.
int graphs_in_a_row(int nodes) {
  constexpr int kMostNodes = 1000;
  return std::max(1, kMostNodes / nodes);
}

/// Graphs of null kernels of one point. Nanoseconds; `seam` is NaN where there
/// are no graphs in a row.
class GraphPoint {
 public:
  GraphPoint(const LaunchMethodInfo& method, const StreamPool& pool,
             const std::vector<Gpu>& gpus, const Point& point)
      : nodes_(point.repeats),
        graphs_(graphs_in_a_row(nodes_)),
        way_(method.make(
            pool, gpus,
            ways::all_of(unit_call(method.kernels->null, point, 0, 0)))),
        launch_(dynamic_cast<ways::GraphWay&>(*way_)),
        one_(launch_.capture(1)),
        all_(launch_.capture(graphs_ * nodes_)) {}

  Sample take() {
    const cudaStream_t stream = launch_.pool().stream(0);
    Sample sample;
    const Graph graph = launch_.capture(nodes_);
    auto start = HostClock::now();
    GraphExec exec(graph);
    sample["inst"] = since(start);
    start = HostClock::now();
    exec.upload(stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    sample["upload"] = since(start);
    start = HostClock::now();
    exec.update(graph);
    sample["update"] = since(start);
    const double once = total_ns(exec, 1, &sample["call"]);
    const double node = (once - total_ns(one_, 1)) / (nodes_ - 1);
    sample["node"] = node;
    // As Eq. 6: so many graphs against one of all their kernels.
    sample["seam"] =
        graphs_ == 1 ? kNan
                     : node + (total_ns(exec, graphs_) - total_ns(all_, 1)) /
                                  (graphs_ - 1);
    GraphExec unused(graph);
    start = HostClock::now();
    unused.launch(stream);
    sample["first"] = since(start);
    launch_.wait();
    return sample;
  }

 private:
  static double since(HostClock::time_point start) {
    return elapsed_ns(start, HostClock::now());
  }

  // Of so many launches until their end, behind one that does not count; of
  // the last call alone.
  double total_ns(GraphExec& exec, int launches, double* call_ns = nullptr) {
    exec.launch(launch_.pool().stream(0));
    launch_.wait();
    const auto start = HostClock::now();
    auto last = start;
    for (int i = 0; i < launches; ++i) {
      last = HostClock::now();
      exec.launch(launch_.pool().stream(0));
    }
    if (call_ns != nullptr) *call_ns = since(last);
    launch_.wait();
    return since(start);
  }

  int nodes_, graphs_;
  std::unique_ptr<Way> way_;
  ways::GraphWay& launch_;
  GraphExec one_, all_;
};

void plan_graphs(Measuring& measuring, PointsInTurn& points) {
  points.launch_into(cudaStreamLegacy);
  for (LaunchPoint& at : measuring.launch_points(
           Breadth::kFew, Counts::kOneAndAll, measuring.both_shapes())) {
    if (!at.method.makes_graphs) continue;
    for (const int nodes : {20, 128, 1000}) {
      at.point.repeats = nodes;
      points.add(at.point, [&]() -> Take {
        return taker_of<GraphPoint>(at.method, measuring.pool, at.gpus,
                                    at.point);
      });
    }
  }
}

}  // namespace

Section graphs_section() {
  Section section = {
      "graphs",
      Set::kToday,
      "null kernels, so many (rep) a graph, in the default stream",
      {{{"node", "one more kernel in the graph", Said::kWarned},
        {"seam", "one more graph, beyond its other kernels",
         Said::kMedianOrNone},
        {"inst", "cudaGraphInstantiate"},
        {"upload", "cudaGraphUpload and the wait for it"},
        {"first", "the call of a first launch, without upload"},
        {"call", "the call of a later launch"},
        {"update", "cudaGraphExecUpdate with a graph of the same kernels"}}},
      plan_graphs};
  section.comes_first = section.is_second = true;
  return section;
}

}  // namespace syncbench::implicit_barrier
