// A section of ImplicitBarrier: in each measuring process it plans its points,
// in the process that prints it makes rows of what all of them have measured.
#pragma once

#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/asked_for.hpp"
#include "common/noise.hpp"
#include "common/process_samples.hpp"
#include "common/table.hpp"
#include "implicit_barrier/measuring.hpp"
#include "implicit_barrier/point.hpp"

namespace syncbench::implicit_barrier {

/// What the sections share where rows are printed.
struct Printing {
  const Options& options;
  LineWriter& out;
  int processes;  ///< that measure
  AskedFor asked = {};
  /// Of kernels that spin.
  std::map<decltype(Point().key()), Summary> spin_overhead = {};
};

/// What a row says of a quantity.
enum class Said {
  kNumber,        ///< one number, a mean of nothing
  kMean,          ///< mean and standard deviation
  kMedian,        ///< with --stats median and interval, too
  kMedianOrNone,  ///< as kMedian; points whose samples are NaN have none
  kWarned,        ///< as kMedian, and a warning where the interval is wide;
                  ///< rows are judged by the first such quantity
};

/// In nanoseconds.
struct Quantity {
  const char *name, *meaning;
  Said said = Said::kMedian;
};

/// A label of a section's rows, beside what was launched.
struct Label {
  const char *header, *unit, *meaning;
  Word (*of)(const Point& point);
};

inline Label work_label(const char* meaning) {
  return {"idea(wkld)", "ns", meaning,
          [](const Point& point) -> Word { return point.work_ns; }};
}

/// Samples of the quantities of a row, and what they are from.
struct Means {
  std::vector<Summary> of;  ///< as Layout::quantities
  std::size_t processes = 0;
  double mhz = kNan;
};

/// The cells of a section's rows.
struct Layout {
  std::vector<Quantity> quantities;
  std::vector<Label> labels = {};
  const char* chosen = "";              ///< as of Row::stats()
  std::vector<Label> last_labels = {};  ///< behind the quantities

  /// Without `means`: what there is to say of the point. n is of the first
  /// quantity that has a median.
  Row row(const Point& point, Means means = {}) const {
    means.of.resize(quantities.size());
    Row row("launch method", point.method);
    row.label("GPUCount", "", "GPUs involved", point.gpus)
        .label("rep", "", "launches", point.repeats)
        .label("blk", "blocks", "grid dimension on each GPU", point.blocks)
        .label("thrd", "threads", "block dimension", point.threads);
    add(row, labels, point);
    std::string main;
    std::vector<std::size_t> medians;
    for (std::size_t i = 0; i < quantities.size(); ++i) {
      const auto& [name, meaning, said] = quantities[i];
      if (said == Said::kNumber) {
        row.real(name, "ns", meaning, means.of[i].mean);
      } else {
        row.mean_stddev(name, "ns", meaning, means.of[i]);
      }
      if (said > Said::kMean) medians.push_back(i);
      if (said == Said::kWarned && main.empty()) main = name;
    }
    add(row, last_labels, point);
    row.stats(main, chosen);
    if (!medians.empty()) row.count(means.of[medians[0]]);
    row.cell("processes", "", "processes that the n samples are from",
             means.processes);
    for (const std::size_t i : medians) {
      row.robust(quantities[i].name, "ns", means.of[i]);
    }
    return row
        .clock(means.mhz,
               "SM clock of GPU 0 after the section, mean of processes")
        .set(point.set);
  }

 private:
  static void add(Row& row, const std::vector<Label>& labels,
                  const Point& point) {
    for (const auto& [header, unit, meaning, of] : labels) {
      row.label(header, unit, meaning, of(point));
    }
  }
};

class Rows;

struct Section {
  const char* name;
  Set set;
  const char* how;  ///< it is measured, for the title
  Layout layout;
  /// Adds the points of the section.
  void (*plan)(Measuring& measuring, PointsInTurn& points);
  /// The rows of a point, and what there is to say of them. Default: one, of
  /// the samples of the section's quantities.
  void (*print)(Rows& rows, const Point& point,
                const Measured& measured) = nullptr;
  /// Measured before all others, as they change the process.
  bool comes_first = false;
  /// A second measurement, where a method may lack rows.
  bool is_second = false;
  /// Whether these GPUs have what it measures. Default: they do.
  bool (*exists)(const std::vector<Gpu>& gpus) = nullptr;
};

/// The rows of a section, in the process that prints.
class Rows {
 public:
  Rows(const Section& section, Printing& printing)
      : section_(section),
        printing_(printing),
        table_(printing.out,
               section.name + std::string(*section.how != '\0' ? ": " : "") +
                   section.how,
               section.layout.row({})) {}

  Printing& printing() { return printing_; }

  /// The record of a process, and whether it is the last one, after which the
  /// point's rows are printed.
  void take(const Record& record, bool last) {
    Measured& measured = measured_[record.point];
    measured.add(record);
    if (!last) return;
    Point point = Point::of(record.point);
    const auto processes = static_cast<int>(measured.samples.size());
    if (processes == 0) {
      if (!section_.is_second) {
        printing_.asked.skipped(point.method, point.shape(),
                                measured.skipped.text);
      }
      point.repeats = kAny;
      table_.skip(key_of(point), measured.skipped);
    } else if (processes != printing_.processes) {
      throw std::runtime_error(
          std::string(section_.name) + ", " + point.shape() +
          ": not measured by all processes: " + measured.skipped.text);
    } else {
      if (section_.print != nullptr) {
        section_.print(*this, point, measured);
      } else {
        row(point, measured, means_of(measured));
      }
      printing_.asked.measured(point.method);
    }
    measured_.erase(record.point);
  }

  /// Of the section's quantities, which the samples have by name.
  std::vector<Summary> means_of(const Measured& measured) const {
    std::vector<Summary> means;
    for (const Quantity& quantity : section_.layout.quantities) {
      const ProcessSamples samples = measured.of(quantity.name);
      const bool none =
          quantity.said == Said::kMedianOrNone && std::isnan(samples[0][0]);
      means.push_back(none ? Summary() : summarize_processes(samples));
    }
    return means;
  }

  /// A row with these means, `remark` on it, and a warning where one is not
  /// known within 10%. Its interval contains what differs between processes.
  void row(const Point& point, const Measured& measured,
           const std::vector<Summary>& means, const Remark& remark = {}) {
    const RowKey key = key_of(point);
    table_.row(section_.layout.row(
        point, {means, measured.samples.size(), summarize(measured.mhz).mean}));
    table_.note(key, remark);
    for (std::size_t i = 0; i < means.size(); ++i) {
      if (section_.layout.quantities[i].said != Said::kWarned) continue;
      table_.annotate(Kind::kWarning, key, wide_interval(means[i]));
    }
  }

  void note(const Point& point, const Remark& remark) {
    table_.note(key_of(point), remark);
  }

 private:
  RowKey key_of(const Point& point) const {
    return section_.layout.row(point).key();
  }

  const Section& section_;
  Printing& printing_;
  Table table_;
  std::map<Labels, Measured> measured_;  // by Record::point
};

}  // namespace syncbench::implicit_barrier
