// Latency of methods across SMs (study, section IX-D), by the CPU's clock: the
// same kernel at two repeat counts, launch to end. Results in nanoseconds.
#pragma once

#include <functional>

#include "common/process_samples.hpp"
#include "common/sampler.hpp"

namespace syncbench::explicit_barrier {

/// run(repeats, launches): nanoseconds from before the first to after the end
/// of the last of so many launches, in one queue, of a kernel that does
/// `repeats` operations.
using RepeatedRun = std::function<double(int, int)>;

/// How a point is sampled: the two repeat counts of Eq. 7, and how many
/// launches of either kernel, in one queue, a sample is the mean of. Chosen
/// beforehand, not from what a run happens to see: rows of two runs mean the
/// same.
struct SamplingPlan {
  int basic;
  int more;  ///< > basic; both are whole trips of the method's kernel
  int launches;
};

struct InterSmResult {
  Summary basic;        ///< total of the basic kernel
  Summary more;         ///< total of the longer kernel
  Summary instruction;  ///< one operation (Eq. 7, 8)
};

/// So many samples of both totals of one point, after launches that warm up;
/// the two lengths alternate, so that slow drifts meet both. `basic` and
/// `more`: nanoseconds of a launch of either kernel, the mean of those in a
/// queue.
inline Samples sample_inter_sm(const RepeatedRun& run, int samples,
                               const SamplingPlan& plan) {
  constexpr int kWarmUps = 3;
  for (int i = 0; i < kWarmUps; ++i) run(plan.more, 1);
  const auto take = [&] {
    const double basic = run(plan.basic, plan.launches);
    const double more = run(plan.more, plan.launches);
    return Sample{{"basic", basic / plan.launches},
                  {"more", more / plan.launches}};
  };
  return sample_alone(take, samples, 0);
}

/// What a row makes of the samples of all processes.
inline InterSmResult inter_sm_result(const Measured& measured,
                                     const SamplingPlan& plan) {
  const ProcessSamples basic = measured.of("basic"), more = measured.of("more");
  return {summarize_processes(basic), summarize_processes(more),
          difference_of_processes(more, basic, plan.more - plan.basic)};
}

}  // namespace syncbench::explicit_barrier
