// Visits every state that the threads of barrier_model.hpp can reach.
#pragma once

#include <cstddef>
#include <stdexcept>

#include "barrier_programs.hpp"

namespace barrier_model {

/// A schedule that ends badly; what() is why, and the steps that led there.
struct Broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Visits every state; returns how many there are. Throws Broken.
std::size_t explore(Programs& programs);

}  // namespace barrier_model
