// Sections `null kernel` and `workload test`: series of launches of one kernel,
// and one launch (study, section IX-B).
#include "common/timing.hpp"
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

/// Adds a series to `sample`, in nanoseconds, the names behind `series`: two
/// adjacent clock reads, the wait with nothing running, until the last launch
/// call returned, until all had ended.
void take_series(Sample& sample, const std::string& series, Way& way,
                 int repeats) {
  sample[series + "clock"] = clock_cost_ns();
  sample[series + "wait"] = way.idle_wait_ns();
  const ways::LaunchTimes times = way.run(repeats);
  sample[series + "launched"] = times.launched;
  sample[series + "total"] = times.total;
}

void add(Measuring& measuring, PointsInTurn& points, const LaunchPoint& at,
         UnitKernel kernel, int units, long long cycles) {
  points.add(at.point, [&]() -> Take {
    const KernelCall call =
        unit_call(at.method.kernels->*kernel, at.point, units, cycles);
    const std::shared_ptr<Way> launch = at.method.make(
        measuring.pool, at.gpus, ways::all_of(call, at.point.gpus));
    return [launch, repeats = at.point.repeats] {
      launch->run(kWarmUpLaunches);
      Sample sample;
      take_series(sample, "one_", *launch, 1);
      take_series(sample, "many_", *launch, repeats);
      return sample;
    };
  });
}

void print_launches(Rows& rows, const Point& of, const Measured& measured) {
  const auto print = [&](const std::string& series, int repeats,
                         const Summary& additional) {
    const auto mean = [&](const char* quantity) {
      return summarize_processes(measured.of(series + quantity));
    };
    Point point = of;
    point.repeats = repeats;
    const Summary launched = mean("launched");
    rows.row(point, measured,
             {mean("clock"), mean("wait"), launched, mean("total"),
              per(launched, repeats), additional});
  };
  print("one_", 1, {});
  print("many_", of.repeats,
        difference_of_processes(measured.of("many_total"),
                                measured.of("one_total"), of.repeats - 1));
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
