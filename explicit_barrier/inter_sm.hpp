// Latency of methods across SMs (study, section IX-D), by the CPU's clock: the
// same kernel at two repeat counts, launch to end. Results in nanoseconds.
//
// A Point is one launch shape of a method: point.run(repeats, launches) returns
// the nanoseconds from before the first to after the end of the last of so many
// launches, in one queue, of a kernel that does `repeats` operations.
#pragma once

#include <utility>
#include <vector>

#include "common/interrupt.hpp"
#include "common/process_samples.hpp"
#include "explicit_barrier/timed_launch.hpp"

namespace syncbench::explicit_barrier {

/// How a point is sampled: the two repeat counts of Eq. 7, and how many
/// launches of either kernel, in one queue, a sample is the mean of. Chosen
/// beforehand, not from what a run happens to see: rows of two runs mean the
/// same.
struct SamplingPlan {
  int basic;
  int more;  ///< > basic; both are whole trips of the method's kernel
  int launches;
};

/// Nanoseconds of a launch of either kernel, the mean of those in a queue.
struct InterSmSample {
  double basic, more;
};

struct InterSmResult {
  Summary basic;        ///< total of the basic kernel
  Summary more;         ///< total of the longer kernel
  Summary instruction;  ///< one operation (Eq. 7, 8)
};

/// So many samples of both totals of one point, after launches that warm up;
/// the two lengths alternate, so that slow drifts meet both.
template <class Point>
std::vector<InterSmSample> sample_inter_sm(Point& point, int samples,
                                           const SamplingPlan& plan) {
  constexpr int kWarmUps = 3;
  std::vector<InterSmSample> taken;
  for (int i = 0; i < kWarmUps; ++i) point.run(plan.more, 1);
  for (int sample = 0; sample < samples; ++sample) {
    check_interrupt();
    const double basic = point.run(plan.basic, plan.launches);
    const double more = point.run(plan.more, plan.launches);
    taken.push_back({basic / plan.launches, more / plan.launches});
  }
  return taken;
}

/// What a row makes of the samples of all processes.
inline InterSmResult inter_sm_result(const Measured<InterSmSample>& measured,
                                     const SamplingPlan& plan) {
  const ProcessSamples basic = measured.of(&InterSmSample::basic);
  const ProcessSamples more = measured.of(&InterSmSample::more);
  return {summarize_processes(basic), summarize_processes(more),
          difference_of_processes(more, basic, plan.more - plan.basic)};
}

}  // namespace syncbench::explicit_barrier
