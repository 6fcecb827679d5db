// What the barriers of node_protocols.hpp run on: threads of several GPUs
// (sm_70 and later), and memory of the host and of each GPU.
#pragma once

#include <cooperative_groups.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "common/bounded_wait.cuh"
#include "common/cuda_resources.hpp"
#include "common/errors.hpp"
#include "common/peer_access.hpp"
#include "explicit_barrier/arguments.hpp"
#include "explicit_barrier/grid_barriers/node_protocols.hpp"
#include "peer_grid_barrier/scoped_memory.cuh"

namespace grid_barriers {

/// A thread, with scoped memory operations, which order memory or do not.
template <bool kOrdered>
struct NodeMachine {
  __device__ static unsigned thread() { return threadIdx.x; }
  __device__ static unsigned threads() { return blockDim.x; }
  __device__ static unsigned block() { return blockIdx.x; }
  __device__ static void sync_grid() { cooperative_groups::this_grid().sync(); }
  __device__ static unsigned load(const unsigned* at) {
    return Memory::load_relaxed(at);
  }
  __device__ static void store(unsigned* at, unsigned value) {
    if constexpr (kOrdered) {
      Memory::store_release(at, value);
    } else {
      Memory::store_relaxed(at, value);
    }
  }
  __device__ static void add_one_by_cas(unsigned* at) {
    unsigned found = load(at), expected;
    do {
      expected = found;
      if constexpr (kOrdered) {
        found = Memory::swap_acq_rel(at, expected, expected + 1);
      } else {
        found = Memory::swap_relaxed(at, expected, expected + 1);
      }
    } while (found != expected);
  }
  /// Who waits for seconds ends the kernel with an error: a GPU is gone.
  template <class Done>
  __device__ static void wait(const unsigned* at, Done done) {
    syncbench::poll_or_trap([at, done] { return done(poll(at)); });
  }

 private:
  using Memory = peer_grid::generic::System;

  __device__ static unsigned poll(const unsigned* at) {
    if constexpr (!kOrdered) return load(at);
    return Memory::load_acquire(at);
  }
};

/// Of the GPUs `devices`, kMostGpus at most, with access to each other.
class NodeMemory {
 public:
  explicit NodeMemory(const std::vector<int>& devices)
      : NodeMemory(devices, std::size_t{kNodeLine} * devices.size()) {}

  /// With so many words in the memory of each GPU.
  NodeMemory(const std::vector<int>& devices, std::size_t words)
      : host_(std::size_t{kNodeLine} * devices.size()) {
    std::fill_n(host_.get(), std::size_t{kNodeLine} * devices.size(), 0);
    NodeEnd end = {host_.get(), {}, 0, static_cast<unsigned>(devices.size())};
    for (unsigned rank = 0; rank < end.gpus; ++rank) {
      of_gpu_.emplace_back(devices[rank], words);
      of_gpu_.back().set_to_zero();
      end.of_gpu[rank] = of_gpu_.back().get();
    }
    for (; end.rank < end.gpus; ++end.rank) ends_.push_back(end);
  }

  /// What each GPU is handed.
  std::vector<NodeEnd>& ends() { return ends_; }

 private:
  syncbench::PinnedArray<unsigned> host_;
  std::vector<syncbench::DeviceBuffer<unsigned>> of_gpu_;
  std::vector<NodeEnd> ends_;
};

/// For kernels that are handed a NodeEnd each, of so many words on each GPU; 0:
/// a line for each GPU. Throws CannotMeasure.
inline syncbench::explicit_barrier::Arguments arguments_of_node(
    const std::vector<int>& devices, bool needs_peer_access,
    std::size_t words = 0) {
  if (devices.size() > kMostGpus) {
    throw syncbench::CannotMeasure(
        "too-many-gpus",
        "it is for at most " + std::to_string(kMostGpus) + " GPUs");
  }
  if (needs_peer_access && !syncbench::enable_peer_access(devices)) {
    throw syncbench::CannotMeasure("no-peer-access",
                                   "no peer access between these GPUs");
  }
  const auto memory = std::make_shared<NodeMemory>(
      devices, words > 0 ? words : std::size_t{kNodeLine} * devices.size());
  syncbench::explicit_barrier::Arguments arguments;
  for (NodeEnd& end : memory->ends()) arguments.of_rank.push_back(&end);
  arguments.failure = [memory] { return std::nullopt; };
  return arguments;
}

}  // namespace grid_barriers
