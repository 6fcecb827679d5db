// Barriers of all blocks of one GPU, as the literature has them, without the
// machine that they run on. gpu_machine.cuh runs them on a GPU; a test without
// a GPU hands their memory operations to a scheduler that tries every order of
// them. The machine also decides their memory order.
//
// All threads of a block make one each, of words that are zero before the first
// kernel and left to the next as they are, and call learn() before any of them
// meets the others. Then all threads of all blocks call sync(), each as often.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace grid_barriers {

template <class Value>
struct Equal {
  Value wanted;
  __device__ bool operator()(Value seen) const { return seen == wanted; }
};

template <class Value>
struct Reached {
  Value wanted;
  __device__ bool operator()(Value seen) const { return seen >= wanted; }
};

/// A counter that each of so many parties adds to in each barrier, and polls.
/// It has 64 bits on a GPU, or its machine ends a kernel that might wrap it.
template <class Machine, template <class> class Done>
class PolledCounter {
 public:
  using Count = typename Machine::Count;
  static constexpr __host__ __device__ long long words() { return 2; }

  __device__ explicit PolledCounter(unsigned* words)
      : arrived_(reinterpret_cast<Count*>(words)) {}

  __device__ void learn(Machine machine, unsigned parties) {
    goal_ = machine.load(arrived_);
    goal_ -= goal_ % parties;
  }

  __device__ void meet(Machine machine, unsigned parties) {
    goal_ += parties;
    machine.arrive(arrived_, Count{1});
    machine.wait(arrived_, Done<Count>{goal_});
  }

 private:
  Count* arrived_;
  Count goal_ = 0;
};

/// Xiao and Feng (IPDPS 2010), with a lock: thread 0 of each block adds to one
/// counter and polls it. `Done`: the published code waits for Equal, so for
/// ever if another block arrives at the next barrier before this one looks.
template <class Machine, template <class> class Done = Reached>
class LockBarrier {
 public:
  static constexpr __host__ __device__ long long words(long long /*blocks*/) {
    return PolledCounter<Machine, Done>::words();
  }

  __device__ explicit LockBarrier(unsigned* words) : counter_(words) {}

  __device__ void learn(Machine machine) {
    counter_.learn(machine, machine.blocks());
  }

  __device__ void sync(Machine machine) {
    machine.sync_block();
    if (machine.thread() == 0) counter_.meet(machine, machine.blocks());
    machine.sync_block();
  }

 private:
  PolledCounter<Machine, Done> counter_;
};

/// Xiao and Feng (IPDPS 2010), without a lock: each block sets a flag of its
/// own to the barrier's number; one block polls all of them, a thread each, and
/// answers by a second flag of each block.
/// kMeetsFirst: whether the threads of a block meet before thread 0 arrives.
/// The published code does not, so it is no barrier of the other threads.
template <class Machine, bool kMeetsFirst = true>
class FlagBarrier {
 public:
  static constexpr __host__ __device__ long long words(long long blocks) {
    return 2 * blocks;
  }

  __device__ explicit FlagBarrier(unsigned* words) : came_(words) {}

  // Nobody lets this block go before it has arrived.
  __device__ void learn(Machine machine) {
    go_ = came_ + machine.blocks();
    number_ = machine.load(go_ + machine.block());
  }

  __device__ void sync(Machine machine) {
    if (kMeetsFirst) machine.sync_block();
    ++number_;
    if (machine.thread() == 0) {
      machine.store(came_ + machine.block(), number_);
    }
    if (machine.block() == 0) {
      for (unsigned i = machine.thread(); i < machine.blocks();
           i += machine.threads()) {
        machine.wait(came_ + i, Equal<unsigned>{number_});
      }
      machine.sync_block_between();
      for (unsigned i = machine.thread(); i < machine.blocks();
           i += machine.threads()) {
        machine.store(go_ + i, number_);
      }
    }
    if (machine.thread() == 0) {
      machine.wait(go_ + machine.block(), Equal<unsigned>{number_});
    }
    machine.sync_block();
  }

 private:
  unsigned *came_, *go_ = nullptr;
  unsigned number_ = 0;
};

