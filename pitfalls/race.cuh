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

/// A cell for every try of one form, not 0 where its result is wrong.
class Tries {
 public:
  Tries(int device, int count) : wrong_(device, count) { wrong_.set_to_zero(); }
  unsigned* wrong() const { return wrong_.get(); }
  int count() const { return static_cast<int>(wrong_.size()); }

  /// Cells of a row.
  std::vector<std::string> row(const char* form) const {
    const std::vector<unsigned> cells = wrong_.read();
    const auto found =
        cells.size() - std::count(cells.begin(), cells.end(), 0u);
    return {form, std::to_string(cells.size()), std::to_string(found)};
  }

 private:
  DeviceBuffer<unsigned> wrong_;
};

inline constexpr const char* kWrongForm = "wrong";
inline constexpr const char* kRightForm = "right";

}  // namespace syncbench
