// The side of ImplicitBarrier that prints: collects the records of all
// measuring processes and writes a row when the last of them has measured it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <stdexcept>
#include <string>

#include "common/asked_for.hpp"
#include "common/noise.hpp"
#include "common/program.hpp"
#include "implicit_barrier/launch_methods.hpp"
#include "implicit_barrier/points.hpp"
#include "implicit_barrier/rows.hpp"

namespace syncbench {

/// The power of two that sleeps of `asked_ns` take, if that is what they do:
/// `taken_ns` within 3% of the next one, and nearer to it than to what was
/// asked for.
inline int grid_of_sleep(int asked_ns, double taken_ns) {
  int grid = 1;
  while (grid < asked_ns) grid *= 2;
  const double off = std::abs(taken_ns / grid - 1);
  return off < 0.03 && off < std::abs(taken_ns / asked_ns - 1) ? grid : 0;
}

class Report {
 public:
  /// Of what so many `processes` measure.
  Report(const ProgramInfo& info, const Options& options, int processes,
         LineWriter& out)
      : name_(info.name),
        options_(options),
        processes_(processes),
        out_(out),
        null_(out, kNullSection, launch_columns(false, options.stats)),
        fusion_(
            out,
            std::string(kFusionSection) +
                ": kernel fusion of units that spin on the SM clock, so "
                "that none ends on the grid of a sleep; each hides launches; "
                "multi-device launches on several GPUs behind 16 others",
            fusion_columns(options.stats)),
        workload_(out,
                  std::string(kWorkloadSection) +
                      ": kernels that spin; fewer launches than 128 where they "
                      "take over 1.3 ms, multi-GPU methods on all GPUs only; "
                      "the first launches of a series, unlike others there, "
                      "are in it",
                  launch_columns(true, options.stats)),
        held_(out,
              std::string(kHeldSection) +
                  ": kernels that wait, all of them, until the last is queued, "
                  "by the CPU and by the GPU's timer; null kernels (0) and the "
                  "units of the sleep kernel section",
              held_columns(options.stats)),
        grid_(out,
              std::string(kGridSection) +
                  ": what sleeps one after the other take, by the SM clock",
              grid_columns(options.stats)),
        sleep_(out,
               std::string(kSleepSection) +
                   ": kernel fusion of the study's units, sleeps of 1000 ns; "
                   "where they have a grid, m(ovh) is no launch overhead",
               fusion_columns(options.stats)) {}

  /// One line of the measuring process `number`.
  void take(int number, const std::string& line) {
    if (line.rfind('#', 0) == 0) return relay(number, line);
    const Record record = parse_record(line);
    const std::string key = record.point.text();
    progress_.show("process " + std::to_string(number + 1) + " of " +
                   std::to_string(processes_) + ": " + record.point.section);
    const bool last = number + 1 == processes_;
    Collected& collected = points_[key];
    if (record.skipped) {
      reasons_[key] = record.skipped.text;
      if (last && collected.empty()) return skip(record);
    } else {
      add_process(record.samples, collected);
    }
    if (!last) return;
    if (collected.at("mhz").size() != static_cast<std::size_t>(processes_)) {
      throw std::runtime_error(
          record.point.section + ", " + record.point.name() +
          ": not measured by all processes: " + reasons_[key]);
    }
    progress_.clear();
    write(record.point, collected);
    asked_.measured(record.point.name());
    points_.erase(key);
  }

  /// To be called when all is measured. Throws when a method that was asked for
  /// by name was not.
  void finish() const { asked_.check(options_.methods); }

 private:
  // Who measures and on what is said by the first process for all.
  void relay(int number, const std::string& line) {
    const bool warning = line.rfind("# warning[", 0) == 0;
    if ((number > 0 && !warning) || !told_.insert(line).second) return;
    progress_.clear();
    out_.line(line);
  }

  template <class Visitor>
  void with_table(const std::string& section, Visitor visit) {
    if (section == kNullSection) return visit(null_);
    if (section == kFusionSection) return visit(fusion_);
    if (section == kWorkloadSection) return visit(workload_);
    if (section == kHeldSection) return visit(held_);
    if (section == kGridSection) return visit(grid_);
    if (section == kSleepSection) return visit(sleep_);
    throw std::invalid_argument("no such section: " + section);
  }

  void skip(const Record& record) {
    if (record.point.section != kHeldSection) {  // a second measurement
      asked_.skipped(record.point.name(), record.skipped.text);
    }
    with_table(record.point.section, [&](auto& table) {
      table.skip(table.key(row_without_samples(table, record.point)),
                 record.skipped);
    });
  }

