// peer_grid_sync: a barrier of all threads of one kernel on each of several
// GPUs, over peer memory. It replaces cooperative groups' multi-grid barrier,
// which CUDA 13 removed. Of this suite it needs what it includes, headers only.
//
//   PeerGridBarrierSet barriers({0, 1, 2, 3});       // once, on the host
//   kernel<<<cooperative, on GPU devices[rank]>>>(barriers.on_rank(rank), ...);
//   __global__ void kernel(PeerGridBarrier barrier, ...) { barrier.sync(); }
//
// Memory order: what any thread wrote before sync(), to memory of any of the
// GPUs, every thread of all GPUs reads after it. Every block that is launched
// has to be resident (cooperative launch), all kernels have to run at the same
// time (one host thread a GPU launches them), and every block calls sync() the
// same number of times. A kernel's first launch on a GPU may allocate memory
// and wait for the other GPUs: launch it once on each, without a sync(), before
// they run together. Any number of blocks and any block shape will do; the
// number is the same on all GPUs. Both may change between launches, and nothing
// is reset between uses. One set serves one kernel a GPU at a time.
//
// How it works. Fences decide the price (about 800 cycles each on H200), so
// there are as few as possible, and so does crowding at one address:
//  * flat, on one GPU: every block adds to a counter with release and polls it
//    with acquire. One fence. The first poll waits until the arrivals, which it
//    would hold up, have landed.
//  * last block tells, on several GPUs: the last block to add to the counter,
//    which has acquired what the others released, makes the only fence at
//    system scope and announces the epoch in the memory of every GPU.
//    Blocks poll their own GPU's memory, one word for each GPU.
//  * leader tells, for many blocks: they arrive on 32 counters, which only one
//    leading block polls; it announces on 32 lines, over which the blocks
//    spread.
// An arrival adds 1 to a counter, one of them adds so much more that a complete
// barrier adds kLap. A waiting block knows what it waits for to the bit: nobody
// can go past the barrier that it has not left. So it compares for equality,
// and epochs may wrap around.
#pragma once

#include <cuda_runtime.h>

#include "explicit_barrier/peer_grid_memory.cuh"

namespace syncbench {

/// What tests vary: either half of the memory order, and how long to wait.
struct PeerGridTraits {
  static constexpr bool kRelease = true;
  static constexpr bool kAcquire = true;
  static constexpr long long kSpinLimit = 0;  ///< cycles; 0: no limit
};

/// One GPU's end of the barrier; a kernel argument, passed by value.
template <class Traits = PeerGridTraits>
class BasicPeerGridBarrier {
 public:
  /// The barrier. Called by all threads of all blocks of all GPUs of the set.
  __device__ void sync() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
    __trap();  // the host refuses such GPUs: they lack scoped memory order
#else
    const unsigned thread = linear(threadIdx, blockDim);
    __syncthreads();
    if (thread < 32) {
      if (!known_) learn();
      ++epoch_;
      if (crowded_) {
        sync_by_leader(thread);
      } else if (peer_count_ > 1) {
        sync_by_last(thread);
      } else if (thread == 0) {
        sync_flat();
      }
    }
    __syncthreads();
#endif
  }

 private:
  friend class PeerGridBarrierSet;

  // What stays the same during a kernel, and the epoch at its start. Until this
  // block has arrived no barrier can complete, so what is read here holds
  // still: the lap of the counter that it arrives on, the epoch of its own GPU.
  // From then on they are counted, and nobody waits for an addition's old
  // value.
  __device__ void learn() {
    constexpr unsigned kLines = peer_grid::kLines;
    const unsigned block = linear(blockIdx, gridDim);
    const unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
    known_ = true;
    leads_ = block == 0;
    crowded_ = blocks > crowd_;
    line_ = crowded_ ? block % kLines : 0;
    counter_ = crowded_ ? &own_->counters[line_].value : &own_->counter.value;
    const unsigned member = crowded_ ? block / kLines : block;
    const unsigned members =
        crowded_ ? blocks / kLines + (line_ < blocks % kLines) : blocks;
    // What the members add comes to kLap.
    amount_ = member == 0 ? peer_grid::kLap - (members - 1) : 1;
    first_poll_ = kFirstPoll + blocks * kFirstPollPerBlock / 64;
    lap_ = peer_grid::load_relaxed_gpu(counter_) / peer_grid::kLap;
    epoch_ = peer_grid::load_relaxed_gpu(&own_->announced[0].epoch[rank_]);
  }

  __device__ void sync_flat() {
    ++lap_;
    arrive();
    const unsigned arrived = clock();
    while (static_cast<unsigned>(clock()) - arrived < first_poll_) {
    }
    wait_for_lap(counter_);
  }

