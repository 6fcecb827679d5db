// Sections `sleep kernel` and `sleep instruction`.
#include "implicit_barrier/sections/fusion.hpp"

#include <cmath>

#include "implicit_barrier/section.hpp"

namespace syncbench::implicit_barrier {
namespace {

Section fusion_section(const char* name, Set set, const char* how) {
  return {name,
          set,
          how,
          {{{"wkld", "the unit, measured", Said::kMean},
            {"ovh", "launch overhead (Eq. 6)", Said::kWarned}},
           {work_label("the unit, ideally")},
           "rep,idea(wkld)"},
          nullptr};
}

/// Units of kernel(units, amount_of(nanoseconds)) by the methods that are
/// wanted(method).
template <class Wanted, class Amount>
void add_all(Measuring& measuring, PointsInTurn& points, Breadth breadth,
             Counts counts, Wanted wanted, UnitKernel kernel,
             Amount amount_of) {
  for (LaunchPoint& at :
       measuring.launch_points(breadth, counts, measuring.both_shapes())) {
    if (!wanted(at.method)) continue;
    at.point.work_ns = unit_ns_of(at.point.gpus);
    choose_lengths(at.method.queues(), at.point);
    points.add(at.point, [&]() -> Take {
      return taker_of<FusionPair>(at.method, measuring.pool, at.gpus, at.point,
                                  kernel, amount_of(at.point.work_ns));
    });
  }
}

bool every_method(const LaunchMethodInfo&) { return true; }

Remark pace_of(const Point& point, const FusionResult& result) {
  if (result.hidden || !find_launch_method(point.method).queues()) return {};
  return {"not-hidden",
          "these launches do not hide behind the unit; m(ovh) is the pace of "
          "the host"};
}

FusionResult print_row(Rows& rows, const Point& point,
                       const Measured& measured) {
  const FusionResult result = fusion_result(measured, point.repeats);
  rows.row(point, measured, {result.unit, result.overhead},
           pace_of(point, result));
  return result;
}

/// Whether sleeps that took `taken_ns` each have ended on the grid of the
/// instruction, where there is one: on the power of two after what was asked.
bool ends_on_grid(double taken_ns) {
  constexpr double kGridNs = 1024;
  static_assert(kSleepNs < kGridNs && kGridNs < 2 * kSleepNs);
  const double off = std::abs(taken_ns / kGridNs - 1);
  return off < 0.03 && off < std::abs(taken_ns / kSleepNs - 1);
}

}  // namespace

/// Before a process has used a second stream, or launched what takes another
/// path: from then on it launches more slowly, in all its streams.
Section one_stream_section() {
  Section section = fusion_section(
      "one stream", Set::kToday,
      "as sleep kernel, in the default stream, before the process uses others");
  section.comes_first = true;
  section.plan = [](Measuring& measuring, PointsInTurn& points) {
    points.launch_into(cudaStreamLegacy);
    add_all(
        measuring, points, Breadth::kFew, Counts::kOneAndAll,
        [](const LaunchMethodInfo& method) { return !method.slows_process; },
        &UnitKernels::spin,
        [&](int unit_ns) { return cycles_in(unit_ns, points.mhz()); });
  };
  section.print = [](Rows& rows, const Point& point, const Measured& measured) {
    print_row(rows, point, measured);
  };
  return section;
}

Section sleep_kernel_section() {
  Section section = fusion_section(
      "sleep kernel", Set::kStudy,
      "kernel fusion of units that spin on the SM clock, each of which hides "
      "launches");
  section.plan = [](Measuring& measuring, PointsInTurn& points) {
    add_all(measuring, points, Breadth::kFew, Counts::kEach, every_method,
            &UnitKernels::spin,
            [&](int unit_ns) { return cycles_in(unit_ns, points.mhz()); });
  };
  section.print = [](Rows& rows, const Point& point, const Measured& measured) {
    rows.printing().spin_overhead[point.key()] =
        print_row(rows, point, measured).overhead;
  };
  return section;
}

Section sleep_instruction_section() {
  Section section =
      fusion_section("sleep instruction", Set::kStudy,
                     "kernel fusion of the study's units, sleeps of 1000 ns");
  section.exists = have_sleep;
  section.plan = [](Measuring& measuring, PointsInTurn& points) {
    add_all(measuring, points, Breadth::kAll, Counts::kOneAndAll, every_method,
            &UnitKernels::sleep,
            [](int unit_ns) { return unit_ns / kSleepNs; });
  };
  section.print = [](Rows& rows, const Point& point, const Measured& measured) {
    const FusionResult result = print_row(rows, point, measured);
    if (!ends_on_grid(kSleepNs * result.unit.mean / point.work_ns)) return;
    const auto& known = rows.printing().spin_overhead;
    const auto spin = known.find(point.key());
    rows.note(point, {"ends-on-grid",
                      "these kernels end on the grid of the sleep" +
                          (spin != known.end()
                               ? "; m(ovh) with units that spin is " +
                                     format_number(spin->second.mean, 0) + " ns"
                               : "")});
  };
  return section;
}

}  // namespace syncbench::implicit_barrier
