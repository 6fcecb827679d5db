// The one loop that samples: points in turn, so that what changes slowly
// touches all alike.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/interrupt.hpp"

namespace syncbench {

/// The numbers of one timing, by name.
using Sample = std::map<std::string, double>;

/// The same of many, in the order of taking.
using Samples = std::map<std::string, std::vector<double>>;

/// Takes one sample of a point.
using Take = std::function<Sample()>;

/// A point, and what was sampled of it.
struct TimedPoint {
  Take take;
  Samples samples = {};
};

/// So many samples of each point, in turn, after as many warm-ups as that, in
/// turn too, which do not count. Those that were there before are forgotten.
/// Throws Interrupted.
inline void sample_in_turn(std::vector<TimedPoint>& points, int samples,
                           int warm_ups = 0) {
  for (TimedPoint& point : points) point.samples.clear();
  for (int i = -warm_ups; i < samples; ++i) {
    for (TimedPoint& point : points) {
      check_interrupt();
      const Sample sample = point.take();
      if (i < 0) continue;
      for (const auto& [name, number] : sample) {
        point.samples[name].push_back(number);
      }
    }
  }
}

/// The same of one point alone.
inline Samples sample_alone(const Take& take, int samples, int warm_ups = 1) {
  std::vector<TimedPoint> points = {{take}};
  sample_in_turn(points, samples, warm_ups);
  return points[0].samples;
}

}  // namespace syncbench
