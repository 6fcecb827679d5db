// Mean, spread and interval of samples, and the study's difference of two
// lengths. Host code only; the unit of a result is the unit of its samples.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <vector>

namespace syncbench {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// What a row says about one quantity. All samples count: none is dropped.
struct Summary {
  double mean = kNan;
  double stddev = kNan;  ///< sample standard deviation (n - 1); nan for n = 1
  double median = kNan;
  double ci95 = kNan;  ///< half width of the 95% interval of the mean
  std::size_t count = 0;
};

/// 97.5% quantile of Student's t distribution for `freedom` >= 1 degrees of
/// freedom; within 0.1% (Cornish-Fisher expansion, Abramowitz & Stegun 26.7.5).
inline double student_t_975(double freedom) {
  if (!(freedom >= 1)) return kNan;
  static constexpr double kSmall[] = {12.7062, 4.3027, 3.1824, 2.7764};
  // Rounding the freedom down widens the interval, never narrows it.
  if (freedom < 5) return kSmall[static_cast<int>(freedom) - 1];
  const double z = 1.959963985, z2 = z * z, v = freedom;
  return z * (1 + (z2 + 1) / (4 * v) + ((5 * z2 + 16) * z2 + 3) / (96 * v * v) +
              (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * v * v * v) +
              ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) /
                  (92160 * v * v * v * v));
}

/// Median of `samples`, which are reordered.
inline double median_of(std::vector<double>& samples) {
  const auto middle = samples.begin() + samples.size() / 2;
  std::nth_element(samples.begin(), middle, samples.end());
  if (samples.size() % 2 == 1) return *middle;
  return (*std::max_element(samples.begin(), middle) + *middle) / 2;
}

/// Summary of at least one finite sample; anything else is an error, because a
/// failed measurement must not become a number.
inline Summary summarize(std::vector<double> samples) {
  if (samples.empty()) throw std::invalid_argument("no samples to summarize");
  for (const double sample : samples) {
    if (!std::isfinite(sample)) {
      throw std::invalid_argument("a sample is not a finite number");
    }
  }
  Summary result;
  result.count = samples.size();
  // Deviations from the first sample: a huge common offset costs no digits.
  const double offset = samples.front();
  const double n = static_cast<double>(samples.size());
  double shift = 0;
  for (const double sample : samples) shift += (sample - offset) / n;
  double squares = 0;
  for (const double sample : samples) {
    const double deviation = (sample - offset) - shift;
    squares += deviation * deviation;
  }
  result.mean = offset + shift;
  if (samples.size() > 1) {
    result.stddev = std::sqrt(squares / (n - 1));
    result.ci95 = student_t_975(n - 1) * result.stddev / std::sqrt(n);
  }
  result.median = median_of(samples);
  return result;
}

/// The same quantity divided by `divisor` > 0 (a total shared by repeats).
inline Summary per(Summary total, double divisor) {
  total.mean /= divisor;
  total.stddev /= divisor;
  total.median /= divisor;
  total.ci95 /= divisor;
  return total;
}

/// Cost of one of `steps` > 0 additional steps from two independently sampled
/// totals: mean (L1 - L2) / steps (Eq. 6, 7), standard deviation
/// sqrt(s1^2 + s2^2) / steps (Eq. 8), interval by Welch's approximation.
inline Summary difference(const Summary& longer, const Summary& shorter,
                          double steps) {
  Summary result;
  result.count = std::min(longer.count, shorter.count);
  result.mean = (longer.mean - shorter.mean) / steps;
  result.median = (longer.median - shorter.median) / steps;
  result.stddev = std::hypot(longer.stddev, shorter.stddev) / steps;
  const auto n1 = static_cast<double>(longer.count);
  const auto n2 = static_cast<double>(shorter.count);
  const double variance1 = longer.stddev * longer.stddev / n1;
  const double variance2 = shorter.stddev * shorter.stddev / n2;
  const double variance = variance1 + variance2;
  if (variance == 0) {
    result.ci95 = 0;
    return result;
  }
  const double freedom =
      variance * variance /
      (variance1 * variance1 / (n1 - 1) + variance2 * variance2 / (n2 - 1));
  result.ci95 = student_t_975(freedom) * std::sqrt(variance) / steps;
  return result;
}

}  // namespace syncbench
