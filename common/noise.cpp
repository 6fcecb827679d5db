#include "common/noise.hpp"

#include <algorithm>
#include <cmath>

#include "common/table.hpp"

namespace syncbench {

std::string ClockWatch::check(double mhz) {
  if (std::abs(mhz / reference_ - 1) <= 0.01) return "";
  std::string text =
      "the SM clock moved from " + format_number(reference_, 0) + " to " +
      format_number(mhz, 0) +
      " MHz; cycles and nanoseconds near this line do not compare";
  reference_ = mhz;
  return text;
}

std::string wide_interval(const Summary& summary) {
  const double share = summary.ci95 / std::abs(summary.mean);
  return share > 0.1 ? "the 95% interval of the row above is " +
                           format_number(100 * share, 0) + "% of its mean"
                     : "";
}

void SpreadWatch::add(const std::string& name, const Summary& summary) {
  const double spread = summary.stddev / std::abs(summary.mean);
  if (std::isfinite(spread)) rows_.push_back({name, spread});
}

std::vector<std::string> SpreadWatch::finish() {
  constexpr double kMuch = 0.02, kHarmless = 0.01, kFar = 3;
  std::vector<std::string> warnings;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto& [name, spread] = rows_[i];
    if (spread <= kHarmless) continue;
    const double usual = usual_beside(i);
    if (spread <= kMuch && !(spread > kFar * usual)) continue;
    warnings.push_back(
        name + ": the spread of this row is " + format_number(100 * spread, 2) +
        "% of the mean" + (spread > kMuch ? ", more than 2%" : "") +
        (std::isfinite(usual)
             ? ", that of its neighbours " + format_number(100 * usual, 2) + "%"
             : ""));
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
