// Section `dependent steps`: what is between two steps that depend on each
// other, by every way.
#include "implicit_barrier/steps.hpp"

#include <algorithm>

#include "implicit_barrier/section.hpp"

namespace syncbench::implicit_barrier {
namespace {

/// Of a chain: fewer of long ones.
constexpr int kMostSteps = 50;
int steps_of(int work_ns) { return work_ns < 5000 ? kMostSteps : 20; }
constexpr int kProved = 1000;  // steps by which a way shows its order

/// One way, shape and work. Nanoseconds a step: all of it, and what is beyond
/// its work.
class StepPoint {
 public:
  StepPoint(const StepWay& way, const StepPlace& place, const Point& point,
            double mhz)
      : gaps_(point.repeats - 1),
        one_launch_(kTraditionalApi, place.pool, spin(point, 1, mhz)),
        all_launch_(kTraditionalApi, place.pool,
                    spin(point, point.repeats, mhz)),
        short_(way, place, shape_of(point, 1, mhz)),
        long_(way, place, shape_of(point, point.repeats, mhz)) {}

  Sample take() {
    one_launch_.run(kWarmUpLaunches);
    const double unit =
        (all_launch_.run(1).total - one_launch_.run(1).total) / gaps_;
    const double once = short_.run();
    const double step = (long_.run() - once) / gaps_;
    return {{"step", step}, {"seam", step - unit}};
  }

 private:
  static ways::Steps spin(const Point& point, int units, double mhz) {
    return ways::all_of(unit_call(unit_kernels().spin, point, units,
                                  cycles_in(point.work_ns, mhz)));
  }
  static StepShape shape_of(const Point& point, int steps, double mhz) {
    return {point.blocks, point.threads, steps, cycles_in(point.work_ns, mhz),
            point.reads != 0};
  }

  int gaps_;
  ways::StreamWay one_launch_, all_launch_;
  StepChain short_, long_;
};

void prove(const StepWay& way, const StepPlace& place,
           const LaunchShape& shape) {
  StepMemory memory(place.gpu.index, shape.blocks, kProved);
  StepChain(way, {place.pool, place.gpu, memory},
            {shape.blocks, shape.threads, kProved, 0, true, kLinkDelayCycles})
      .run();
}

void plan_steps(Measuring& measuring, PointsInTurn& points) {
  const Gpu& gpu = measuring.run.gpu();
  std::vector<LaunchShape> shapes = {{1, 32}, {8, 256}};
  if (gpu.sm_count != shapes.back().blocks) {
    shapes.push_back({gpu.sm_count, 256});
  }
  // Kept by what takes the samples.
  const auto memory = std::make_shared<StepMemory>(
      gpu.index, std::max(gpu.sm_count, shapes[1].blocks), kMostSteps);
  const StepPlace place = {measuring.pool, gpu, *memory};
  for (const StepWay& way : step_ways()) {
    if (!measuring.run.options().wants(way.name, Set::kToday)) continue;
    for (const LaunchShape& shape : shapes) {
      for (const int reads : {1, 0}) {  // in this order: the first proves
        if (reads == 0 && way.only_reads) continue;
        for (const int work_ns : {0, 1000, 5000, 20000}) {
          Point point = {way.name,      1,      steps_of(work_ns), shape.blocks,
                         shape.threads, work_ns};
          point.reads = reads;
          points.add(point, [&]() -> Take {
            if (Measuring::proves() && reads == 1 && work_ns == 0) {
              prove(way, place, shape);
            }
            const auto step =
                std::make_shared<StepPoint>(way, place, point, points.mhz());
            return [memory, step] { return step->take(); };
          });
        }
      }
    }
  }
}

}  // namespace

Section dependent_steps_section() {
  Section section = {
      "dependent steps",
      Set::kToday,
      "a chain of equal steps on one GPU, by launches and in one kernel",
      {{{"step", "one more step", Said::kWarned},
        {"seam",
         "less a step's work in a kernel of all steps that waits for "
         "nothing"}},
       {work_label("spin of each step"),
        {"reads", "words", "that a block reads of another in the step before",
         [](const Point& point) -> Word { return point.reads; }}},
       "rep"},
      plan_steps};
  section.is_second = true;
  return section;
}

}  // namespace syncbench::implicit_barrier
