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

/// Watches the spread of the rows of one section.
class SpreadWatch {
 public:
  void begin() { spreads_.clear(); }

  /// What to warn of after a row with `summary`; empty when its relative spread
  /// is within 1%, or not far above that of the rows before it.
  std::string check(const Summary& summary) {
    constexpr double kHarmless = 0.01, kFar = 5;
    constexpr std::size_t kNeighbours = 8;
    const double spread = summary.stddev / std::abs(summary.mean);
    if (!std::isfinite(spread)) return "";
    const std::size_t count = std::min(spreads_.size(), kNeighbours);
    std::vector<double> neighbours(spreads_.end() - count, spreads_.end());
    spreads_.push_back(spread);
    if (count < 3 || spread <= kHarmless) return "";
    const double usual = median_of(neighbours);
    if (spread <= kFar * usual) return "";
    return "the spread of the row above, " + format_number(100 * spread, 2) +
           "% of the mean, is far from its neighbours', " +
           format_number(100 * usual, 2) + "%";
  }

 private:
  std::vector<double> spreads_;
};

}  // namespace syncbench
