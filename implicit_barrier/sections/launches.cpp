// Sections `null kernel` and `workload test`.
#include "implicit_barrier/sections/launches.hpp"

#include "implicit_barrier/section.hpp"

namespace syncbench::implicit_barrier {
namespace {

Layout launch_layout(std::vector<Label> labels = {}) {
  return {{{"clk", "two adjacent CPU clock reads", Said::kMean},
           {"sync", "the wait with nothing running", Said::kMean},
           {"laun", "start to last launch returned", Said::kMean},
           {"ttl", "start to all kernels ended"},
           {"avelaun", "laun / rep", Said::kMean},
           {"addl", "one more launch: (ttl_rep - ttl_1) / (rep - 1)",
            Said::kWarned}},
          {},
          "",
          std::move(labels)};
}

void add(Measuring& measuring, PointsInTurn& points, const LaunchPoint& at,
         UnitKernel kernel, int units, long long cycles) {
  points.add(at.point, [&]() -> Take {
    const auto call = std::make_shared<UnitCall>(at.method.kernels->*kernel,
                                                 at.point, units, cycles);
    const std::shared_ptr<Way> launch = at.method.make(
        measuring.pool, at.gpus, ways::all_of(call->call(), at.point.gpus));
    return [launch, call, repeats = at.point.repeats] {
      return take_launches(*launch, repeats);
    };
  });
}

void print_launches(Rows& rows, const Point& of, const Measured& measured) {
  Point point = of;
  for (const LaunchSeries& series :
       {one_launch(measured), many_launches(measured, of.repeats)}) {
    point.repeats = series.repeats;
    rows.row(point, measured,
             {series.clock, series.wait, series.launched, series.total,
              per(series.launched, series.repeats), series.additional});
  }
}

void plan_null(Measuring& measuring, PointsInTurn& points) {
  for (const LaunchPoint& at : measuring.launch_points(
           Breadth::kFew, Counts::kEach, measuring.both_shapes())) {
    add(measuring, points, at, &UnitKernels::null, 0, 0);
  }
}

void plan_workload(Measuring& measuring, PointsInTurn& points) {
  for (LaunchPoint& at : measuring.launch_points(Breadth::kMost, Counts::kAll,
                                                 {measuring.filling_shape()})) {
    for (const int work_ns :
         {0, 2000, 4000, 8000, 16000, 32000, 64000, 128000, 256000}) {
      at.point.work_ns = work_ns;
      at.point.repeats = repeats_of(at.point);
      add(measuring, points, at, &UnitKernels::spin, 1,
          cycles_in(work_ns, points.mhz()));
    }
  }
}

}  // namespace

Section null_kernel_section() {
  return {"null kernel",   Set::kStudy, "",
          launch_layout(), plan_null,   print_launches};
}

Section workload_test_section() {
  return {"workload test",
          Set::kStudy,
          "kernels that spin; fewer launches than 128 where they take over 1.3 "
          "ms",
          launch_layout({work_label("spin of each kernel")}),
          plan_workload,
          print_launches};
}

}  // namespace syncbench::implicit_barrier
