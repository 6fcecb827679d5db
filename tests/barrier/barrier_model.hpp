// Tries every order in which the threads of a multi-GPU barrier can take their
// steps. The barrier is the one that GPUs run (peer_grid_barrier/protocol.hpp),
// on a machine whose memory operations are handed to the explorer here.
//
// How. A thread is deterministic, so what it does next follows from the results
// that its operations have had so far: the thread is run again from the
// start of its round with these results until it asks for one more operation.
// So a state is the memory and, for each thread, the variables of the protocol
// and the results of this round; it is kept as a hash of 128 bits, and every
// state that can be reached is visited once. Failed polls change nothing, so a
// wait is an operation that can be taken while its condition holds: a condition
// that can pass by unseen leaves a state in which nothing can be taken.
//
// Memory. An announcement lands at any time after its store, those of different
// blocks in any order; the next release of the block and the next fence of the
// thread wait for it. Apart from that, loads see the newest value; what a
// barrier has to order is followed by views instead: a thread's view is the
// round that it knows each thread to have written before. It grows by what the
// thread acquires: by meeting its block, its warp or its cluster, by reading,
// with acquire, a counter or an announcement, which carry the view of whoever
// released them, at the scope of the release. Whoever leaves a barrier has to
// have the round of all threads in view.
//
// Where. What a thread does next is found in barrier_programs; which steps can
// be taken and what they change, in barrier_steps; the search, and the account
// of a schedule that ends badly, in barrier_explorer.
#pragma once

#include <functional>
#include <vector>

#include "peer_grid_barrier/protocol.hpp"

namespace barrier_model {

using peer_grid::End;
using peer_grid::Meeting;

/// A kernel on every GPU of the scenario.
struct Launch {
  Meeting meeting;
  unsigned blocks;       ///< a GPU; kLines at least where a leader tells
  unsigned threads;      ///< of a block's first warp, 1 to 32
  int rounds;            ///< barriers
  unsigned cluster = 1;  ///< blocks of each; divides `blocks`
  unsigned others = 0;   ///< threads of a block outside its first warp
};

/// Launches that follow each other on each GPU without waiting for others.
struct Scenario {
  int gpus;
  std::vector<Launch> launches;
  unsigned last_start = 0;    ///< barriers that the last block has told before
  unsigned leader_start = 0;  ///< barriers that a leader has told before
  bool late = true;           ///< announcements may land late
  bool orders = true;  ///< rounds have to make known what all wrote before
};

/// A thread of a launch on one GPU.
struct Thread {
  int launch, gpu;
  unsigned block, blocks, cluster;
  unsigned lane;      ///< its number in the block
  unsigned lanes;     ///< of the first warp
  int rounds_before;  ///< its launch
  unsigned cell;      ///< that it writes, one for each thread of a launch
};

struct Operation {
  enum Kind {
    kBegin,
    kEnter,
    kSyncBlock,
    kSyncWarp,
    kArriveCluster,  // at the barrier of hardware that a cluster has
    kWaitCluster,
    kLeave,
    kStore,
    kFenceGpu,
    kFenceSystem,  // up to here Steps::settle() takes them
    kLoad,
    kLoadLap,
    kAdd,       // to a counter; does not acquire
    kFetchAdd,  // an addition that acquires too; its result
    kWait,
    kReceive,  // a wait; its result is the value
    kGiveUp,
    kEnd
  };
  Kind kind;
  const unsigned* at = nullptr;
  unsigned value = 0;   // stored or added; or the round
  bool orders = false;  // releases (an addition, an arrival, a fence for its
                        // block), acquires (a wait)
  bool system = false;  // acquires from other GPUs, releases to them, too
  std::function<bool(unsigned)> done{};  // of a wait
};

/// Replays results, then stops the thread at the operation that comes next.
class Script {
 public:
  explicit Script(const std::vector<unsigned>& results) : results_(results) {}
  unsigned perform(Operation operation) {
    if (next_ < results_.size()) return results_[next_++];
    throw operation;
  }

 private:
  const std::vector<unsigned>& results_;
  std::size_t next_ = 0;
};

/// What Protocol runs on; what peer_grid_model_test.cpp plants derives from it.
template <unsigned kLinesOfLeader>
struct Machine {
  static constexpr unsigned kLines = kLinesOfLeader;
  using State = peer_grid::State<kLines>;
  Script* script;
  const Thread* self;
  State* states;  ///< of all GPUs, for their addresses

  void at(peer_grid::Step) {}
  void let_arrivals_land(unsigned, unsigned) {}
  unsigned thread() const { return self->lane; }
  unsigned lanes() const { return self->lanes; }
  unsigned block() const { return self->block; }
  unsigned blocks() const { return self->blocks; }
  void sync_block() { script->perform({Operation::kSyncBlock}); }
  void sync_warp() { script->perform({Operation::kSyncWarp}); }
  unsigned load(const unsigned* at) {
    return script->perform({Operation::kLoad, at});
  }
  unsigned load_lap(const unsigned* at) {
    return script->perform({Operation::kLoadLap, at});
  }
  void add_release(unsigned* at, unsigned value) {
    script->perform({Operation::kAdd, at, value, true});
  }
  bool completes(unsigned* at, unsigned value) {
    return script->perform({Operation::kFetchAdd, at, value, true}) %
               peer_grid::kLap ==
           0;
  }
  void fence_gpu() { script->perform({Operation::kFenceGpu}); }
  void fence_system() { script->perform({Operation::kFenceSystem}); }
  void store_system(unsigned* at, unsigned value) {
    script->perform({Operation::kStore, at, value});
  }
  template <class Done>
  void wait_gpu(const unsigned* at, Done done, peer_grid::Failure) {
    wait(at, done, true, false);
  }
  template <class Done>
  void wait_system(const unsigned* at, Done done, peer_grid::Failure) {
    wait(at, done, true, true);
  }
  template <class Done>
  void wait(const unsigned* at, Done done, bool acquires, bool system) {
    script->perform({Operation::kWait, at, 0, acquires, system, done});
  }
  void give_up(peer_grid::Failure) { script->perform({Operation::kGiveUp}); }
};

}  // namespace barrier_model
