// The multi-GPU barrier with delays planted at each of its steps.
#pragma once

#include "peer_grid_barrier/barrier.cuh"

namespace syncbench {

__device__ inline unsigned mixed(unsigned x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

__device__ inline void delay(unsigned cycles) {
  const unsigned start = clock();
  while (static_cast<unsigned>(clock()) - start < cycles) {
  }
}

/// Threads are held up, up to 50 us, at random: before they arrive, between
/// arrival and first poll, between polls, before they leave. Each time that a
/// thread comes to such a step, with a chance of 1 in 4 x the threads of all
/// first warps of its GPU; one thread of a block arrives, all of its first warp
/// poll.
struct RandomDelays {
  __device__ static void at(peer_grid::Step step) {
    using Machine = peer_grid::GpuMachine;
    const unsigned chance =
        mixed(clock() + 65537u * Machine::block() + 257u * Machine::thread() +
              static_cast<unsigned>(step));
    const unsigned threads = Machine::blocks() * Machine::lanes();
    if (chance % (4 * threads) == 0) delay(mixed(chance) % 100000);
  }
};
using LateMachine = peer_grid::BasicGpuMachine<RandomDelays>;

/// Waits for one number and no other, as the barrier once did: a block that
/// polls late misses it.
template <class Machine>
struct Exact : Machine {
  __device__ void wait_system(const unsigned* at, peer_grid::Announced done,
                              peer_grid::Failure why) const {
    const unsigned number = done.number;
    Machine::wait_system(
        at, [number](unsigned seen) { return seen == number; }, why);
  }
};

}  // namespace syncbench
