// Barriers of all blocks of several GPUs, as programs have them that write
// their own: grid.sync(), then one warp of each GPU meets those of the others,
// then grid.sync(). Without the machine that they run on, as protocols.hpp.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "explicit_barrier/grid_barriers/protocols.hpp"

namespace grid_barriers {

inline constexpr unsigned kMostGpus = 16;
inline constexpr unsigned kNodeLine = 32;  // words of 128 bytes

/// What the host hands to one GPU: words that are zero before the first kernel,
/// in host memory and in the memory of each GPU, a line for each GPU.
struct NodeEnd {
  unsigned* host;
  unsigned* of_gpu[kMostGpus];
  unsigned rank, gpus;
};

// Lines of a GPU: they lie in memory of `words`.
__host__ __device__ constexpr unsigned* line(unsigned* words, unsigned gpu) {
  return words + std::size_t{kNodeLine} * gpu;
}

// Each of these knows after learn() where its thread looks. Threads of block 0,
// which has at least as many as there are GPUs, call meet().

/// A flag of each GPU in host memory, which all others poll.
template <class Machine>
class HostFlags {
 public:
  static constexpr bool kNeedsPeerAccess = false;

  // Nobody else sets this GPU's flag.
  __device__ void learn(Machine machine, const NodeEnd& end) {
    own_ = line(end.host, end.rank);
    if (machine.thread() < end.gpus) polled_ = line(end.host, machine.thread());
    number_ = machine.load(own_);
  }

  __device__ void meet(Machine machine) {
    ++number_;
    if (machine.thread() == 0) machine.store(own_, number_);
    if (polled_) machine.wait(polled_, Reached<unsigned>{number_});
  }

 private:
  unsigned *own_ = nullptr, *polled_ = nullptr;
  unsigned number_ = 0;
};

/// Each GPU sets a flag in the memory of every GPU, a lane each, and polls
/// those in its own.
template <class Machine>
class AllToAllFlags {
 public:
  static constexpr bool kNeedsPeerAccess = true;

  __device__ void learn(Machine machine, const NodeEnd& end) {
    unsigned* own = end.of_gpu[end.rank];
    if (machine.thread() < end.gpus) {
      set_ = line(end.of_gpu[machine.thread()], end.rank);
      polled_ = line(own, machine.thread());
    }
    number_ = machine.load(line(own, end.rank));
  }

  __device__ void meet(Machine machine) {
    ++number_;
    if (!polled_) return;
    machine.store(set_, number_);
    machine.wait(polled_, Reached<unsigned>{number_});
  }

 private:
  unsigned *set_ = nullptr, *polled_ = nullptr;
  unsigned number_ = 0;
};

/// A counter in the memory of the first GPU, to which each adds one by
/// compare-and-swap, and which all poll.
template <class Machine>
class PeerCas {
 public:
  static constexpr bool kNeedsPeerAccess = true;

  __device__ void learn(Machine machine, const NodeEnd& end) {
    counter_ = end.of_gpu[0];
    gpus_ = end.gpus;
    goal_ = machine.load(counter_);
    goal_ -= goal_ % gpus_;
  }

  __device__ void meet(Machine machine) {
    goal_ += gpus_;
    if (machine.thread() != 0) return;
    machine.add_one_by_cas(counter_);
    machine.wait(counter_, Reached<unsigned>{goal_});
  }

 private:
  unsigned* counter_ = nullptr;
  unsigned gpus_ = 0, goal_ = 0;
};

/// All threads of all blocks of all GPUs call it, each as often.
template <class Between, class Machine>
__device__ void sync_node(Between& between, Machine machine) {
  machine.sync_grid();
  if (machine.block() == 0) between.meet(machine);
  machine.sync_grid();
}

}  // namespace grid_barriers
