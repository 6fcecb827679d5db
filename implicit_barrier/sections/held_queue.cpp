// Section `held queue`.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "implicit_barrier/held_launch.hpp"
#include "implicit_barrier/section.hpp"
#include "implicit_barrier/sections/fusion.hpp"

namespace syncbench::implicit_barrier {
namespace {

/// What all points share.
struct Clocks {
  explicit Clocks(const std::vector<Gpu>& gpus)
      : times(device_numbers(gpus), kManyLaunches, gpus[0].sm_count) {}

  Gate gate;
  TimesOfKernels times;
};

/// A point: a method whose launches queue up, with the kernels that both clocks
/// need. Nanoseconds. `cpu` and `timer`, by the two clocks: Eq. 6 of spinning
/// kernels, of null ones the cost of one more launch. `gap`: from the end of a
/// kernel that notes it to the begin of the next; NaN of null kernels.
class HeldPoint {
 public:
  /// Kernels that spin for point.work_ns on an SM clock of `mhz`; null kernels
  /// where that is 0.
  HeldPoint(const LaunchMethodInfo& method, const StreamPool& pool,
            const std::vector<Gpu>& gpus, const Point& point, double mhz,
            std::shared_ptr<Clocks> clocks)
      : point_(point),
        clocks_(std::move(clocks)),
        lead_ns_(spins() ? 1e3 * kRecordLeadCycles / mhz : 0) {
    const UnitKernels& kernels = *method.kernels;
    const auto call = [&](const void* kernel, int units) {
      return unit_call(kernel, point, units, cycles_in(point.work_ns, mhz));
    };
    const KernelCall one = call(spins() ? kernels.spin : kernels.null, 1);
    const KernelCall noting_one = call(kernels.noting, 1);
    const auto make = [&](const std::vector<KernelCall>& calls,
                          const std::vector<int>& order = {0}) {
      ways::Steps steps;
      for (const KernelCall& call : calls) {
        steps.kinds.emplace_back(gpus.size(), call);
      }
      steps.order = order;
      return std::make_unique<Queue>(method.make(pool, gpus, steps),
                                     clocks_->gate);
    };
    single_ = make({one});
    fused_ = make({call(kernels.spin, point.repeats)});
    // All spin, one that notes it follows the lead, another the last.
    std::vector<int> order(kernels_between(), 0);
    order[point.lead] = order.back() = 1;
    between_ = make({one, noting_one}, order);
    noting_ = make({noting_one});
    noting_fused_ = make({call(kernels.noting, point.repeats)});
  }

  Sample take() {
    const Sample launches =
        take_separate(single_->held, point_.repeats, point_.lead);
    const double fused =
        spins() ? fused_->held.run(1).total : launches.at("one");
    Sample sample;
    sample["cpu"] = (launches.at("separate") - fused) / (point_.repeats - 1);
    const double period = period_ns();
    sample["timer"] = spins() ? period - unit_ns() : period;
    // unit_ns() comes last: what its kernels noted is still there.
    sample["gap"] = spins() ? read(point_.lead, point_.repeats).gap : kNan;
    return sample;
  }

 private:
  // Launches behind held streams.
  struct Queue {
    Queue(std::unique_ptr<Way> made, Gate& gate)
        : way(std::move(made)),
          held(dynamic_cast<ways::QueuedWay&>(*way), gate) {}

    std::unique_ptr<Way> way;
    HeldLaunch held;
  };

  int kernels_between() const { return point_.lead + point_.repeats + 1; }
  bool spins() const { return point_.work_ns > 0; }

  void note(Queue& kernels, int repeats) {
    clocks_->times.begin();
    kernels.held.run(repeats);
  }
  NotedTimes read(int skipped, int kernels) const {
    return clocks_->times.read(point_.gpus, skipped, kernels, point_.blocks,
                               lead_ns_);
  }

  // Time per kernel. Writing times delays a kernel's end, so only the first of
  // `repeats` and the one after the last do it.
  double period_ns() {
    note(*between_, kernels_between());
    return read(0, 2).period / point_.repeats;
  }

