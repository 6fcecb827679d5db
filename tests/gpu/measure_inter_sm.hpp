// A row of BenchmarkInterSM from this process alone.
#pragma once

#include "explicit_barrier/inter_sm.hpp"

namespace syncbench::explicit_barrier {

template <class Point>
InterSmResult measure_inter_sm(Point& point, int samples,
                               const SamplingPlan& plan) {
  const auto run = [&](int repeats, int launches) {
    return point.run(repeats, launches);
  };
  Measured measured;
  measured.add(sample_inter_sm(run, samples, plan), kNan);
  return inter_sm_result(measured, plan);
}

}  // namespace syncbench::explicit_barrier
