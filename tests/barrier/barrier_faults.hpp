// Machines on which the multi-GPU barrier does not hold: a fault each.
#pragma once

#include "barrier_model.hpp"

namespace barrier_model {

/// Waits for this barrier's number only, as the barrier once did.
struct ExactWait : Machine<2> {
  void wait_system(const unsigned* at, peer_grid::Announced done,
                   peer_grid::Failure) {
    const unsigned number = done.number;
    wait(
        at, [number](unsigned seen) { return seen == number; }, true, true);
  }
};

/// The last block's line is a leader's first one: the leader's others go stale
/// when the last tells, and one that is far behind counts as reached.
struct StaleLines : Machine<2> {
  unsigned* shared(const unsigned* at) {
    for (int gpu = 0; gpu < 2; ++gpu) {
      for (int peer = 0; peer < 2; ++peer) {
        if (at == &states[gpu].by_leader[0].barrier[peer]) {
          return &states[gpu].by_last.barrier[peer];
        }
      }
    }
    return const_cast<unsigned*>(at);
  }
  unsigned load(const unsigned*) {  // always from the first line
    return Machine<2>::load(&states[self->gpu].by_last.barrier[self->gpu]);
  }
  void store_system(unsigned* at, unsigned value) {
    Machine<2>::store_system(shared(at), value);
  }
  void wait_system(const unsigned* at, peer_grid::Announced done,
                   peer_grid::Failure) {
    const unsigned number = done.number;
    wait(
        shared(at),
        [number](unsigned seen) {
          return static_cast<int>(seen - number) >= 0;
        },
        true, true);
  }
};

struct EarlyLeader : Machine<2> {
  template <class Done>
  void wait_gpu(const unsigned*, Done, peer_grid::Failure) {}
};

struct MissingArrival : Machine<2> {
  bool late() const { return self->gpu == 1 && self->block == 1; }
  bool completes(unsigned* at, unsigned value) {
    return !late() && Machine<2>::completes(at, value);
  }
  void add_release(unsigned* at, unsigned value) {
    if (!late()) Machine<2>::add_release(at, value);
  }
};

struct MissingRelease : Machine<2> {
  bool completes(unsigned* at, unsigned value) {
    return script->perform({Operation::kFetchAdd, at, value, false}) %
               peer_grid::kLap ==
           0;
  }
  void add_release(unsigned* at, unsigned value) {
    script->perform({Operation::kAdd, at, value, false});
  }
};

struct MissingAcquire : Machine<2> {
  template <class Done>
  void wait_gpu(const unsigned* at, Done done, peer_grid::Failure) {
    wait(at, done, false, false);
  }
  template <class Done>
  void wait_system(const unsigned* at, Done done, peer_grid::Failure) {
    wait(at, done, false, false);
  }
};

struct MissingFence : Machine<2> {
  void fence_gpu() {}
  void fence_system() {}
};

struct WeakFence : Machine<2> {
  void fence_system() { fence_gpu(); }
};

/// Acquires at GPU scope what another GPU has released.
struct WeakAcquire : Machine<2> {
  template <class Done>
  void wait_system(const unsigned* at, Done done, peer_grid::Failure why) {
    wait_gpu(at, done, why);
  }
};

/// One lane's fence does nothing for what other lanes announce.
struct FenceOfOneLane : Machine<2> {
  void fence_system() {
    if (self->lane == 0) Machine<2>::fence_system();
  }
};

/// The threads of a block do not meet before one of them arrives for all, or
/// not behind the barrier.
template <bool kBefore>
struct MissingBlockBarrier : Machine<2> {
  bool before = true;  // each barrier has a copy of the machine
  void sync_block() {
    const bool wanted = before != kBefore;
    before = false;
    if (wanted) Machine<2>::sync_block();
  }
};

/// A leader's lane announces before the others have seen their arrivals.
struct MissingWarpBarrier : Machine<2> {
  void sync_warp() {}
};

/// Each block announces when it has arrived, whoever else has.
struct EagerBlock : Machine<2> {
  bool completes(unsigned* at, unsigned value) {
    Machine<2>::completes(at, value);
    return true;
  }
};

}  // namespace barrier_model
