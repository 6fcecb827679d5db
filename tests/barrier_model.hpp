// Tries every order in which the threads of a multi-GPU barrier can take their
// steps. The barrier is the one that GPUs run (peer_grid_barrier/protocol.hpp),
// on a machine whose memory operations are handed to the explorer here.
//
// How. A thread is deterministic, so what it does next follows from the results
// that its operations have had so far: the thread is run again from its start
// with these results until it asks for one more operation. So a state is the
// memory and, for each thread, its place in the tree of such results; it is
// kept as a hash of 128 bits, and every state that can be reached is visited
// once. Failed polls change nothing, so a wait is an operation that can be
// taken while its condition holds: a condition that can pass by unseen leaves a
// state in which nothing can be taken.
//
// Memory is weaker than program order in three ways. An announcement lands at
// any time after its store, those of different blocks in any order; the next
// release or fence of the block waits for it. What a block writes before a
// barrier is seen by its own GPU after the block's next release at GPU scope,
// and by other GPUs after the next fence at system scope of a block of its GPU.
// All of it has to be seen by all who leave the barrier. Loads are never late:
// a missing acquire is not found here, the order test on GPUs finds it.
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
  unsigned blocks;   ///< a GPU; kLines at least where a leader tells
  unsigned threads;  ///< a block, 1 to 32
  int rounds;        ///< barriers
};

/// Launches that follow each other on each GPU without waiting for others.
struct Scenario {
  int gpus;
  std::vector<Launch> launches;
  unsigned last_start = 0;    ///< barriers that the last block has told before
  unsigned leader_start = 0;  ///< barriers that a leader has told before
  bool late = true;           ///< announcements may land late
};

struct Place {
  int launch, gpu;
  unsigned block, blocks, lane, lanes;
};

struct Operation {
  enum Kind {
    kBegin,
    kEnter,
    kSyncBlock,
    kSyncWarp,
    kLeave,
    kStore,
    kFenceGpu,
    kFenceSystem,  // up to here settle() takes them
    kLoad,
    kLoadLap,
    kAdd,  // its result: does it complete the lap
    kWait,
    kGiveUp,
    kEnd
  };
  Kind kind;
  unsigned* at = nullptr;
  unsigned value = 0;                    // stored or added; or the round
  bool releases = false;                 // an addition
  std::function<bool(unsigned)> done{};  // of a wait
};

/// Of the operations that a schedule is told by.
inline constexpr const char* kNames[] = {
    "begins",  "enters",         "meets its block", "meets its warp",
    "leaves",  "'s store lands", "fences",          "fences",
    "loads",   "loads",          "arrives",         "has waited",
    "gives up"};

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

/// What Protocol runs on; faults derive from it.
template <unsigned kLinesOfLeader>
struct Machine {
  static constexpr unsigned kLines = kLinesOfLeader;
  using State = peer_grid::State<kLines>;
  Script* script;
  const Place* place;
  State* states;  ///< of all GPUs, for their addresses

  void at(peer_grid::Step) {}
  void let_arrivals_land(unsigned) {}
  unsigned thread() const { return place->lane; }
  unsigned lanes() const { return place->lanes; }
  unsigned block() const { return place->block; }
  unsigned blocks() const { return place->blocks; }
  void sync_block() { script->perform({Operation::kSyncBlock}); }
  void sync_warp() { script->perform({Operation::kSyncWarp}); }
  unsigned load(const unsigned* at) {
    return script->perform({Operation::kLoad, const_cast<unsigned*>(at)});
  }
  unsigned load_lap(const unsigned* at) {
    return script->perform({Operation::kLoadLap, const_cast<unsigned*>(at)});
  }
  void add_release(unsigned* at, unsigned value) {
    script->perform({Operation::kAdd, at, value, true});
  }
  bool completes(unsigned* at, unsigned value) {
    return script->perform({Operation::kAdd, at, value, true}) != 0;
  }
  void fence_gpu() { script->perform({Operation::kFenceGpu}); }
  void fence_system() { script->perform({Operation::kFenceSystem}); }
  void store_system(unsigned* at, unsigned value) {
    script->perform({Operation::kStore, at, value});
  }
  template <class Done>
  void wait_gpu(const unsigned* at, Done done, peer_grid::Failure) {
    script->perform(
        {Operation::kWait, const_cast<unsigned*>(at), 0, false, done});
  }
  template <class Done>
  void wait_system(const unsigned* at, Done done, peer_grid::Failure why) {
    wait_gpu(at, done, why);
  }
  void give_up(peer_grid::Failure) { script->perform({Operation::kGiveUp}); }
};

}  // namespace barrier_model
