// Mean, spread and interval of samples, and the study's difference of two
// lengths. Host code only; the unit of a result is the unit of its samples.
#pragma once

#include <cstddef>
#include <limits>
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
/// freedom, which need not be whole; within 0.01%.
double student_t_975(double freedom);

/// Median of `samples`, which are reordered.
double median_of(std::vector<double>& samples);

/// Summary of at least one finite sample; anything else is an error, because a
/// failed measurement must not become a number.
Summary summarize(std::vector<double> samples);

/// The same quantity divided by `divisor` > 0 (a total shared by repeats).
Summary per(Summary total, double divisor);

/// Cost of one of `steps` > 0 additional steps from two independently sampled
/// totals: mean (L1 - L2) / steps (Eq. 6, 7), standard deviation
/// sqrt(s1^2 + s2^2) / steps (Eq. 8), interval by Welch's approximation.
Summary difference(const Summary& longer, const Summary& shorter, double steps);

}  // namespace syncbench
