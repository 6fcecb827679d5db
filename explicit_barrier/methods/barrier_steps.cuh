// What the steps share that barriers of blocks are made of.
#pragma once

#include "explicit_barrier/grid_barriers/gpu_machine.cuh"
#include "explicit_barrier/grid_barriers/protocols.hpp"
#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench::explicit_barrier {

// What all of these have.
struct BarrierStep : Method {
  static constexpr void describe(About& about) {
    about.first_architecture = 70;
    about.repeats = 8;
    about.fits = [](int threads) { return threads == 32; };
    about.attributes = LaunchAttributes{true};
  }
};

// Numbers of messages in two words. Nobody else writes where this thread sends,
// so it finds there how many it has sent, and waits for as many answers.
template <class Machine>
class PingPong {
 public:
  __device__ PingPong(bool begins, unsigned* inbox, unsigned* outbox)
      : begins_(begins),
        inbox_(inbox),
        outbox_(outbox),
        number_(Machine::load(outbox)) {}

  // There and back.
  __device__ void play() {
    ++number_;
    // The store comes once in the code: it waits behind it, or before it.
    if (!begins_) Machine::wait(inbox_, Reached{number_});
    Machine::store(outbox_, number_);
    if (begins_) Machine::wait(inbox_, Reached{number_});
  }

 private:
  using Reached = grid_barriers::Reached<unsigned>;
  bool begins_;
  unsigned *inbox_, *outbox_;
  unsigned number_;
};

}  // namespace syncbench::explicit_barrier
