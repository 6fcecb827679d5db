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

/// A flag of each GPU in host memory, which all others poll.
template <class Machine>
class HostFlags {
 public:
  __device__ explicit HostFlags(const NodeEnd& end) : end_(end) {}

  // Nobody else sets this GPU's flag.
  __device__ void learn(Machine machine) {
    number_ = machine.load(line(end_.host, end_.rank));
  }

  __device__ void meet(Machine machine) {
    ++number_;
    if (machine.thread() == 0) {
      machine.store(line(end_.host, end_.rank), number_);
    }
    for (unsigned i = machine.thread(); i < end_.gpus; i += machine.threads()) {
      machine.wait(line(end_.host, i), Reached<unsigned>{number_});
    }
  }

 private:
  NodeEnd end_;
  unsigned number_ = 0;
};

/// Each GPU sets a flag in the memory of every GPU, a lane each, and polls
/// those in its own.
template <class Machine>
class AllToAllFlags {
 public:
  __device__ explicit AllToAllFlags(const NodeEnd& end) : end_(end) {}

  __device__ void learn(Machine machine) {
    number_ = machine.load(line(end_.of_gpu[end_.rank], end_.rank));
  }

  __device__ void meet(Machine machine) {
    ++number_;
    for (unsigned i = machine.thread(); i < end_.gpus; i += machine.threads()) {
      machine.store(line(end_.of_gpu[i], end_.rank), number_);
    }
    for (unsigned i = machine.thread(); i < end_.gpus; i += machine.threads()) {
      machine.wait(line(end_.of_gpu[end_.rank], i), Reached<unsigned>{number_});
    }
  }

 private:
  NodeEnd end_;
  unsigned number_ = 0;
};

/// A counter in the memory of the first GPU, to which each adds one by
/// compare-and-swap, and which all poll.
template <class Machine>
class PeerCas {
 public:
  __device__ explicit PeerCas(const NodeEnd& end) : end_(end) {}

  __device__ void learn(Machine machine) {
    goal_ = machine.load(end_.of_gpu[0]);
    goal_ -= goal_ % end_.gpus;
  }

  __device__ void meet(Machine machine) {
    goal_ += end_.gpus;
    if (machine.thread() != 0) return;
    machine.add_one_by_cas(end_.of_gpu[0]);
    machine.wait(end_.of_gpu[0], Reached<unsigned>{goal_});
  }

 private:
  NodeEnd end_;
  unsigned goal_ = 0;
};

/// All threads of all blocks of all GPUs call it, each as often.
template <class Between, class Machine>
__device__ void sync_node(Between& between, Machine machine) {
  machine.sync_grid();
  if (machine.block() == 0) between.meet(machine);
  machine.sync_grid();
}

}  // namespace grid_barriers
