// The machine that the barriers of protocols.hpp run on: a thread of a GPU,
// with the scoped memory operations of PTX (sm_70 and later).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace grid_barriers {

/// The memory order of a barrier: none; that of __threadfence() before a store
/// or an addition, and of no wait; of each store, addition and wait.
enum class Order { kNone, kFences, kReleaseAcquire };

template <Order kOrder>
struct GpuMachine {
  using Count = unsigned long long;
  /// Seconds: a block is gone, and the kernel ends with an error.
  static constexpr unsigned kMostPolls = 1 << 22;

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
  __device__ static std::size_t global(const void* at) {
    return __cvta_generic_to_global(at);
  }

  __device__ static unsigned load(const unsigned* at) {
    unsigned value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
                 : "=r"(value)
                 : "l"(global(at))
                 : "memory");
    return value;
  }
  __device__ static Count load(const Count* at) {
    Count value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                 : "=l"(value)
                 : "l"(global(at))
                 : "memory");
    return value;
  }

  /// Without order.
  __device__ static void set(unsigned* at, unsigned value) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(global(at)),
                 "r"(value)
                 : "memory");
  }
  __device__ static void store(unsigned* at, unsigned value) {
    if constexpr (kOrder == Order::kReleaseAcquire) {
      asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(global(at)),
                   "r"(value)
                   : "memory");
    } else {
      if constexpr (kOrder == Order::kFences) __threadfence();
      set(at, value);
    }
  }

  __device__ static void arrive(Count* at, Count value) {
    if constexpr (kOrder == Order::kReleaseAcquire) {
      asm volatile("red.release.gpu.global.add.u64 [%0], %1;" ::"l"(global(at)),
                   "l"(value)
                   : "memory");
    } else {
      if constexpr (kOrder == Order::kFences) __threadfence();
      asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(global(at)),
                   "l"(value)
                   : "memory");
    }
  }

  /// The value before.
  __device__ static unsigned fetch_add(unsigned* at, unsigned value) {
    unsigned old;
    if constexpr (kOrder == Order::kReleaseAcquire) {
      asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"
                   : "=r"(old)
                   : "l"(global(at)), "r"(value)
                   : "memory");
    } else {
      if constexpr (kOrder == Order::kFences) __threadfence();
      asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;"
                   : "=r"(old)
                   : "l"(global(at)), "r"(value)
                   : "memory");
    }
    return old;
  }

  /// Until `done(value)` of what `at` holds.
  template <class Word, class Done>
  __device__ static void wait(const Word* at, Done done) {
    for (unsigned polls = 0; !done(poll(at)); ++polls) {
      if (polls == kMostPolls) __trap();
    }
  }

 private:
  template <class Word>
  __device__ static Word poll(const Word* at) {
    if constexpr (kOrder == Order::kReleaseAcquire) {
      return load_acquire(at);
    } else {
      return load(at);
    }
  }
  __device__ static unsigned load_acquire(const unsigned* at) {
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                 : "=r"(value)
                 : "l"(global(at))
                 : "memory");
    return value;
  }
  __device__ static Count load_acquire(const Count* at) {
    Count value;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];"
                 : "=l"(value)
                 : "l"(global(at))
                 : "memory");
    return value;
  }
};

}  // namespace grid_barriers
