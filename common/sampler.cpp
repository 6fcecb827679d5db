#include "common/sampler.hpp"

#include "common/interrupt.hpp"

namespace syncbench {

void sample_in_turn(std::vector<TimedPoint>& points, int samples,
                    int warm_ups) {
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

Samples sample_alone(const Take& take, int samples, int warm_ups) {
  std::vector<TimedPoint> points = {{take}};
  sample_in_turn(points, samples, warm_ups);
  return points[0].samples;
}

}  // namespace syncbench
