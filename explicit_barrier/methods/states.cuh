// A barrier of blocks in the states in which programs have it. Rows of the bare
// barrier are of threads that arrive at once with nothing stored: the cheapest
// state for a fence, the dearest for a counter.
#pragma once

#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench {

/// The block whose words a block reads behind the barrier: the next one of its
/// cluster or grid, behind the last the first.
__host__ __device__ constexpr unsigned next_block(const Place& place,
                                                  Scope scope) {
  const unsigned count = scope == Scope::kCluster ? place.group : place.blocks;
  const unsigned first = place.block - place.block % count;
  return first + (place.block - first + 1) % count;
}

/// A barrier in use: every thread stores kWords words to global memory, all
/// meet, and each loads the words of the next thread of the next block. Two
/// buffers in turn: one that is written again has been read by all, as the
/// barrier of the other has passed since. `Memory` is where the words are.
template <class Barrier, int kWords, class Memory>
struct InUse : Barrier {
  static constexpr bool kInTestRepeat = false;
  static constexpr Scope kScope = Barrier::kAbout.scope;
  static constexpr long long global_words(long long threads) {
    return Memory::kOwn ? kWords * threads : 0;  // two buffers of half words
  }
  static __host__ __device__ constexpr unsigned stored(unsigned value,
                                                       unsigned block) {
    return value + block;
  }
  static unsigned expected(const Place& place) {
    Place other = place;
    other.thread = (place.thread + 1) % place.threads;
    other.block = next_block(place, kScope);
    return kWords * stored(start_value(other), other.block);
  }
  template <class Here>
  __device__ unsigned operator()(unsigned value, Here& here) {
    const unsigned threads = here.threads * here.blocks;
    const unsigned own = here.block * here.threads + here.thread;
    const unsigned other = next_block(here, kScope) * here.threads +
                           (here.thread + 1) % here.threads;
    unsigned* to = Memory::to(here) + turn * kWords * threads + own;
    const unsigned* from = Memory::from(here) + turn * kWords * threads + other;
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

inline constexpr char kLateCaution[] =
    "one warp is 2,048 cycles late, which no time of these rows has";

/// Who comes late: in turn one of `count`, of which a thread's warp is `index`.
struct Turns {
  unsigned count, index;
};

/// The first warp of one block after the other, or of one block each warp.
template <class Here>
__device__ Turns turns_of(Here& here, Scope scope) {
  constexpr unsigned kNever = ~0u;
  if (scope == Scope::kBlock) return {here.threads / 32, here.thread / 32};
  const unsigned count = scope == Scope::kCluster ? here.group : here.blocks;
  return {count, here.thread < 32 ? here.block % count : kNever};
}

/// A barrier to which one warp comes late, each time another one, by a chain of
/// float additions of 4 cycles each. The row is from its arrival until the warp
/// leaves that is late next, in the mean over those in turn.
template <class Barrier>
struct OneLate : Barrier {
  static constexpr bool kInTestRepeat = false;
  static constexpr int kAdditions = 512, kInLine = 64;
  static constexpr int kLateCycles = 4 * kAdditions;
  static constexpr int kMostInLine = 2;  // so many additions are a long line
  template <class Here>
  __device__ unsigned operator()(unsigned value, Here& here) {
    const Turns turns = turns_of(here, Barrier::kAbout.scope);
    if (turns.index == turn) {
#pragma unroll 1  // else too long for the SM's first cache of instructions
      for (int trip = 0; trip < kAdditions / kInLine; ++trip) {
#pragma unroll
        for (int i = 0; i < kInLine; ++i) {
          asm volatile("add.f32 %0, %0, %1;" : "+f"(sum) : "f"(zero));
        }
      }
      if (sum != zero) __trap();  // waits for the sum before the barrier
    }
    turn = turn + 1 == turns.count ? 0 : turn + 1;
    return Barrier::operator()(value, here);
  }
  static constexpr Work late_work(Work work) {
    work.others += kInLine + 48;
    return work;
  }
  unsigned turn = 0;
  float zero = static_cast<float>(threadIdx.y), sum = zero;
};

}  // namespace syncbench
