// Kernel fusion (study, Eq. 6): many launches of one unit of work against one
// launch of as many units.
#pragma once

#include <memory>
#include <vector>

#include "common/process_samples.hpp"
#include "implicit_barrier/launch_methods.hpp"
#include "implicit_barrier/point.hpp"

namespace syncbench::implicit_barrier {

/// Nanoseconds of i = `repeats` launches of one unit until the last call
/// returned (`launched`) and until all had ended (`separate`), and of one
/// launch of one unit (`one`). As the first launches of a series can differ, i
/// launches follow `lead` others: the total of all, less that of lead + 1, plus
/// that of one launch.
inline Sample take_separate(Way& single, int repeats, int lead) {
  single.run(kWarmUpLaunches);
  const ways::LaunchTimes separate = single.run(lead + repeats);
  const double one = single.run(1).total;
  double total = separate.total;
  if (lead > 0) total += one - single.run(lead + 1).total;
  return {{"launched", separate.launched}, {"separate", total}, {"one", one}};
}

/// What kernel fusion says about a launch.
struct FusionResult {
  Summary unit = {};      ///< one unit of work as measured
  Summary overhead = {};  ///< one launch beyond the work
  bool hidden = false;    ///< the host was ahead of the GPU, or waits by design
};

/// Eq. 6 with j = 1. The unit itself is (fused - one single) / (i - 1).
inline FusionResult fusion_result(const Measured& measured, int repeats) {
  const ProcessSamples separate = measured.of("separate"),
                       fused = measured.of("fused"),
                       launched = measured.of("launched");
  return {difference_of_processes(fused, measured.of("one"), repeats - 1),
          difference_of_processes(separate, fused, repeats - 1),
          summarize_processes(launched).mean <
              0.9 * summarize_processes(separate).mean};
}

/// Kernel fusion of one point: launches of one unit, and of all in one kernel.
class FusionPair {
 public:
  FusionPair(const LaunchMethodInfo& method, const StreamPool& pool,
             const std::vector<Gpu>& gpus, const Point& point,
             UnitKernel kernel, long long amount)
      : repeats_(point.repeats), lead_(point.lead) {
    const auto make = [&](int units) {
      const KernelCall call =
          unit_call(method.kernels->*kernel, point, units, amount);
      return method.make(pool, gpus, ways::all_of(call, point.gpus));
    };
    single_ = make(1);
    fused_ = make(point.repeats);
  }

  /// As take_separate(), and `fused`: of one launch of i units.
  Sample take() {
    Sample sample = take_separate(*single_, repeats_, lead_);
    sample["fused"] = fused_->run(1).total;
    return sample;
  }

 private:
  int repeats_, lead_;
  std::unique_ptr<Way> single_, fused_;
};

}  // namespace syncbench::implicit_barrier
