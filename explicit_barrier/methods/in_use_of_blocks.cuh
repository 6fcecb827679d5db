// A barrier of blocks as programs use it. Rows of the bare barrier are of
// threads that arrive at once with nothing stored: the cheapest state for a
// fence, the dearest for a counter.
#pragma once

#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench::explicit_barrier {

/// The block whose words a block reads behind the barrier: the next one of its
/// cluster or grid, behind the last the first.
__host__ __device__ constexpr unsigned next_block(const Position& position,
                                                  Scope scope) {
  const unsigned count = blocks_that_meet(scope, position);
  const unsigned first = position.block - position.block % count;
  return first + (position.block - first + 1) % count;
}

/// A barrier in use: every thread stores kWords words to global memory, all
/// meet, and each loads the words of the next thread of the next block. Two
/// buffers in turn: one that is written again has been read by all, as the
/// barrier of the other has passed since. `Memory` is where the words are.
template <class Barrier, int kWords, class Memory>
struct InUse : Barrier {
  static constexpr void describe(About& about) {
    Barrier::describe(about);
    about.first_toolkit = 12000;
    about.meets_too = true;
    about.expected = [](const Position& position, const Values& before) {
      Position other = position;
      other.thread = (position.thread + 1) % position.threads;
      other.block = next_block(position, kScope);
      return kWords * stored(before(other), other.block);
    };
  }
  static constexpr Scope kScope = kAbout<Barrier>.scope;
  static constexpr long long global_words(long long threads) {
    return Barrier::global_words(threads) +
           (Memory::kOwn ? kWords * threads : 0);  // two buffers of half words
  }
  static __host__ __device__ constexpr unsigned stored(unsigned value,
                                                       unsigned block) {
    return value + block;
  }
  template <class Here>
  __device__ unsigned operator()(unsigned value, Here& here) {
    const unsigned threads = here.threads * here.blocks;
    const unsigned own = here.block * here.threads + here.thread;
    const unsigned other = next_block(here, kScope) * here.threads +
                           (here.thread + 1) % here.threads;
    // Behind those of the barrier.
    const unsigned first =
        (Memory::kOwn ? 2 * Barrier::global_words(threads) : 0) +
        turn * kWords * threads;
    unsigned* to = Memory::to(here) + first + own;
    const unsigned* from = Memory::from(here) + first + other;
    value = stored(value, here.block);
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      asm volatile("st.global.u32 [%0], %1;" ::"l"(to + i * threads), "r"(value)
                   : "memory");
    }
    Barrier::operator()(value, here);
    unsigned words[kWords];
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      asm volatile("ld.global.u32 %0, [%1];"
                   : "=r"(words[i])
                   : "l"(from + i * threads)
                   : "memory");
    }
    turn ^= 1;
    value = 0;
    for (int i = 0; i < kWords; ++i) value += words[i];
    return value;
  }
  unsigned turn = 0;
  using Barrier::Barrier;
};

/// The words are in the method's global memory, on the same GPU.
struct OnThisGpu {
  static constexpr bool kOwn = true;
  template <class Here>
  static __device__ unsigned* to(Here& here) {
    return reinterpret_cast<unsigned*>(here.global);
  }
  template <class Here>
  static __device__ const unsigned* from(Here& here) {
    return to(here);
  }
};

}  // namespace syncbench::explicit_barrier
