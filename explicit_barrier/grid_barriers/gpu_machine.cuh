// The machine that the barriers of protocols.hpp run on: a thread of a GPU,
// with the scoped memory operations of PTX (sm_70 and later).
#pragma once

#include <cuda_runtime.h>

#include "common/bounded_wait.cuh"
#include "peer_grid_barrier/scoped_memory.cuh"

namespace grid_barriers {

/// The memory order of a barrier: none; that of __threadfence() before a store
/// or an addition, and of no wait; of each store, addition and wait.
enum class Order { kNone, kFences, kReleaseAcquire };

template <Order kOrder, class CountType = unsigned long long>
struct GpuMachine {
  using Count = CountType;

  __device__ static unsigned thread() { return threadIdx.x; }
  __device__ static unsigned threads() { return blockDim.x; }
  __device__ static unsigned block() { return blockIdx.x; }
  __device__ static unsigned blocks() { return gridDim.x; }
  __device__ static unsigned sms() {
    unsigned sms;
    asm("mov.u32 %0, %%nsmid;" : "=r"(sms));
    return sms;
  }

  __device__ static void sync_block() { __syncthreads(); }
  /// Between two others, at another barrier of the block: so the machine-code
  /// test can tell them apart.
  __device__ static void sync_block_between() {
    asm volatile("barrier.sync 1;" ::: "memory");
  }

  __device__ static unsigned clusters() {
    unsigned clusters = 1;
#if __CUDA_ARCH__ >= 900
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(clusters));
#endif
    return clusters;
  }
  __device__ static bool leads_cluster() {
    unsigned rank = 0;
#if __CUDA_ARCH__ >= 900
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
    return rank == 0 && threadIdx.x == 0;
  }
  /// With release.
  __device__ static void arrive_cluster() {
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
#endif
  }
  /// With acquire.
  __device__ static void wait_cluster() {
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
#endif
  }

  // The words are in global memory, and additions whose result nobody reads are
  // compiled to RED there alone, as the published atomicAdd() is.
  using Memory = peer_grid::global::Gpu;
  template <class Word>
  __device__ static Word* global(Word* at) {
    return reinterpret_cast<Word*>(__cvta_generic_to_global(at));
  }

  template <class Word>
  __device__ static Word load(const Word* at) {
    return Memory::load_relaxed(global(at));
  }

  /// Without order.
  __device__ static void set(unsigned* at, unsigned value) {
    Memory::store_relaxed(global(at), value);
  }
  __device__ static void store(unsigned* at, unsigned value) {
    if constexpr (kOrder == Order::kReleaseAcquire) {
      Memory::store_release(global(at), value);
    } else {
      if constexpr (kOrder == Order::kFences) __threadfence();
      Memory::store_relaxed(global(at), value);
    }
  }

  __device__ static void arrive(Count* at, Count value) {
    if constexpr (kOrder == Order::kReleaseAcquire) {
      Memory::add_release(global(at), value);
    } else {
      if constexpr (kOrder == Order::kFences) __threadfence();
      Memory::add_relaxed(global(at), value);
    }
  }

  /// The value before.
  __device__ static unsigned fetch_add(unsigned* at, unsigned value) {
    if constexpr (kOrder == Order::kReleaseAcquire) {
      return Memory::fetch_add_acq_rel(global(at), value);
    } else {
      if constexpr (kOrder == Order::kFences) __threadfence();
      return Memory::fetch_add_relaxed(global(at), value);
    }
  }

  /// Until `done(value)` of what `at` holds. Who waits for seconds ends the
  /// kernel with an error: a block is gone.
  template <class Word, class Done>
  __device__ static void wait(const Word* at, Done done) {
    syncbench::poll_or_trap([at, done] { return done(poll(at)); });
  }

 private:
  template <class Word>
  __device__ static Word poll(const Word* at) {
    if constexpr (kOrder == Order::kReleaseAcquire) {
      return Memory::load_acquire(global(at));
    } else {
      return Memory::load_relaxed(global(at));
    }
  }
};

/// As Xiao and Feng published it (IPDPS 2010, Figure 5): a volatile counter of
/// 32 bits, which a thread polls as if other GPUs changed it, too.
struct XiaoFengMachine : GpuMachine<Order::kNone, unsigned> {
  /// What the kernels before have counted. Ends this kernel, which may count
  /// so many more, with an error where the counter might wrap around.
  __device__ static unsigned load(const unsigned* at) {
    constexpr unsigned kMostOfKernel = 1u << 24;
    const unsigned counted = GpuMachine::load(at);
    if (counted > ~kMostOfKernel) __trap();
    return counted;
  }
  template <class Done>
  __device__ static void wait(const unsigned* at, Done done) {
    syncbench::poll_or_trap([at, done] {
      return done(peer_grid::global::System::load_relaxed(global(at)));
    });
  }
};

}  // namespace grid_barriers
