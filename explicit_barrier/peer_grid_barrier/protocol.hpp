// SPDX-License-Identifier: MIT
// How the blocks of several GPUs meet: the barrier itself, without the machine
// that it runs on. barrier.cuh runs it on GPUs; a test without a GPU hands its
// memory operations to a scheduler that tries every order of them. It is the
// same source, so neither can change without the other.
//
// There are three ways to meet. Fences decide what a barrier costs, so there
// are as few as possible; crowding at one address is the next largest cost.
//  * Flat, on one GPU: every block adds to one counter (release) and polls it
//    (acquire).
//  * Last tells, on several GPUs: the block that completes its GPU's counter
//    (acquire and release) announces that to every GPU; all blocks poll the
//    announcements in the memory of their own GPU (acquire).
//  * Leader tells, for many blocks: they arrive on kLines counters (release),
//    which block 0 alone polls (acquire); it announces on kLines lines, over
//    which the polling blocks spread.
//
// Why nobody waits for ever, and nobody passes early:
//  * A counter cannot complete the next barrier before everyone who waits for
//    this one has seen it: flat, they have to arrive again themselves; where a
//    leader tells, nobody arrives again before it has. So its lap is compared
//    for equality.
//  * An announcement can be one barrier ahead of a block that reads it late:
//    GPU B announces barrier n + 1 when all its blocks have arrived there, for
//    which they need the announcement of n by GPU A, not that every block of A
//    has read B's. It cannot be two ahead: for that B needs A's announcement of
//    n + 1, in which the late block takes part. So a block waits for either n
//    or its successor.
//  * Each way to meet has announcements of its own, all of them written by each
//    of its barriers, so none is ever older than one barrier, and numbers may
//    wrap around.
//
// Memory order: what any thread wrote before the barrier, every thread of all
// GPUs reads after it. The chain, with the lines of sync() that make it; each
// pair of release and acquire is at the scope that both sides share:
//  1. thread -> first warp of its block: sync_block().
//  2. block -> whoever completes its GPU: add_release or completes(), an
//     addition to the counter (GPU scope), read by wait_gpu (leader, flat) or
//     by the last completes(), which acquires from all before it, because
//     additions to one counter form one release sequence.
//  3. leader's lanes -> the lane that announces: sync_warp().
//  4. GPU -> GPU: fence_system() followed by store_system() (release pattern,
//     system scope), read by wait_system (acquire, system scope). On one GPU
//     fence_gpu() and wait_gpu.
//  5. first warp -> thread: sync_block().
// Two announcements to one address stay in order, though different blocks may
// make them: whoever announces n arrives for n + 1 after that (step 2), and
// whoever announces n + 1 has acquired that arrival, so the first store happens
// before the second.
#pragma once

#include <cuda_runtime_api.h>

namespace peer_grid {

inline constexpr int kMaxGpus = 16;         ///< of one barrier
inline constexpr unsigned kLap = 1u << 16;  ///< above the blocks of any GPU

/// Where a test may hold a thread up.
enum class Step { kBeforeArrival, kBeforeFirstPoll, kBetweenPolls, kLeaving };

/// The way in which the blocks meet, chosen by their number.
enum class Meeting : int { kFlat, kLastTells, kLeaderTells };

/// Why a block gave up: its own GPU's blocks or another GPU did not come, or
/// the grid has another number of blocks than the barrier was made for.
enum class Reason : unsigned { kNone, kOwnBlocks, kOtherGpu, kBlockCount };

/// What a block that gave up leaves for the host: a word, so that it is whole
/// whenever it is read. Bits: reason 4, whom 28, barrier 32.
using Failure = unsigned long long;

/// `whom`: the rank that did not come, or the blocks that were launched.
/// `barrier`: its number in this kernel, from 1; 0 before the first.
__device__ inline Failure failure_of(Reason reason, unsigned whom,
                                     unsigned barrier) {
  return static_cast<Failure>(reason) << 60 |
         static_cast<Failure>(whom & 0xfffffff) << 32 | barrier;
}

struct alignas(128) Counter {
  unsigned value;
};

/// The last barrier that each GPU has announced to the owner of the line.
struct alignas(128) Announcements {
  unsigned barrier[kMaxGpus];
};

/// What one GPU holds, all zero at first. Peers write their word of each line
/// of announcements; all else is the GPU's own. An arrival adds 1 to a counter
/// and one arrival so much more that a complete barrier adds kLap.
template <unsigned kLinesOfLeader>
struct State {
  static constexpr unsigned kLines = kLinesOfLeader;
  Counter counter;           ///< of all blocks
  Counter counters[kLines];  ///< of every kLines-th block
  Announcements by_leader[kLines];
  Announcements by_last;
};

/// What one GPU's kernel is given.
template <unsigned kLines>
struct End {
  State<kLines>* of_rank[kMaxGpus] = {};
  State<kLines>* own = nullptr;  ///< of_rank[rank]
  int rank = 0;
  int gpus = 1;
  unsigned blocks = 0;  ///< of the kernel on each GPU; kLines at least where a
                        ///< leader tells
  Meeting meeting = Meeting::kFlat;
};

/// The argument of a GPU's kernel, from which its threads make their Barrier.
template <class Machine>
struct BasicBarrierEnd {
  End<Machine::kLines> end;
  Machine machine;
};

/// Each GPU announces a barrier's number. One GPU may have got to the next.
struct Announced {
  unsigned number;
  __device__ bool operator()(unsigned seen) const { return seen - number <= 1; }
};

/// The lap of a counter, which cannot get to the next while somebody waits.
struct LapDone {
  unsigned lap;
  __device__ bool operator()(unsigned seen) const {
    return seen / kLap == lap % kLap;
  }
};

/// One thread's view of the barrier. `Machine` supplies the position of the
/// thread and the operations that sync() uses.
template <class Machine>
class Protocol {
 public:
  static constexpr unsigned kLines = Machine::kLines;

