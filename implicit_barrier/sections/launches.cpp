// Sections `null kernel` and `workload test`.
#include "implicit_barrier/sections/launches.hpp"

#include "implicit_barrier/section.hpp"

namespace syncbench::implicit_barrier {
namespace {

struct LaunchRow : PointRow {
  using Sample = LaunchesSample;
  using PointRow::PointRow;
  LaunchRow(const Point& point, const Measured<Sample>& measured,
            const LaunchSeries& of)
      : PointRow(point, measured), series(of) {
    repeats = series.repeats;
  }
  LaunchSeries series;
};

template <bool kWithWork>
Columns<LaunchRow> launch_columns(bool stats) {
  using Row = LaunchRow;
  const auto of = [](Summary LaunchSeries::*quantity) {
    return [quantity](const Row& row) { return row.series.*quantity; };
  };
  const auto total = of(&LaunchSeries::total);
  const auto additional = of(&LaunchSeries::additional);
  Columns<Row> columns =
      shape_columns<Row>() +
      mean_stddev_columns<Row>("clk", "ns", "two adjacent CPU clock reads",
                               of(&LaunchSeries::clock)) +
      mean_stddev_columns<Row>("sync", "ns", "the wait with nothing running",
                               of(&LaunchSeries::wait)) +
      mean_stddev_columns<Row>("laun", "ns", "start to last launch returned",
                               of(&LaunchSeries::launched)) +
      mean_stddev_columns<Row>("ttl", "ns", "start to all kernels ended",
                               total) +
      mean_stddev_columns<Row>("avelaun", "ns", "laun / rep",
                               [](const Row& row) {
                                 return per(row.series.launched, row.repeats);
                               }) +
      mean_stddev_columns<Row>("addl", "ns",
                               "one more launch: (ttl_rep - ttl_1) / (rep - 1)",
                               additional);
  if (kWithWork) columns = columns + work_column<Row>("spin of each kernel");
  if (!stats) return columns;
  return columns + count_columns<Row>(total) +
         robust_columns<Row>("ttl", "ns", total) +
         robust_columns<Row>("addl", "ns", additional) + last_columns<Row>();
}

class Launches : public SectionOf<LaunchRow> {
 protected:
  using SectionOf::SectionOf;

  static void add(Measuring& measuring, PointsInTurn<Sample>& points,
                  const LaunchMethodInfo& method, const std::vector<Gpu>& gpus,
                  const Point& point, UnitKernel kernel, int units,
                  long long cycles) {
    points.add(point, [&]() -> PointsInTurn<Sample>::Take {
      const auto call = std::make_shared<UnitCall>(method.kernels->*kernel,
                                                   point, units, cycles);
      const std::shared_ptr<LaunchMethod> launch =
          method.make(measuring.pool, gpus, call->call());
      return [launch, call, repeats = point.repeats] {
        return take_launches(*launch, repeats);
      };
    });
  }

  void print(const Point& point, const Measured<Sample>& measured) override {
    table().row({point, measured, one_launch(measured)});
    const LaunchRow many(point, measured,
                         many_launches(measured, point.repeats));
    table().row(many);
    warn_of_interval(many, many.series.additional);
  }
};

class NullKernel : public Launches {
 public:
  explicit NullKernel(Printing& printing)
      : Launches(printing, Set::kStudy, "null kernel", "",
                 launch_columns<false>) {}

 private:
  void plan(Measuring& measuring, PointsInTurn<Sample>& points) override {
    measuring.for_each_point(
        Breadth::kFew, Counts::kEach, measuring.both_shapes(),
        [&](const LaunchMethodInfo& method, const std::vector<Gpu>& gpus,
            const Point& point) {
          add(measuring, points, method, gpus, point, &UnitKernels::null, 0, 0);
        });
  }
};

class WorkloadTest : public Launches {
 public:
  explicit WorkloadTest(Printing& printing)
      : Launches(printing, Set::kStudy, "workload test",
                 "kernels that spin; fewer launches than 128 where they take "
                 "over 1.3 ms",
                 launch_columns<true>) {}

 private:
  void plan(Measuring& measuring, PointsInTurn<Sample>& points) override {
    measuring.for_each_point(
        Breadth::kMost, Counts::kAll, {measuring.filling_shape()},
        [&](const LaunchMethodInfo& method, const std::vector<Gpu>& gpus,
            Point point) {
          for (const int work_ns :
               {0, 2000, 4000, 8000, 16000, 32000, 64000, 128000, 256000}) {
            point.work_ns = work_ns;
            point.repeats = repeats_of(point);
            add(measuring, points, method, gpus, point, &UnitKernels::spin, 1,
                cycles_in(work_ns, points.mhz()));
          }
        });
  }
};

[[maybe_unused]] const bool kLaunchesAdded =
    add_section<NullKernel>(10) && add_section<WorkloadTest>(30);

}  // namespace
}  // namespace syncbench::implicit_barrier