  __device__ void sync_by_last(unsigned lane) {
    if (lane == 0) {
      const unsigned old = Traits::kRelease
                               ? peer_grid::add_acq_rel_gpu(counter_, amount_)
                               : atomicAdd(counter_, amount_);
      if ((old + amount_) % peer_grid::kLap == 0) announce(0);
    }
    wait_for_announcements(lane);
  }

  __device__ void sync_by_leader(unsigned lane) {
    ++lap_;
    if (lane == 0) arrive();
    if (leads_) {
      const unsigned lanes = __popc(warp_mask());
      for (unsigned i = lane; i < peer_grid::kLines; i += lanes) {
        wait_for_lap(&own_->counters[i].value);
      }
      __syncwarp(warp_mask());  // what one lane acquired, all may pass on
      for (unsigned i = lane; i < peer_grid::kLines; i += lanes) announce(i);
    }
    wait_for_announcements(lane);
  }

  __device__ void announce(unsigned line) {
    if (Traits::kRelease) {
      if (peer_count_ > 1) {
        peer_grid::fence_acq_rel_sys();
      } else {
        peer_grid::fence_acq_rel_gpu();
      }
    }
#pragma unroll  // with constant indices the pointers need no stack
    for (int peer = 0; peer < kMaxPeers; ++peer) {
      if (peer >= peer_count_) break;
      peer_grid::store_relaxed_sys(&memory_[peer]->announced[line].epoch[rank_],
                                   epoch_);
    }
  }

  // Each lane waits for other GPUs; blocks may be smaller than their number.
  __device__ void wait_for_announcements(unsigned lane) const {
    const unsigned* epochs = own_->announced[line_].epoch;
    if (peer_count_ == 1) {
      if (lane == 0) {
        spin([&] { return load_gpu(epochs) == epoch_; });
      }
      return;
    }
    const int lanes = __popc(warp_mask());
    for (int peer = static_cast<int>(lane); peer < peer_count_; peer += lanes) {
      spin([&] { return load_sys(epochs + peer) == epoch_; });
    }
  }

  __device__ void wait_for_lap(const unsigned* counter) const {
    spin([&] {
      return load_gpu(counter) / peer_grid::kLap == lap_ % peer_grid::kLap;
    });
  }

  // A test bounds the wait: after kSpinLimit cycles the kernel is aborted.
  template <class Done>
  __device__ static void spin(Done done) {
    const long long start = Traits::kSpinLimit > 0 ? clock64() : 0;
    while (!done()) {
      if (Traits::kSpinLimit > 0 && clock64() - start > Traits::kSpinLimit) {
        __trap();
      }
    }
  }

  __device__ void arrive() const {
    if (Traits::kRelease) {
      peer_grid::add_release_gpu(counter_, amount_);
    } else {
      atomicAdd(counter_, amount_);
    }
  }

  __device__ static unsigned load_gpu(const unsigned* at) {
    return Traits::kAcquire ? peer_grid::load_acquire_gpu(at)
                            : peer_grid::load_relaxed_gpu(at);
  }

  __device__ static unsigned load_sys(const unsigned* at) {
    return Traits::kAcquire ? peer_grid::load_acquire_sys(at)
                            : peer_grid::load_relaxed_gpu(at);
  }

  __device__ static unsigned linear(uint3 index, dim3 size) {
    return index.x + size.x * (index.y + size.y * index.z);
  }

  // The threads of the first warp.
  __device__ static unsigned warp_mask() {
    const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    return threads >= 32 ? 0xffffffffu : (1u << threads) - 1;
  }

  // Cycles until the first poll of a flat barrier, measured on H200: fewer, and
  // polls slow the arrivals; more, and they come late.
  static constexpr unsigned kFirstPoll = 200;
  static constexpr unsigned kFirstPollPerBlock = 60;  // in 64ths

  peer_grid::Memory* own_ = nullptr;
  peer_grid::Memory* memory_[kMaxPeers] = {};  // of each rank
  int rank_ = 0;
  int peer_count_ = 0;
  unsigned crowd_ = 0;  // more blocks than this need a leader

  // The rest lives in registers, from the first sync() of a kernel on.
  bool known_ = false;
  bool leads_ = false;
  bool crowded_ = false;
  unsigned line_ = 0;
  unsigned* counter_ = nullptr;
  unsigned amount_ = 0;
  unsigned first_poll_ = 0;
  unsigned lap_ = 0;    // of counter_
  unsigned epoch_ = 0;  // of this GPU
};

using PeerGridBarrier = BasicPeerGridBarrier<>;

}  // namespace syncbench

#include "explicit_barrier/peer_grid_barrier_host.hpp"
