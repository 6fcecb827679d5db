// Section `streams`: what a launch costs in the default stream and in others.
#include <algorithm>
#include <cmath>

#include "implicit_barrier/section.hpp"
#include "implicit_barrier/sections/fusion.hpp"

namespace syncbench::implicit_barrier {
namespace {

/// One sample of every stream: of the default one, of that of the thread, then
/// of those of the pool.
struct StreamsSample {
  FusionSample of[2 + StreamPool::kStreams];
};

/// Launches of a sample, few because there are so many streams.
constexpr int kRepeats = 32;

/// Which of these a row is of.
struct StreamKind {
  const char* name;
  int first, count;
};
constexpr StreamKind kStreamKinds[] = {{"default", 0, 1},
                                       {"per_thread", 1, 1},
                                       {"created", 2, StreamPool::kStreams}};

/// Samples of one quantity, those of all streams of a kind together.
ProcessSamples samples_of_kind(const Measured<StreamsSample>& measured,
                               const StreamKind& kind,
                               double FusionSample::*quantity) {
  ProcessSamples values;
  for (const auto& process : measured.samples) {
    values.emplace_back();
    for (int i = kind.first; i < kind.first + kind.count; ++i) {
      for (const StreamsSample& sample : process) {
        values.back().push_back(sample.of[i].*quantity);
      }
    }
  }
  return values;
}

/// As the quantities: of levels, each the median of one stream in one process.
std::vector<Summary> levels_of(const Measured<StreamsSample>& measured,
                               const StreamKind& kind, int steps) {
  std::vector<double> levels, means;
  double variances = 0;
  for (const auto& process : measured.samples) {
    std::vector<double> here;
    for (int i = kind.first; i < kind.first + kind.count; ++i) {
      std::vector<double> totals;
      for (const StreamsSample& sample : process) {
        totals.push_back(sample.of[i].separate - sample.of[i].fused);
      }
      here.push_back(median_of(totals) / steps);
    }
    levels.insert(levels.end(), here.begin(), here.end());
    const Summary of_process = summarize(here);
    variances += of_process.stddev * of_process.stddev;
    means.push_back(of_process.mean);
  }
  return {{*std::min_element(levels.begin(), levels.end())},
          {*std::max_element(levels.begin(), levels.end())},
          {std::sqrt(variances / static_cast<double>(means.size()))},
          {summarize(means).stddev}};
}

Layout streams_layout() {
  return {{{"ovh", "launch overhead (Eq. 6)", Said::kWarned},
           {"min(ovh)", "lowest median of one stream in one process",
            Said::kNumber},
           {"max(ovh)", "highest median of one stream in one process",
            Said::kNumber},
           {"s_stream(ovh)",
            "standard deviation (n - 1) between streams of a process",
            Said::kNumber},
           {"s_process(ovh)",
            "standard deviation (n - 1) between means of processes",
            Said::kNumber}},
          {work_label("the unit, ideally"),
           {"stream", "",
            "default: the first that a process uses; per_thread: "
            "cudaStreamPerThread; created: ten that it makes",
            [](const Point& point) -> Word { return point.stream; }}}};
}

class Streams : public SectionOf<StreamsSample> {
 public:
  explicit Streams(Printing& printing)
      : SectionOf(printing, Set::kEvidence, "streams",
                  "as sleep kernel, in the default stream, in the thread's and "
                  "in ten streams made later",
                  streams_layout()) {}

 private:
  void plan(Measuring& measuring, PointsInTurn<Sample>& points) override {
    StreamPool& pool = measuring.pool;
    measuring.for_each_point(
        Breadth::kMost, Counts::kOneAndAll, measuring.both_shapes(),
        [&](const LaunchMethodInfo& method, const std::vector<Gpu>& gpus,
            Point point) {
          if (method.multi_gpu) return;
          point.work_ns = unit_ns_of(point.gpus);
          point.repeats = kRepeats;
          points.add(point, [&]() -> PointsInTurn<Sample>::Take {
            const auto pair = std::make_shared<FusionPair>(
                method, pool, gpus, point, &UnitKernels::spin,
                cycles_in(point.work_ns, points.mhz()));
            return [pair, &pool] { return sample_each(*pair, pool); };
          });
        });
  }

  static Sample sample_each(FusionPair& pair, StreamPool& pool) {
    Sample sample = {};
    const cudaStream_t given[] = {cudaStreamLegacy, cudaStreamPerThread};
    for (int i = 0; i < 2; ++i) {
      const StreamPool::Given guard(pool, given[i]);
      sample.of[i] = pair.take();
    }
    for (int turn = 0; turn < StreamPool::kStreams; ++turn) {
      pool.turn_to(turn);
      sample.of[2 + turn] = pair.take();
    }
    return sample;
  }

  void print(const Point& of, const Measured<Sample>& measured) override {
    Point point = of;
    for (const StreamKind& kind : kStreamKinds) {
      point.stream = kind.name;
      std::vector<Summary> means = levels_of(measured, kind, of.repeats - 1);
      means.insert(means.begin(),
                   difference_of_processes(
                       samples_of_kind(measured, kind, &FusionSample::separate),
                       samples_of_kind(measured, kind, &FusionSample::fused),
                       of.repeats - 1));
      SectionOf::print(point, measured, means);
    }
  }

  bool is_second() const override { return true; }
};

}  // namespace

Made streams(Printing& printing) { return std::make_unique<Streams>(printing); }

}  // namespace syncbench::implicit_barrier
