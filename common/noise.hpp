// Notices numbers that should not be trusted. Pure host code.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "common/statistics.hpp"
#include "common/table.hpp"

namespace syncbench {

/// Watches the SM clock during a section.
class ClockWatch {
 public:
  /// A section begins at `mhz`.
  void begin(double mhz) { reference_ = mhz; }

  /// What to warn of when the clock is now `mhz`; empty when it has moved by no
  /// more than 1%. A move is told once: the new clock is then the reference.
  std::string check(double mhz) {
    if (std::abs(mhz / reference_ - 1) <= 0.01) return "";
    std::string text =
        "the SM clock moved from " + format_number(reference_, 0) + " to " +
        format_number(mhz, 0) +
        " MHz; cycles and nanoseconds near this line do not compare";
    reference_ = mhz;
    return text;
  }

 private:
  double reference_ = kNan;
};

/// Watches the spread of the rows of one method: each against the rows on both
/// sides, hence when all are there.
class SpreadWatch {
 public:
  /// A row named `name`; one sample has no spread, and is not watched.
  void add(const std::string& name, const Summary& summary) {
    const double spread = summary.stddev / std::abs(summary.mean);
    if (std::isfinite(spread)) rows_.push_back({name, spread});
  }

  /// What to warn of, a text for each row whose relative spread is above 2%, or
  /// above 1% and more than 3 times the median of up to 4 rows before it and 4
  /// after it. Forgets the rows.
  std::vector<std::string> finish() {
    constexpr double kMuch = 0.02, kHarmless = 0.01, kFar = 3;
    std::vector<std::string> warnings;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto& [name, spread] = rows_[i];
      if (spread <= kHarmless) continue;
      const double usual = usual_beside(i);
      if (spread <= kMuch && !(spread > kFar * usual)) continue;
      warnings.push_back(name + ": the spread of this row is " +
                         format_number(100 * spread, 2) + "% of the mean" +
                         (spread > kMuch ? ", more than 2%" : "") +
                         (std::isfinite(usual)
                              ? ", that of its neighbours " +
                                    format_number(100 * usual, 2) + "%"
                              : ""));
    }
    rows_.clear();
    return warnings;
  }

 private:
  struct Row {
    std::string name;
    double spread;
  };

  // Median spread of the rows beside row `index`; nan where that is alone.
  double usual_beside(std::size_t index) const {
    constexpr std::size_t kEachSide = 4;
    std::vector<double> beside;
    const std::size_t first = index - std::min(index, kEachSide);
    const std::size_t end = std::min(index + kEachSide + 1, rows_.size());
    for (std::size_t i = first; i < end; ++i) {
      if (i != index) beside.push_back(rows_[i].spread);
    }
    return beside.empty() ? kNan : median_of(beside);
  }

  std::vector<Row> rows_;
};

}  // namespace syncbench
