// Races: how often a kernel without a barrier or a fence gives a wrong result,
// and the same kernel with it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "pitfalls/child.cuh"

namespace syncbench::pitfalls {

/// Before, there is no memory model by which the right forms would be right,
/// and lanes of two branches cannot wait for each other.
constexpr int kRaceArchitecture = 70;

/// Fills memory of a GPU with zeros.
template <class T>
void clear(DeviceBuffer<T>& buffer, int device) {
  const DeviceGuard guard(device);
  buffer.set_to_zero();
}

/// A cell for every try, not 0 where its result is wrong.
inline DeviceBuffer<unsigned> cells_of_tries(const Child& child, int device) {
  DeviceBuffer<unsigned> wrong(device, child.tries());
  clear(wrong, device);
  return wrong;
}

/// Tells the parent how many were wrong, which none is in the right form.
inline void report_tries(Child& child, Form form,
                         const DeviceBuffer<unsigned>& cells) {
  const std::vector<unsigned> tries = cells.read();
  const auto right = std::count(tries.begin(), tries.end(), 0u);
  const auto wrong = tries.size() - right;
  child.row(
      {name_of(form), std::to_string(tries.size()), std::to_string(wrong)});
  if (form == Form::kRight && wrong > 0) {
    child.wrong("right: wrong with its barriers and fences");
  }
  child.result({"completed"});
}

}  // namespace syncbench::pitfalls
