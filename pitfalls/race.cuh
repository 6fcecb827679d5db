// Races: how often a kernel without a barrier or a fence gives a wrong result,
// and the same kernel with it.
#pragma once

#include <algorithm>
#include <string>

#include "common/check.hpp"
#include "common/cuda_resources.hpp"
#include "pitfalls/child.hpp"
#include "pitfalls/spin.cuh"

namespace syncbench {

/// Before, there is no memory model by which the right forms would be right,
/// and lanes of two branches cannot wait for each other.
constexpr int kRaceArchitecture = 70;

/// A cell for every try, not 0 where its result is wrong.
class Tries {
 public:
  Tries(int device, int count) : device_(device), wrong_(device, count) {
    clear();
  }
  void clear() {
    const DeviceGuard guard(device_);
    wrong_.set_to_zero();
  }
  unsigned* wrong() const { return wrong_.get(); }

  /// Tells the parent how many were wrong.
  void report(Child& child) const {
    const std::vector<unsigned> cells = wrong_.read();
    const auto right = std::count(cells.begin(), cells.end(), 0u);
    child.result(
        {std::to_string(cells.size()), std::to_string(cells.size() - right)});
  }

 private:
  int device_;
  DeviceBuffer<unsigned> wrong_;
};

/// A race on GPU 0, or on all where it takes at least two.
inline Case race(const char* name, const char* text, int fewest_gpus,
                 void (*run)(Child&, Form)) {
  return {name,        text, Section::kRace, {Form::kWrong, Form::kRight},
          fewest_gpus, run};
}

}  // namespace syncbench