  // Leaves the times of a series of noting kernels in memory.
  double unit_ns() {
    note(*noting_fused_, 1);
    const double all_ns = read(0, 1).length;
    note(*noting_, point_.lead + point_.repeats);
    return (all_ns - read(point_.lead, point_.repeats).length) /
           (point_.repeats - 1);
  }

  Point point_;
  std::shared_ptr<Clocks> clocks_;
  double lead_ns_;
  std::unique_ptr<Queue> single_, fused_, between_, noting_, noting_fused_;
};

/// Of kernels that spin: no host is behind here, so a short series tells as
/// much. Of null kernels one that notes its times is unlike the others.
constexpr int kHeldLaunches = 32;

// Why no stream can be held here, if so. A tool that watches launches may wait
// in each for the kernels before, so for ever.
Remark why_not_hold(const StreamPool& pool) {
  constexpr double kWatchedNs = 1e5;  // far more than a launch and its wait
  if (launches_wait_for_kernels()) {
    return {"launch-blocking", "CUDA_LAUNCH_BLOCKING is set"};
  }
  const KernelCall call = {unit_kernels().null, dim3(1), dim3(32)};
  ways::StreamWay launch(kTraditionalApi, pool, ways::all_of(call));
  double least_ns = launch.run(1).total;
  for (int i = 0; i < 10; ++i) {
    least_ns = std::min(least_ns, launch.run(1).total);
  }
  if (least_ns < kWatchedNs) return {};
  const std::string us = format_number(least_ns / 1000, 0);
  return {"watched us=" + us,
          "a launch takes " + us + " us, as under a tool that watches each"};
}

void plan_held(Measuring& measuring, PointsInTurn& points) {
  const auto clocks = std::make_shared<Clocks>(measuring.run.gpus());
  const Remark reason = why_not_hold(measuring.pool);
  for (LaunchPoint& at : measuring.launch_points(
           Breadth::kFew, Counts::kOneAndAll, measuring.both_shapes())) {
    if (!at.method.queues()) continue;
    Point& point = at.point;
    for (const int work_ns : {0, unit_ns_of(point.gpus)}) {
      if (work_ns == 0 && at.method.breadth < Breadth::kMost) continue;
      point.work_ns = work_ns;
      choose_lengths(at.method.queues(), point);
      if (work_ns > 0) point.repeats = std::min(point.repeats, kHeldLaunches);
      if (reason) {
        points.skip(point, reason);
        continue;
      }
      points.add(point, [&]() -> Take {
        return taker_of<HeldPoint>(at.method, measuring.pool, at.gpus, point,
                                   points.mhz(), clocks);
      });
    }
  }
}

// Medians, for a stall of the host moves a mean. By timer and by CPU.
void compare_with_fusion(Rows& rows, const Point& point, const Summary& cpu,
                         const Summary& timer) {
  constexpr double kAgree = 0.05;
  const auto spin = rows.printing().spin_overhead.find(point.key());
  if (point.work_ns == 0 || spin == rows.printing().spin_overhead.end()) return;
  const double off = cpu.median / spin->second.median - 1;
  const double timer_off = timer.median / spin->second.median - 1;
  if (std::max(std::abs(off), std::abs(timer_off)) <= kAgree) return;
  rows.note(
      point,
      {"differs", "med(cpu) and med(timer) are " + format_number(100 * off, 0) +
                      " and " + format_number(100 * timer_off, 0) +
                      "% away from med(ovh) of the same kernels not held"});
}

void print_held(Rows& rows, const Point& point, const Measured& measured) {
  const std::vector<Summary> means = rows.means_of(measured);
  rows.row(point, measured, means);
  compare_with_fusion(rows, point, means[0], means[1]);
}

}  // namespace

Section held_queue_section() {
  Section section = {
      "held queue",
      Set::kEvidence,
      "kernels that wait until the last is queued, by the CPU and by the GPU's "
      "timer",
      {{{"cpu", "Eq. 6 by the CPU; of no spin, one more launch", Said::kWarned},
        {"timer", "the same by %globaltimer in the kernels"},
        {"gap", "last end to next begin, of kernels that note them",
         Said::kMedianOrNone}},
       {work_label("spin of each kernel")},
       "rep"},
      plan_held,
      print_held};
  section.is_second = true;
  return section;
}

}  // namespace syncbench::implicit_barrier