  __device__ explicit Protocol(const End<kLines>& end) : end_(end) {}

  /// Reads what stays the same during a kernel, and which barrier the last one
  /// was. Called by the first warp before the first sync(): the state holds
  /// still until this block has arrived.
  __device__ void learn(Machine machine) {
    if (machine.blocks() != end_.blocks) {
      machine.give_up(failure_of(Reason::kBlockCount, machine.blocks(), 0));
    }
    State<kLines>& own = *end_.own;
    const bool many = end_.meeting == Meeting::kLeaderTells;
    line_ = many ? machine.block() % kLines : 0;
    counter_ = many ? &own.counters[line_].value : &own.counter.value;
    announced_ = many ? own.by_leader[line_].barrier : own.by_last.barrier;
    const unsigned member = many ? machine.block() / kLines : machine.block();
    const unsigned members =
        many ? end_.blocks / kLines + (line_ < end_.blocks % kLines)
             : end_.blocks;
    amount_ = member == 0 ? kLap - (members - 1) : 1;
    lap_ = machine.load_lap(counter_);
    number_ = machine.load(announced_ + end_.rank);
  }

  /// Called by all threads of all blocks of all GPUs, each as often.
  __device__ void sync(Machine machine) {
    machine.sync_block();
    const unsigned lane = machine.thread();
    if (lane < 32) {
      ++count_;
      ++number_;
      ++lap_;
      if (end_.meeting == Meeting::kFlat) {
        if (lane == 0) sync_flat(machine);
      } else {
        if (end_.meeting == Meeting::kLastTells) {
          tell_by_last(machine, lane);
        } else {
          tell_by_leader(machine, lane);
        }
        machine.at(Step::kBeforeFirstPoll);
        wait_for_announcements(machine, lane);
      }
      machine.at(Step::kLeaving);
    }
    machine.sync_block();
  }

 private:
  __device__ void sync_flat(Machine machine) {
    machine.at(Step::kBeforeArrival);
    machine.add_release(counter_, amount_);
    machine.at(Step::kBeforeFirstPoll);
    machine.let_arrivals_land(end_.blocks, 1);
    wait_for_lap(machine, counter_);
  }

  __device__ void tell_by_last(Machine machine, unsigned lane) {
    if (lane == 0) {
      machine.at(Step::kBeforeArrival);
      if (machine.completes(counter_, amount_)) {
        machine.fence_system();
        announce(machine, [](State<kLines>& state) -> Announcements& {
          return state.by_last;
        });
      }
    }
  }

  __device__ void tell_by_leader(Machine machine, unsigned lane) {
    if (lane == 0) {
      machine.at(Step::kBeforeArrival);
      machine.add_release(counter_, amount_);
    }
    if (machine.block() == 0) {
      machine.let_arrivals_land(end_.blocks, kLines);
      for (unsigned i = lane; i < kLines; i += machine.lanes()) {
        wait_for_lap(machine, &end_.own->counters[i].value);
      }
      machine.sync_warp();
      if (end_.gpus > 1) {
        machine.fence_system();
      } else {
        machine.fence_gpu();
      }
      for (unsigned i = lane; i < kLines; i += machine.lanes()) {
        announce(machine, [i](State<kLines>& state) -> Announcements& {
          return state.by_leader[i];
        });
      }
    }
  }

  template <class LineOf>
  __device__ void announce(Machine machine, LineOf line_of) {
#pragma unroll  // with constant indices the pointers need no stack
    for (int gpu = 0; gpu < kMaxGpus; ++gpu) {
      if (gpu >= end_.gpus) break;
      machine.store_system(&line_of(*end_.of_rank[gpu]).barrier[end_.rank],
                           number_);
    }
  }

  // Each lane waits for other GPUs; blocks may be smaller than their number.
  __device__ void wait_for_announcements(Machine machine, unsigned lane) const {
    const int gpus = end_.gpus;
    if (gpus == 1) {
      return machine.wait_gpu(announced_, Announced{number_},
                              failure_of(Reason::kOwnBlocks, 0, count_));
    }
    for (int gpu = static_cast<int>(lane); gpu < gpus;
         gpu += static_cast<int>(machine.lanes())) {
      const Reason reason =
          gpu == end_.rank ? Reason::kOwnBlocks : Reason::kOtherGpu;
      machine.wait_system(announced_ + gpu, Announced{number_},
                          failure_of(reason, gpu, count_));
    }
  }

  __device__ void wait_for_lap(Machine machine, const unsigned* counter) const {
    machine.wait_gpu(counter, LapDone{lap_},
                     failure_of(Reason::kOwnBlocks, 0, count_));
  }

  End<kLines> end_;

  // In registers.
  unsigned line_ = 0;
  unsigned* counter_ = nullptr;
  const unsigned* announced_ = nullptr;  // by each GPU, on this block's line
  unsigned amount_ = 0;                  // that this block adds to its counter
  unsigned lap_ = 0;                     // of the counter
  unsigned number_ = 0;                  // of the barrier, in announcements
  unsigned count_ = 0;                   // barriers of this kernel
};

}  // namespace peer_grid
