// Waits of the GPU, never for ever.
#pragma once

#include "common/device_clock.cuh"

namespace syncbench {

/// After so many polls a wait gives up. They take seconds; a wait that ends
/// takes microseconds.
inline constexpr unsigned kMostPolls = 1 << 22;

/// Polls until done(); false after kMostPolls.
template <class Done>
__device__ bool poll_until(Done done) {
  for (unsigned polls = 0; polls < kMostPolls; ++polls) {
    if (done()) return true;
  }
  return false;
}

/// Polls until done(), or ends the kernel with an error.
template <class Done>
__device__ void poll_or_trap(Done done) {
  for (unsigned polls = 0; !done(); ++polls) {
    if (polls == kMostPolls) __trap();
  }
}

/// Polls until done(); false after so long, by the GPU's timer.
template <class Done>
__device__ bool poll_for(long long nanoseconds, Done done) {
  const long long start = read_global_timer();
  while (!done()) {
    if (read_global_timer() - start > nanoseconds) return false;
  }
  return true;
}

}  // namespace syncbench
