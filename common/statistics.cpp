#include "common/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace syncbench {
namespace {

// P(|T| <= t) of Student's distribution with `freedom` >= 1 degrees of
// freedom, for 0 < t < 20: the integral of cos^(freedom - 1) up to atan(t /
// sqrt(freedom)) (Abramowitz & Stegun 26.7.1 with x = sqrt(freedom) tan), by
// Simpson's rule.
double student_probability(double t, double freedom) {
  constexpr int kIntervals = 64;
  constexpr double kPi = 3.14159265358979324;
  const double width = std::atan(t / std::sqrt(freedom)) / kIntervals;
  double sum = 0;
  for (int i = 0; i <= kIntervals; ++i) {
    const double weight = i == 0 || i == kIntervals ? 1 : i % 2 == 1 ? 4 : 2;
    sum += weight * std::pow(std::cos(i * width), freedom - 1);
  }
  const double scale =
      std::exp(std::lgamma((freedom + 1) / 2) - std::lgamma(freedom / 2));
  return 2 * scale / std::sqrt(kPi) * sum * width / 3;
}

}  // namespace

double student_t_975(double freedom) {
  if (!(freedom >= 1)) return kNan;
  double low = 1.9, high = 12.8;  // of infinite freedom and of 1, and a little
  while (high - low > 1e-6) {
    const double middle = (low + high) / 2;
    (student_probability(middle, freedom) < 0.95 ? low : high) = middle;
  }
  return low;
}

double median_of(std::vector<double>& samples) {
  const auto middle = samples.begin() + samples.size() / 2;
  std::nth_element(samples.begin(), middle, samples.end());
  if (samples.size() % 2 == 1) return *middle;
  return (*std::max_element(samples.begin(), middle) + *middle) / 2;
}

Summary summarize(std::vector<double> samples) {
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

Summary per(Summary total, double divisor) {
  total.mean /= divisor;
  total.stddev /= divisor;
  total.median /= divisor;
  total.ci95 /= divisor;
  return total;
}

Summary difference(const Summary& longer, const Summary& shorter,
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
