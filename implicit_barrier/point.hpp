// What a row of ImplicitBarrier is of: as a kernel to launch, as text, and in
// the columns that all its tables have.
#pragma once

#include <cmath>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/launch.hpp"
#include "common/process_samples.hpp"
#include "common/table.hpp"

namespace syncbench::implicit_barrier {

/// What was launched.
struct Point {
  std::string method;
  int gpus = 1;
  int repeats = kAny;
  int blocks = 0;         ///< on each GPU
  int threads = 0;        ///< of a block
  int work_ns = 0;        ///< of each kernel
  int lead = 0;           ///< launches in the queue before those that count
  int reads = 0;          ///< words that a block reads of another
  Set set = Set::kStudy;  ///< of its row

  /// What was launched but for its length and work, alike in all sections.
  auto key() const { return std::tuple(method, gpus, blocks, threads); }
  std::string shape() const {
    return method + " on " + std::to_string(gpus) + " GPUs, " +
           std::to_string(blocks) + " x " + std::to_string(threads);
  }

  /// For Record::point.
  std::string text() const {
    std::string text = method;
    for (const int number : {gpus, repeats, blocks, threads, work_ns, lead,
                             reads, static_cast<int>(set)}) {
      text += ' ' + std::to_string(number);
    }
    return text;
  }

  static Point parse(const std::string& text) {
    Point point;
    int set = 0;
    std::istringstream words(text);
    words >> point.method >> point.gpus >> point.repeats >> point.blocks >>
        point.threads >> point.work_ns >> point.lead >> point.reads >> set;
    if (!words) throw std::invalid_argument("not a point: " + text);
    point.set = static_cast<Set>(set);
    return point;
  }
};

/// Cycles of an SM clock of `mhz` in `nanoseconds`.
inline long long cycles_in(double nanoseconds, double mhz) {
  return std::llround(nanoseconds * mhz / 1000);
}

/// A kernel of (units, amount), or of neither, with its arguments, ready to be
/// launched.
class UnitCall {
 public:
  UnitCall(const void* kernel, const Point& point, int units, long long amount)
      : units_(units), amount_(amount) {
    call_.kernel = kernel;
    call_.grid = dim3(point.blocks);
    call_.block = dim3(point.threads);
    call_.arguments = arguments_;
  }
  UnitCall(const UnitCall&) = delete;
  UnitCall& operator=(const UnitCall&) = delete;

  const KernelCall& call() const { return call_; }

 private:
  int units_;
  long long amount_;
  void* arguments_[2] = {&units_, &amount_};
  KernelCall call_;
};

/// A row: a point, and nanoseconds of each quantity of its section.
struct Row : Point {
  /// Without samples: what there is to say of the point.
  explicit Row(const Point& point) : Point(point) {}
  template <class Sample>
  Row(const Point& point, const Measured<Sample>& measured,
      std::vector<Summary> of)
      : Point(point),
        means(std::move(of)),
        processes(measured.samples.size()),
        mhz(summarize(measured.mhz).mean) {}

  std::vector<Summary> means;  ///< as Layout::quantities
  std::string stream;          ///< in the section `streams`
  std::vector<double> levels;  ///< in the section `streams`
  std::size_t processes = 0;
  double mhz = kNan;
};

/// What a row says of a quantity.
enum class Said {
  kMean,          ///< mean and standard deviation
  kMedian,        ///< with --stats median and interval, too
  kMedianOrNone,  ///< as kMedian; points whose samples are NaN have none
  kWarned,        ///< as kMedian, and a warning where the interval is wide
};

struct Quantity {
  const char *name, *meaning;
  Said said = Said::kMedian;
};

/// The columns of a section but those that all have.
struct Layout {
  std::vector<Quantity> quantities;
  Columns<Row> labels = {};  ///< behind those of what was launched
  Columns<Row> more = {};    ///< behind the quantities

  /// n is of the first quantity that has a median.
  Columns<Row> columns(bool stats) const;
};

inline Columns<Row> work_column(const char* meaning) {
  return labels<Row>({column<Row>("idea(wkld)", "ns", meaning, &Row::work_ns)});
}

inline Columns<Row> Layout::columns(bool stats) const {
  Columns<Row> columns = syncbench::labels<Row>(
      {column<Row>("method", "", "launch method", &Row::method),
       column<Row>("GPUCount", "", "GPUs involved", &Row::gpus),
       column<Row>("rep", "", "launches", &Row::repeats),
       column<Row>("blk", "blocks", "grid dimension on each GPU", &Row::blocks),
       column<Row>("thrd", "threads", "block dimension", &Row::threads)});
  columns = columns + labels;
  Columns<Row> counts, medians;
  for (std::size_t i = 0; i < quantities.size(); ++i) {
    const auto& [name, meaning, said] = quantities[i];
    const auto get = [i](const Row& row) { return row.means.at(i); };
    columns = columns + mean_stddev_columns<Row>(name, "ns", meaning, get);
    if (said == Said::kMean) continue;
    if (counts.empty()) counts = sample_count_column<Row>(get);
    medians = medians + robust_columns<Row>(name, "ns", get);
  }
  columns = columns + more;
  if (!stats) return columns;
  return columns + counts +
         Columns<Row>{column<Row>("processes", "",
                                  "processes that the n samples are from",
                                  &Row::processes)} +
         medians +
         Columns<Row>{real_column<Row>(
             "clock", "MHz",
             "SM clock of GPU 0 after the section, mean of processes",
             &Row::mhz, 1)} +
         set_column<Row>();
}

}  // namespace syncbench::implicit_barrier
