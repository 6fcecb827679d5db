// Rows and columns of ImplicitBarrier's tables. The first three sections have
// those of the study's README.
#pragma once

#include <string>

#include "common/table.hpp"
#include "implicit_barrier/measure.hpp"
#include "implicit_barrier/points.hpp"

namespace syncbench {

/// What all rows have.
struct PointRow {
  /// Of a point without samples: what there is to say of it.
  explicit PointRow(const Point& row_point) : point(row_point) {}
  PointRow(const Point& row_point, const Collected& collected)
      : point(row_point),
        repeats(row_point.repeats),
        processes(collected.at("mhz").size()),
        mhz(summarize_processes(collected.at("mhz")).mean) {}

  Point point;
  int repeats = kAny;
  std::size_t processes = 0;
  double mhz = kNan;
};

/// Sections `null kernel` and `workload test`.
struct LaunchRow : PointRow {
  using PointRow::PointRow;
  LaunchRow(const Point& point, const Collected& collected, LaunchSeries of)
      : PointRow(point, collected), series(of) {
    repeats = series.repeats;
  }
  LaunchSeries series = {};
};

/// Sections `sleep kernel` and `sleep instruction`.
struct FusionRow : PointRow {
  using PointRow::PointRow;
  FusionRow(const Point& point, const Collected& collected)
      : PointRow(point, collected),
        result(fusion_result(collected, point.repeats)) {}
  FusionResult result = {};
};

/// Section `held queue`.
struct HeldRow : PointRow {
  using PointRow::PointRow;
  HeldRow(const Point& point, const Collected& collected)
      : PointRow(point, collected),
        cpu(summarize_processes(collected.at("cpu"))),
        timer(summarize_processes(collected.at("timer"))),
        gap(point.work_ns > 0 ? summarize_processes(collected.at("gap"))
                              : Summary()) {}
  Summary cpu = {}, timer = {}, gap = {};
};

/// Section `sleep grid`.
struct GridRow : PointRow {
  using PointRow::PointRow;
  GridRow(const Point& point, const Collected& collected)
      : PointRow(point, collected),
        taken(summarize_processes(collected.at("taken"))) {}
  Summary taken = {};
};

// The columns that say what was launched.
template <class Row>
Columns<Row> shape_columns() {
  return labels<Row>(
      {column<Row>("method", "", "launch method",
                   [](const Row& r) { return r.point.method; }),
       column<Row>("GPUCount", "", "GPUs involved",
                   [](const Row& r) { return r.point.gpus; }),
       column<Row>("rep", "", "launches, or sleeps of one launch",
                   [](const Row& r) { return r.repeats; }),
       column<Row>("blk", "blocks", "grid dimension on each GPU",
                   [](const Row& r) { return r.point.blocks; }),
       column<Row>("thrd", "threads", "block dimension",
                   [](const Row& r) { return r.point.threads; })});
}

template <class Row>
Columns<Row> work_column(const char* meaning) {
  return labels<Row>(
      {column<Row>("idea(wkld)", "ns", meaning,
                   [](const Row& r) { return r.point.work_ns; })});
}

// The first columns of --stats; `get` returns the Summary that n is of.
template <class Row, class Getter>
Columns<Row> count_columns(Getter get) {
  Columns<Row> columns = sample_count_column<Row>(get);
  columns.push_back(column<Row>("processes", "",
                                "processes that the n samples are from",
                                [](const Row& r) { return r.processes; }));
  return columns;
}

template <class Row>
Columns<Row> section_clock_column() {
  return {real_column<Row>(
      "clock", "MHz", "SM clock of GPU 0 after the section, mean of processes",
      [](const Row& r) { return r.mhz; }, 1)};
}

inline Columns<LaunchRow> launch_columns(bool with_workload, bool stats) {
  using Row = LaunchRow;
  const auto total = [](const Row& r) { return r.series.total; };
  const auto additional = [](const Row& r) { return r.series.additional; };
  Columns<Row> columns =
      shape_columns<Row>() +
      mean_stddev_columns<Row>("clk", "ns", "two adjacent CPU clock reads",
                               [](const Row& r) { return r.series.clock; }) +
      mean_stddev_columns<Row>("sync", "ns", "the wait with nothing running",
                               [](const Row& r) { return r.series.wait; }) +
      mean_stddev_columns<Row>("laun", "ns", "start to last launch returned",
                               [](const Row& r) { return r.series.launched; }) +
      mean_stddev_columns<Row>("ttl", "ns", "start to all kernels ended",
                               total) +
      mean_stddev_columns<Row>("avelaun", "ns", "laun / rep",
                               [](const Row& r) {
                                 return per(r.series.launched,
                                            r.series.repeats);
                               }) +
      mean_stddev_columns<Row>("addl", "ns",
                               "one more launch: (ttl_rep - ttl_1) / (rep - 1)",
                               additional);
  if (with_workload) {
    columns = columns + work_column<Row>("spin of each kernel");
  }
  if (!stats) return columns;
  return columns + count_columns<Row>(total) +
         robust_columns<Row>("ttl", "ns", total) +
         robust_columns<Row>("addl", "ns", additional) +
         section_clock_column<Row>();
}

inline Columns<FusionRow> fusion_columns(bool stats) {
  using Row = FusionRow;
  const auto overhead = [](const Row& r) { return r.result.overhead; };
  Columns<Row> columns =
      shape_columns<Row>() + work_column<Row>("the unit, ideally") +
      mean_stddev_columns<Row>("wkld", "ns", "the unit, measured",
                               [](const Row& r) { return r.result.unit; }) +
      mean_stddev_columns<Row>("ovh", "ns", "launch overhead (Eq. 6)",
                               overhead);
  if (!stats) return columns;
  return columns + count_columns<Row>(overhead) +
         robust_columns<Row>("ovh", "ns", overhead) +
         section_clock_column<Row>();
}

inline Columns<HeldRow> held_columns(bool stats) {
  using Row = HeldRow;
  const auto cpu = [](const Row& r) { return r.cpu; };
  const auto timer = [](const Row& r) { return r.timer; };
  const auto gap = [](const Row& r) { return r.gap; };
  Columns<Row> columns =
      shape_columns<Row>() + work_column<Row>("spin of each kernel") +
      mean_stddev_columns<Row>(
          "cpu", "ns", "Eq. 6 by the CPU; of no spin, one more launch", cpu) +
      mean_stddev_columns<Row>(
          "timer", "ns", "the same by %globaltimer in the kernels", timer) +
      mean_stddev_columns<Row>(
          "gap", "ns", "last end to next begin, of kernels that note them",
          gap);
  if (!stats) return columns;
  return columns + count_columns<Row>(cpu) +
         robust_columns<Row>("cpu", "ns", cpu) +
         robust_columns<Row>("timer", "ns", timer) +
         robust_columns<Row>("gap", "ns", gap) + section_clock_column<Row>();
}

inline Columns<GridRow> grid_columns(bool stats) {
  using Row = GridRow;
  const auto taken = [](const Row& r) { return r.taken; };
  Columns<Row> columns =
      shape_columns<Row>() + work_column<Row>("asked of each sleep") +
      mean_stddev_columns<Row>("wkld", "ns", "taken by each sleep", taken);
  if (!stats) return columns;
  return columns + count_columns<Row>(taken) +
         robust_columns<Row>("wkld", "ns", taken) + section_clock_column<Row>();
}

}  // namespace syncbench
