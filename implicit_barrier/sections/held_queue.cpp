// Section `held queue`.
#include "implicit_barrier/sections/held_queue.hpp"

#include <algorithm>
#include <cmath>

#include "implicit_barrier/section.hpp"

namespace syncbench::implicit_barrier {
namespace {

Layout held_layout() {
  return {
      {{"cpu", "Eq. 6 by the CPU; of no spin, one more launch", Said::kWarned},
       {"timer", "the same by %globaltimer in the kernels"},
       {"gap", "last end to next begin, of kernels that note them",
        Said::kMedianOrNone}},
      {work_label("spin of each kernel")},
      "rep"};
}

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
  Point point;
  point.blocks = 1;
  point.threads = 32;
  const UnitCall call(kUnitKernels.null, point, 0, 0);
  ways::StreamWay launch(kTraditionalApi, pool, ways::all_of(call.call()));
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
  // Kept by what takes the samples.
  const auto gate = std::make_shared<Gate>();
  const auto times = std::make_shared<TimesOfKernels>(
      device_numbers(measuring.run.gpus()), kManyLaunches,
      measuring.run.gpu().sm_count);
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
        const auto held =
            std::make_shared<HeldPoint>(at.method, measuring.pool, at.gpus,
                                        point, points.mhz(), *gate, *times);
        return [gate, times, held] { return held->take(); };
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
      held_layout(),
      plan_held,
      print_held};
  section.is_second = true;
  return section;
}

}  // namespace syncbench::implicit_barrier
