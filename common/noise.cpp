#include "common/noise.hpp"

#include <algorithm>
#include <cmath>

namespace syncbench {

Remark ClockWatch::check(double mhz) {
  if (std::abs(mhz / reference_ - 1) <= 0.01) return {};
  const std::string from = format_number(reference_, 0),
                    to = format_number(mhz, 0);
  reference_ = mhz;
  return {"clock from=" + from + " to=" + to,
          "the SM clock moved from " + from + " to " + to +
              " MHz; do not compare cycles and nanoseconds near this line"};
}

bool SlowClock::add(int gpu, double mhz, double full_mhz) {
  if (mhz / full_mhz >= lowest_ / full_) return false;  // not so of the first
  gpu_ = gpu;
  lowest_ = mhz;
  full_ = full_mhz;
  return slow();
}

Remark SlowClock::warning(int attempts) const {
  const std::string mhz = format_number(lowest_, 0),
                    full = format_number(full_, 0);
  return {"slow-clock gpu=" + std::to_string(gpu_) + " mhz=" + mhz +
              " full=" + full + " attempts=" + std::to_string(attempts) +
              " reasons=" + reasons_,
          "the SM clock of GPU " + std::to_string(gpu_) + " was " + mhz +
              " MHz instead of " + full + ", in each of " +
              std::to_string(attempts) +
              " attempts; reasons by the driver: " + reasons_};
}

Remark SlowClock::repeated(int attempt) const {
  const std::string mhz = format_number(lowest_, 0);
  return {"measured-again gpu=" + std::to_string(gpu_) + " mhz=" + mhz +
              " attempt=" + std::to_string(attempt) + " reasons=" + reasons_,
          "this is attempt " + std::to_string(attempt) +
              ": before, the SM clock of GPU " + std::to_string(gpu_) +
              " was " + mhz + " MHz; reasons by the driver: " + reasons_};
}

Remark wide_interval(const Summary& summary) {
  const double share = summary.ci95 / std::abs(summary.mean);
  if (!(share > 0.1)) return {};
  const std::string percent = format_number(100 * share, 0);
  return {"interval percent=" + percent,
          "the 95% interval of this row is " + percent + "% of its mean"};
}

void SpreadWatch::add(const std::string& key, const Summary& summary) {
  const double spread = summary.stddev / std::abs(summary.mean);
  if (std::isfinite(spread)) rows_.push_back({key, spread});
}

std::vector<std::pair<std::string, Remark>> SpreadWatch::finish() {
  constexpr double kMuch = 0.02, kHarmless = 0.01, kFar = 3;
  std::vector<std::pair<std::string, Remark>> warnings;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto& [key, spread] = rows_[i];
    if (spread <= kHarmless) continue;
    const double usual = usual_beside(i);
    if (spread <= kMuch && !(spread > kFar * usual)) continue;
    const std::string percent = format_number(100 * spread, 2);
    warnings.emplace_back(
        key,
        Remark{
            "spread percent=" + percent,
            "the standard deviation of this row is " + percent +
                "% of the mean" + (spread > kMuch ? ", more than 2%" : "") +
                (std::isfinite(usual) ? "; that of its neighbours is " +
                                            format_number(100 * usual, 2) + "%"
                                      : "")});
  }
  rows_.clear();
  return warnings;
}

double SpreadWatch::usual_beside(std::size_t index) const {
  constexpr std::size_t kEachSide = 4;
  std::vector<double> beside;
  const std::size_t first = index - std::min(index, kEachSide);
  const std::size_t end = std::min(index + kEachSide + 1, rows_.size());
  for (std::size_t i = first; i < end; ++i) {
    if (i != index) beside.push_back(rows_[i].spread);
  }
  return beside.empty() ? kNan : median_of(beside);
}

}  // namespace syncbench
