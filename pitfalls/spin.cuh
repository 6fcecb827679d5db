// Waiting on the GPU, never for ever.
#pragma once

#include "common/bounded_wait.cuh"
#include "common/device_clock.cuh"

namespace syncbench::pitfalls {

/// The longest that a kernel of Pitfalls spins: longer than a parent waits.
constexpr long long kLongestSpin = 3000000000;  // ns

/// Spins for so many cycles of the SM clock: what makes a race show.
__device__ inline void spin(long long cycles) {
  const long long start = read_sm_clock();
  while (read_sm_clock() - start < cycles) {
  }
}

/// Spins until done() or for kLongestSpin; false in the latter case.
template <class Done>
__device__ bool spin_until(Done done) {
  return poll_for(kLongestSpin, done);
}

/// Memory that others write: each access is one of the program's own. Neither
/// the compiler nor L1 keeps the value; nothing else is ordered by it.
__device__ inline unsigned read_now(const unsigned* address) {
  return *static_cast<const volatile unsigned*>(address);
}
__device__ inline void write_now(unsigned* address, unsigned value) {
  *static_cast<volatile unsigned*>(address) = value;
}

}  // namespace syncbench::pitfalls