  void write(const Point& point, const Collected& collected) {
    if (point.section == kNullSection || point.section == kWorkloadSection) {
      auto& table = point.section == kNullSection ? null_ : workload_;
      table.row({point, collected, one_launch(collected)});
      const LaunchRow many(point, collected,
                           many_launches(collected, point.repeats));
      table.row(many);
      return warn_of_spread(table, many, many.series.additional);
    }
    if (point.section == kHeldSection) {
      const HeldRow row(point, collected);
      held_.row(row);
      warn_of_spread(held_, row, row.cpu);
      return compare_with_fusion(row);
    }
    if (point.section == kGridSection) return write_grid(point, collected);
    const FusionRow row(point, collected);
    auto& table = point.section == kFusionSection ? fusion_ : sleep_;
    table.row(row);
    if (!row.result.hidden && queues(point.method)) {
      table.note(table.key(row),
                 {"not-hidden",
                  "these launches do not hide behind the unit; m(ovh) is the "
                  "pace of the host"});
    }
    warn_of_spread(table, row, row.result.overhead);
    if (point.section == kSleepSection) return caution_of_grid(row);
    spin_overhead_[point.name()] = row.result.overhead;
  }

  void write_grid(const Point& point, const Collected& collected) {
    const GridRow row(point, collected);
    grid_.row(row);
    const int grid = grid_of_sleep(point.work_ns, row.taken.mean);
    if (grid == 0) return;
    sleeps_have_grid_ = true;
    grid_.note(grid_.key(row),
               {"sleep-grid ns=" + std::to_string(grid),
                "sleeps of " + std::to_string(point.work_ns) +
                    " ns end every " + std::to_string(grid) + " ns here"});
  }

  void caution_of_grid(const FusionRow& row) {
    if (!sleeps_have_grid_) return;
    const auto spin = spin_overhead_.find(row.point.name());
    sleep_.note(sleep_.key(row),
                {"sleep-grid",
                 "these kernels end on the grid of the sleep" +
                     (spin == spin_overhead_.end()
                          ? ""
                          : "; m(ovh) with units that spin is " +
                                format_number(spin->second.mean, 0) + " ns")});
  }

  // Medians: one stall of the host is 0.1 ms. By timer and by CPU.
  void compare_with_fusion(const HeldRow& row) {
    constexpr double kAgree = 0.05;
    const auto spin = spin_overhead_.find(row.point.name());
    if (row.point.work_ns == 0 || spin == spin_overhead_.end()) return;
    const double off = row.cpu.median / spin->second.median - 1;
    const double timer_off = row.timer.median / spin->second.median - 1;
    if (std::max(std::abs(off), std::abs(timer_off)) <= kAgree) return;
    held_.note(held_.key(row),
               {"differs",
                "med(cpu) and med(timer) are " + format_number(100 * off, 0) +
                    " and " + format_number(100 * timer_off, 0) +
                    "% away from med(ovh) of the same kernels not held"});
  }

  static bool queues(const std::string& method) {
    for (const LaunchMethodInfo& info : launch_methods()) {
      if (info.name == method) return info.queues;
    }
    return false;
  }

  // The interval contains what differs between processes.
  template <class Row>
  void warn_of_spread(Table<Row>& table, const Row& row,
                      const Summary& summary) {
    const Remark wide = wide_interval(summary);
    if (!wide) return;
    const std::string key = table.key(row);
    std::fprintf(stderr, "%s: warning: %s: %s: %s\n", name_.c_str(),
                 row.point.section.c_str(), key.c_str(), wide.text.c_str());
    table.annotate(Kind::kWarning, key, wide);
  }

  template <class Row>
  static Row row_without_samples(const Table<Row>&, const Point& point) {
    return Row(point);
  }

  std::string name_;
  const Options& options_;
  const int processes_;
  LineWriter& out_;
  Table<LaunchRow> null_;
  Table<FusionRow> fusion_;
  Table<LaunchRow> workload_;
  Table<HeldRow> held_;
  Table<GridRow> grid_;
  Table<FusionRow> sleep_;
  Progress progress_;
  std::map<std::string, Collected> points_;
  std::map<std::string, std::string> reasons_;  // why one has no samples
  std::set<std::string> told_;
  AskedFor asked_;
  std::map<std::string, Summary> spin_overhead_;  // by the name of the point
  bool sleeps_have_grid_ = false;
};

}  // namespace syncbench
