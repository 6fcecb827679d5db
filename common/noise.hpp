// Notices numbers that should not be trusted. Pure host code.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/statistics.hpp"
#include "common/table.hpp"

namespace syncbench {

/// Watches the SM clock during a section.
class ClockWatch {
 public:
  /// A section begins at `mhz`.
  void begin(double mhz) { reference_ = mhz; }

  /// What to warn of when the clock is now `mhz`; nothing when it has moved by
  /// no more than 1%. A move is told once: the new clock is then the reference.
  Remark check(double mhz);

 private:
  double reference_ = kNan;
};

/// What to warn of below a row whose 95% interval is more than 10% of its mean
/// to either side; else nothing.
Remark wide_interval(const Summary& summary);

/// Watches the spread of the rows of one method: each against the rows on both
/// sides, hence when all are there.
class SpreadWatch {
 public:
  /// A row; one sample has no spread, and is not watched.
  void add(const std::string& key, const Summary& summary);

  /// What to warn of: the key and a remark of each row whose relative spread is
  /// above 2%, or above 1% and more than 3 times the median of up to 4 rows
  /// before it and 4 after it. Forgets the rows.
  std::vector<std::pair<std::string, Remark>> finish();

 private:
  struct Row {
    std::string key;
    double spread;
  };

  // Median spread of the rows beside row `index`; nan where that is alone.
  double usual_beside(std::size_t index) const;

  std::vector<Row> rows_;
};

}  // namespace syncbench
