// Section `graphs`: what a graph of kernels costs the GPU, and the host.
#include <cmath>

#include "implicit_barrier/section.hpp"

namespace syncbench {
namespace {

/// Nanoseconds.
struct GraphSample {
  double node, seam;                                ///< of the GPU
  double instantiate, upload, first, call, update;  ///< of the host
};

struct GraphRow : PointRow {
  using Sample = GraphSample;
  using PointRow::PointRow;
  GraphRow(const Point& point, const Measured<Sample>& measured)
      : PointRow(point, measured) {
    const auto of = [&](double Sample::*quantity) {
      return summarize_processes(measured.of(quantity));
    };
    node = of(&Sample::node);
    seam = of(&Sample::seam);
    instantiate = of(&Sample::instantiate);
    upload = of(&Sample::upload);
    first = of(&Sample::first);
    call = of(&Sample::call);
    update = of(&Sample::update);
  }
  Summary node = {}, seam = {}, instantiate = {}, upload = {}, first = {},
          call = {}, update = {};
};

Columns<GraphRow> graph_columns(bool stats) {
  using Row = GraphRow;
  const struct {
    const char *name, *meaning;
    Summary Row::*value;
  } quantities[] = {
      {"node", "one more kernel in the graph", &Row::node},
      {"seam", "from the last kernel of a graph to the first of the next",
       &Row::seam},
      {"inst", "cudaGraphInstantiate", &Row::instantiate},
      {"upload", "cudaGraphUpload and the wait for it", &Row::upload},
      {"first", "the call of a first launch, without upload", &Row::first},
      {"call", "the call of a later launch", &Row::call},
      {"update", "cudaGraphExecUpdate with a graph of the same kernels",
       &Row::update}};
  Columns<Row> columns = shape_columns<Row>();
  for (const auto& [name, meaning, value] : quantities) {
    columns = columns + mean_stddev_columns<Row>(name, "ns", meaning, value);
  }
  if (!stats) return columns;
  columns = columns + count_columns<Row>(&Row::node);
  for (const auto& [name, meaning, value] : quantities) {
    columns = columns + robust_columns<Row>(name, "ns", value);
  }
  return columns + section_clock_column<Row>();
}

/// Graphs of null kernels of one point.
class GraphPoint {
 public:
  GraphPoint(const LaunchMethodInfo& method, const StreamPool& pool,
             const std::vector<Gpu>& gpus, const Point& point)
      : call_(method.kernels->null, point, 0, 0),
        repeats_(point.repeats),
        queue_(method.make_queued(pool, gpus, {{call_.call()}})),
        launch_(dynamic_cast<GraphLaunch&>(*queue_)) {}

  GraphSample take() {
    const cudaStream_t stream = launch_.pool().stream(0);
    GraphSample sample = {};
    const Graph graph = launch_.capture(repeats_);
    auto start = HostClock::now();
    GraphExec uploaded(graph);
    sample.instantiate = since(start);
    start = HostClock::now();
    uploaded.upload(stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    sample.upload = since(start);
    GraphExec exec(graph);
    start = HostClock::now();
    exec.launch(stream);
    sample.first = since(start);
    launch_.wait();
    const double once = total_ns(exec, 1, &sample.call);
    sample.seam = (total_ns(exec, kGraphs, nullptr) - once) / (kGraphs - 1);
    GraphExec one(launch_.capture(1));
    total_ns(one, 1, nullptr);
    const double more = once - total_ns(one, 1, nullptr);
    sample.node = more / (repeats_ - 1);
    sample.seam -= more;
    const Graph same = launch_.capture(repeats_);
    start = HostClock::now();
    exec.update(same);
    sample.update = since(start);
    return sample;
  }

 private:
  static constexpr int kGraphs = 11;  // launched in a row

  static double since(HostClock::time_point start) {
    return elapsed_ns(start, HostClock::now());
  }

  // Of so many launches until their end; of the last call alone.
  double total_ns(GraphExec& exec, int launches, double* call_ns) {
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

  UnitCall call_;
  int repeats_;
  std::unique_ptr<QueuedLaunch> queue_;
  GraphLaunch& launch_;
};

class Graphs : public SectionOf<GraphRow> {
 public:
  explicit Graphs(Printing& printing)
      : SectionOf(printing, "graphs",
                  "null kernels in graphs of so many (rep); node and seam of "
                  "the GPU, by the CPU's clock, all else of the host",
                  graph_columns) {}

 private:
  void plan(Measuring& measuring, PointsInTurn<Sample>& points) override {
    measuring.for_each_point(
        Counts::kOneAndAll, measuring.both_shapes(),
        [&](const LaunchMethodInfo& method, const std::vector<Gpu>& gpus,
            Point point) {
          if (!method.in_graphs) return;
          for (const int nodes : {20, 128, 1000}) {
            point.repeats = nodes;
            points.add(point, [&]() -> PointsInTurn<Sample>::Take {
              const auto graph = std::make_shared<GraphPoint>(
                  method, measuring.pool, gpus, point);
              return [graph] { return graph->take(); };
            });
          }
        });
  }

  void print(const Point& point, const Measured<Sample>& measured) override {
    const GraphRow row(point, measured);
    table().row(row);
    warn_of_interval(row, row.node);
  }

  bool is_second() const override { return true; }
};

[[maybe_unused]] const bool kGraphsAdded = add_section<Graphs>(47);

}  // namespace
}  // namespace syncbench