/// Sorensen and others (OOPSLA 2016): a flag for each block but the first. A
/// block raises its own and waits until the first block, which polls all of
/// them, lowers it. cub::GridBarrier does the same in another memory order.
template <class Machine>
class RaisedFlagBarrier {
 public:
  static constexpr __host__ __device__ long long words(long long blocks) {
    return blocks;
  }

  __device__ explicit RaisedFlagBarrier(unsigned* words) : raised_(words) {}

  __device__ void learn(Machine) {}

  __device__ void sync(Machine machine) {
    machine.sync_block();
    if (machine.block() == 0) {
      for (unsigned i = machine.thread() + 1; i < machine.blocks();
           i += machine.threads()) {
        machine.wait(raised_ + i, Equal<unsigned>{1});
      }
      machine.sync_block_between();
      for (unsigned i = machine.thread() + 1; i < machine.blocks();
           i += machine.threads()) {
        machine.store(raised_ + i, 0u);
      }
    } else if (machine.thread() == 0) {
      machine.store(raised_ + machine.block(), 1u);
      machine.wait(raised_ + machine.block(), Equal<unsigned>{0});
    }
    machine.sync_block();
  }

 private:
  unsigned* raised_;
};

/// Sense-reversing (Mellor-Crummey and Scott, TOCS 1991; on GPUs Dalmia and
/// others, TPDS 2022): whoever completes a counter sets it back and turns the
/// sense over, for which all others wait. Where an SM has more than 4 blocks,
/// the blocks of one SM, or as many others, have a counter of their own first.
/// The published code has a loop in which any block may find the counter
/// complete; here the last addition tells.
template <class Machine>
class SenseBarrier {
 public:
  static constexpr __host__ __device__ long long words(long long blocks) {
    return kLine * (2 + blocks);
  }

  __device__ explicit SenseBarrier(unsigned* words)
      : sense_(words), came_(words + kLine) {}

  __device__ void learn(Machine machine) {
    wanted_ = machine.load(sense_);
    const unsigned blocks = machine.blocks(), sms = machine.sms();
    if (blocks > 4 * sms) {
      groups_ = sms;
      const unsigned group = machine.block() % sms;
      of_group_ = came_ + std::size_t{kLine} * (1 + group);
      size_ = blocks / sms + (group < blocks % sms ? 1 : 0);
    }
  }

  __device__ void sync(Machine machine) {
    machine.sync_block();
    if (machine.thread() == 0) {
      wanted_ = 1 - wanted_;
      const bool last = groups_ == 0
                            ? completes(machine, came_, machine.blocks())
                            : completes(machine, of_group_, size_) &&
                                  completes(machine, came_, groups_);
      if (last) {
        machine.store(sense_, wanted_);
      } else {
        machine.wait(sense_, Equal<unsigned>{wanted_});
      }
    }
    machine.sync_block();
  }

 private:
  static constexpr unsigned kLine = 32;  // words of 128 bytes

  __device__ static bool completes(Machine machine, unsigned* counter,
                                   unsigned count) {
    if (machine.fetch_add(counter, 1) + 1 != count) return false;
    machine.set(counter, 0);
    return true;
  }

  unsigned *sense_, *came_, *of_group_ = nullptr;
  unsigned wanted_ = 0;             // the sense that ends this barrier
  unsigned groups_ = 0, size_ = 0;  // 0: none; blocks of this one's group
};

/// The blocks of a cluster meet by its barrier, one of them arrives at a
/// counter for all, and they meet again.
template <class Machine>
class ClusterFirstBarrier {
 public:
  static constexpr __host__ __device__ long long words(long long /*blocks*/) {
    return PolledCounter<Machine, Reached>::words();
  }

  __device__ explicit ClusterFirstBarrier(unsigned* words) : counter_(words) {}

  __device__ void learn(Machine machine) {
    counter_.learn(machine, machine.clusters());
  }

  __device__ void sync(Machine machine) {
    sync_cluster(machine);
    if (machine.leads_cluster()) counter_.meet(machine, machine.clusters());
    sync_cluster(machine);
  }

 private:
  __device__ static void sync_cluster(Machine machine) {
    machine.arrive_cluster();
    machine.wait_cluster();
  }

  PolledCounter<Machine, Reached> counter_;
};

}  // namespace grid_barriers
