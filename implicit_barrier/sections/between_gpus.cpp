// Section `between GPUs`: what rounds of kernels on several GPUs cost.
#include <algorithm>

#include "common/peer_access.hpp"
#include "implicit_barrier/held_launch.hpp"
#include "implicit_barrier/links.hpp"
#include "implicit_barrier/section.hpp"
#include "ways/flags.hpp"

namespace syncbench::implicit_barrier {
namespace {

/// Which GPU's kernel of a round is the long one.
enum class Late { kFirst, kInTurn, kAll };

ways::Steps rounds_of(const KernelCall& late, const KernelCall& other, int gpus,
                      Late who) {
  if (who == Late::kAll) return ways::all_of(late, gpus);
  ways::Steps steps = {{}, {}};
  for (int late_gpu = 0; late_gpu < (who == Late::kInTurn ? gpus : 1);
       ++late_gpu) {
    steps.order.push_back(late_gpu);
    steps.kinds.emplace_back(gpus, other);
    steps.kinds.back()[late_gpu] = late;
  }
  return steps;
}

/// One way on several GPUs. Nanoseconds a round beyond its work; `held` is NaN
/// of launches that do not queue up.
class RoundPoint {
 public:
  RoundPoint(const GpuWay& way, const StreamPool& pool,
             const std::vector<Gpu>& gpus, const Point& point, double mhz,
             std::shared_ptr<Gate> gate)
      : rounds_(point.repeats), gate_(std::move(gate)) {
    const auto make = [&](int units, Late who) {
      const auto spin = [&](int count) {
        return unit_call(unit_kernels().spin, point, count,
                         cycles_in(point.work_ns, mhz));
      };
      return way.make(pool, gpus,
                      rounds_of(spin(units), spin(0), point.gpus, who));
    };
    late_ = make(1, Late::kFirst);
    turns_ = make(1, Late::kInTurn);
    fused_ = make(rounds_, Late::kFirst);
    equal_ = make(1, Late::kAll);
    all_equal_ = make(rounds_, Late::kAll);
    auto* equal = dynamic_cast<ways::QueuedWay*>(equal_.get());
    auto* all_equal = dynamic_cast<ways::QueuedWay*>(all_equal_.get());
    if (equal == nullptr || all_equal == nullptr) return;
    held_ = std::make_unique<HeldLaunch>(*equal, *gate_);
    held_fused_ = std::make_unique<HeldLaunch>(*all_equal, *gate_);
  }

  Sample take() {
    late_->run(kWarmUpLaunches);
    const double fused = fused_->run(1).total;
    Sample sample;
    sample["late"] = each(late_->run(rounds_).total, fused);
    sample["turns"] = each(turns_->run(rounds_).total, fused);
    sample["held"] = held_ == nullptr ? kNan
                                      : each(held_->run(rounds_).total,
                                             held_fused_->run(1).total);
    return sample;
  }

 private:
  // Eq. 6.
  double each(double separate, double fused) const {
    return (separate - fused) / (rounds_ - 1);
  }

  int rounds_;
  std::shared_ptr<Gate> gate_;
  std::unique_ptr<Way> late_, turns_, fused_, equal_, all_equal_;
  std::unique_ptr<HeldLaunch> held_, held_fused_;
};

// Of the unit, and of shorter work where the CPU's pace does not show.
std::vector<Point> points_of(const GpuWay& way, const Measuring& measuring) {
  std::vector<Point> points;
  const int gpus = static_cast<int>(measuring.run.gpus().size());
  const int unit = unit_ns_of(gpus);
  for (const LaunchShape& shape : measuring.both_shapes()) {
    Point point = {way.name, gpus, kAny, shape.blocks, shape.threads, unit};
    point.repeats = repeats_of(point);
    for (const int part : {16, 4, 1}) {
      if (part > 1 && !way.is_one_call) continue;
      point.work_ns = unit / part;
      points.push_back(point);
    }
  }
  return points;
}

void plan_rounds(Measuring& measuring, PointsInTurn& points) {
  const std::vector<Gpu>& gpus = measuring.run.gpus();
  const auto gate = std::make_shared<Gate>();
  const bool peers = enable_peer_access(device_numbers(gpus));
  for (const GpuWay& way : gpu_ways()) {
    if (!measuring.run.options().wants(way.name, Set::kToday)) continue;
    for (const Point& point : points_of(way, measuring)) {
      points.add(point, [&]() -> Take {
        if (way.needs_peers && !peers) {
          throw CannotMeasure("no-peer-access",
                              "these GPUs lack access to each other's memory");
        }
        if (Measuring::proves()) {
          prove_order(way.name, way.make, unit_kernels().link, measuring.pool,
                      gpus, 1);
        }
        return taker_of<RoundPoint>(way, measuring.pool, gpus, point,
                                    points.mhz(), gate);
      });
    }
  }
}

}  // namespace

const std::vector<GpuWay>& gpu_ways() {
  using namespace ways;
  static const std::vector<GpuWay> all = {
      {"multi_cooperative_launch", "", make_multi_device},
      {"single_omp_traditional_launch", "", make_threads},
      {"events_to_all", "each GPU's stream waits for an event of each other",
       make_enqueued<events_of_all>},
      {"events_of_star",
       "the first GPU's stream waits for all events, the others for its own",
       make_enqueued<events_of_star>},
      {"stream_flags_host",
       "streams write and wait for words in host memory (cuStreamBatchMemOp)",
       make_enqueued<stream_flags_on_host>},
      {"stream_flags_peer", "the same for words in the other GPU's memory",
       make_enqueued<stream_flags_of_peers>, true},
      {"kernel_flags_host",
       "a kernel a GPU writes a word in host memory and polls the others'",
       make_enqueued<kernel_flags>},
      {"graph_of_gpus", "events_to_all, all rounds in one graph",
       make_enqueued<events_of_all, GraphOfGpus>, false, true}};
  return all;
}

Section between_gpus_section() {
  Section section = {
      "between GPUs",
      Set::kToday,
      "rounds of a kernel on each GPU, each round behind the one before",
      {{{"late", "a round beyond its work; the first GPU is always last",
         Said::kWarned},
        {"turns",
         "the same; each GPU is last in turn: from the end there to a begin "
         "elsewhere",
         Said::kWarned},
        {"held", "the same of equal work, all queued behind held streams",
         Said::kMedianOrNone}},
       {work_label("the unit of the late GPU, ideally")}},
      plan_rounds};
  section.exists = [](const std::vector<Gpu>& gpus) { return gpus.size() > 1; };
  return section;
}

}  // namespace syncbench::implicit_barrier
