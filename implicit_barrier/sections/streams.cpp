// Section `streams`: what a launch costs in the default stream and in others.
#include <algorithm>
#include <cmath>

#include "implicit_barrier/section.hpp"
#include "implicit_barrier/sections/fusion.hpp"

namespace syncbench::implicit_barrier {
namespace {

/// A number of one of the streams: 0 is the default one, 1 that of the thread,
/// then come those of the pool.
std::string of_stream(const std::string& name, int stream) {
  return name + '_' + std::to_string(stream);
}

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
ProcessSamples samples_of_kind(const Measured& measured, const StreamKind& kind,
                               const std::string& quantity) {
  ProcessSamples values;
  for (const auto& process : measured.samples) {
    values.emplace_back();
    for (int i = kind.first; i < kind.first + kind.count; ++i) {
      const std::vector<double>& numbers = process.at(of_stream(quantity, i));
      values.back().insert(values.back().end(), numbers.begin(), numbers.end());
    }
  }
  return values;
}

/// As the quantities: of levels, each the median of one stream in one process.
std::vector<Summary> levels_of(const Measured& measured, const StreamKind& kind,
                               int steps) {
  std::vector<double> levels, means;
  double variances = 0;
  for (const auto& process : measured.samples) {
    std::vector<double> here;
    for (int i = kind.first; i < kind.first + kind.count; ++i) {
      std::vector<double> totals = process.at(of_stream("separate", i));
      const std::vector<double>& fused = process.at(of_stream("fused", i));
      for (std::size_t j = 0; j < totals.size(); ++j) totals[j] -= fused[j];
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

Sample sample_each(FusionPair& pair, StreamPool& pool) {
  Sample sample;
  const auto take = [&](int stream) {
    const Sample here = pair.take();
    for (const char* name : {"separate", "fused"}) {
      sample[of_stream(name, stream)] = here.at(name);
    }
  };
  const cudaStream_t given[] = {cudaStreamLegacy, cudaStreamPerThread};
  for (int i = 0; i < 2; ++i) {
    const StreamPool::Given guard(pool, given[i]);
    take(i);
  }
  for (int turn = 0; turn < StreamPool::kStreams; ++turn) {
    pool.turn_to(turn);
    take(2 + turn);
  }
  return sample;
}

void plan_streams(Measuring& measuring, PointsInTurn& points) {
  StreamPool& pool = measuring.pool;
  for (LaunchPoint& at : measuring.launch_points(
           Breadth::kMost, Counts::kOneAndAll, measuring.both_shapes())) {
    if (at.method.multi_gpu) continue;
    at.point.work_ns = unit_ns_of(at.point.gpus);
    at.point.repeats = kRepeats;
    points.add(at.point, [&]() -> Take {
      const auto pair = std::make_shared<FusionPair>(
          at.method, pool, at.gpus, at.point, &UnitKernels::spin,
          cycles_in(at.point.work_ns, points.mhz()));
      return [pair, &pool] { return sample_each(*pair, pool); };
    });
  }
}

void print_streams(Rows& rows, const Point& of, const Measured& measured) {
  Point point = of;
  for (const StreamKind& kind : kStreamKinds) {
    point.stream = kind.name;
    std::vector<Summary> means = levels_of(measured, kind, of.repeats - 1);
    means.insert(means.begin(),
                 difference_of_processes(
                     samples_of_kind(measured, kind, "separate"),
                     samples_of_kind(measured, kind, "fused"), of.repeats - 1));
    rows.row(point, measured, means);
  }
}

}  // namespace

Section streams_section() {
  Section section = {
      "streams",
      Set::kEvidence,
      "as sleep kernel, in the default stream, in the thread's and in ten "
      "streams made later",
      {{{"ovh", "launch overhead (Eq. 6)", Said::kWarned},
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
         [](const Point& point) -> Word { return point.stream; }}},
       "rep,idea(wkld)"},
      plan_streams,
      print_streams};
  section.is_second = true;
  return section;
}

}  // namespace syncbench::implicit_barrier
