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

/// SM clocks of the GPUs that rows use, read after their samples.
class SlowClock {
 public:
  /// GPU `gpu` runs at `mhz`, and could at `full_mhz`. True: it is the slowest
  /// so far, and slow: by more than 2%.
  bool add(int gpu, double mhz, double full_mhz);

  /// Why the clock of the slowest GPU is lowered.
  void explain(const std::string& reasons) { reasons_ = reasons; }

  bool slow() const { return lowest_ < 0.98 * full_; }
  double mhz() const { return lowest_; }  ///< of the slowest GPU

  /// What to warn of below rows of slow clocks after so many attempts.
  Remark warning(int attempts) const;
  /// What to note below rows when the clock was full only at this attempt.
  Remark repeated(int attempt) const;

 private:
  int gpu_ = 0;
  double lowest_ = kNan, full_ = kNan;
  std::string reasons_ = "unknown";
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
