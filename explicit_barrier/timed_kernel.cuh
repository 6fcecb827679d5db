// The one kernel that times any in-kernel method, and the list of its
// instances.
#pragma once

#include <type_traits>
#include <typeinfo>

#include "common/device_clock.cuh"
#include "common/full_sm.cuh"
#include "explicit_barrier/method_entry.hpp"

namespace syncbench::explicit_barrier {

/// What PTX takes for the address of something in shared memory.
__device__ inline unsigned shared_address(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

/// kRepeats (a power of two) operations, one after the other without a loop;
/// beyond About::most_in_line, rounds of half that many.
template <int kRepeats, class Method, class Here>
__device__ __forceinline__ typename Method::Value repeat(
    Method& method, typename Method::Value value, Here& here) {
  static_assert(kRepeats > 0 && (kRepeats & (kRepeats - 1)) == 0);
  if constexpr (kRepeats == 1) {
    return method(value, here);
  } else if constexpr (kRepeats > kAbout<Method>.most_in_line) {
    constexpr int kRound = kAbout<Method>.most_in_line / 2;
#pragma unroll 1
    for (int round = 0; round < kRepeats / kRound; ++round) {
      value = repeat<kRound>(method, value, here);
    }
    return value;
  } else {  // halves: #pragma unroll gives up on what becomes long
    value = repeat<kRepeats / 2>(method, value, here);
    return repeat<kRepeats / 2>(method, value, here);
  }
}

/// A method, made of what it finds where it has such a constructor.
template <class Method, class Here>
__device__ __forceinline__ Method made(Here& here) {
  if constexpr (std::is_constructible_v<Method, Here&>) {
    return Method(here);
  } else {
    return Method();  // never a copy, whose destructor would be a second one
  }
}

/// Makes `count` trips round the body of kRepeats operations and records the
/// clock before the first that is timed and after the last one. Trips that are
/// not timed bring the body into the instruction cache.
template <class Method, int kRepeats, class Here>
__device__ __forceinline__ typename Method::Value time_trips(
    int count, int first_timed, Here& here, typename Method::Value value,
    WarpRecord& record) {
  auto method = made<Method>(here);
#pragma unroll 1
  for (int trip = 0; trip < count; ++trip) {
    asm volatile("" : "+r"(trip));  // else the loop may be split at first_timed
    if (trip == first_timed) record.start = read_sm_clock();
    value = repeat<kRepeats>(method, value, here);
  }
  record.end = read_sm_clock();
  return value;
}

/// Where the calling thread's warp writes, of one record a warp of the grid.
__device__ inline WarpRecord& record_of_warp(WarpRecord* records) {
  const unsigned warps_per_block = (blockDim.x + 31) / 32;
  return records[blockIdx.x * warps_per_block + threadIdx.x / 32];
}

/// body(here, value) with what operations of the calling thread find, before
/// the first; nothing on architectures and of toolkits without the method.
template <class Method, class Body>
__device__ __forceinline__ void with_state(
    unsigned group, unsigned long long* global,
    const typename Method::Argument& argument, Body body) {
#ifdef __CUDA_ARCH__
  if constexpr (__CUDA_ARCH__ >= 10 * kAbout<Method>.first_architecture &&
                CUDART_VERSION >= kAbout<Method>.first_toolkit) {
    using Shared = typename Method::Shared;
    __shared__ Shared shared;
    using Local = typename Method::Local;
    Here<Shared, Local> here = {
        {threadIdx.x, blockDim.x, blockIdx.x, gridDim.x, group},
        shared,
        global,
        Local(argument)};
    if constexpr (!std::is_empty_v<Shared>) {
      Method::start(shared, here);
      __syncthreads();
    }
    body(here, static_cast<typename Method::Value>(start_value(here)));
  }
#endif
}

/// Writes one record a warp of the grid, with end 0 where none of its threads
/// takes part. `results` gets the last value of every thread of the grid; null
/// in all launches that are timed, but the compiler cannot know, so every
/// result stays alive. `global` and `argument` as the method asked for them.
/// Results come last: what follows the loop moves registers in it.
template <class Method, int kRepeats>
__device__ __forceinline__ void time_method(
    int count, int first_timed, unsigned group, WarpRecord* records,
    unsigned* results, unsigned long long* global,
    const typename Method::Argument& argument) {
  with_state<Method>(group, global, argument, [&](auto& here, auto value) {
    if (results != nullptr) Method::before_check(here);
    WarpRecord record = {};
    if (Method::takes_part(here)) {
      value =
          time_trips<Method, kRepeats>(count, first_timed, here, value, record);
    } else {
      Method::meanwhile(here);
    }
    if (threadIdx.x % 32 == 0) {
      record.sm = read_sm_id();
      record_of_warp(records) = record;
    }
    if (results != nullptr)
      results[blockIdx.x * blockDim.x + threadIdx.x] =
          static_cast<unsigned>(value);
  });
}

template <class Method, int kRepeats>
__global__ void __launch_bounds__(1024, kFullBlocksPerSm)
    timed_kernel(int count, int first_timed, unsigned group,
                 WarpRecord* records, unsigned* results,
                 unsigned long long* global,
                 typename Method::Argument argument) {
  time_method<Method, kRepeats>(count, first_timed, group, records, results,
                                global, argument);
}

/// The same with the size of its clusters in the code; empty where compilers
/// refuse that.
template <class Method, int kRepeats>
__global__ void __launch_bounds__(1024, kFullBlocksPerSm)
#if CUDART_VERSION >= 12000 && __CUDA_ARCH__ >= 900
    __cluster_dims__(kAbout<Method>.cluster_dims)
#endif
        timed_kernel_of_clusters(int count, int first_timed, unsigned group,
                                 WarpRecord* records, unsigned* results,
                                 unsigned long long* global,
                                 typename Method::Argument argument) {
  time_method<Method, kRepeats>(count, first_timed, group, records, results,
                                global, argument);
}

/// Reads the SM clock until so many cycles have passed.
__device__ inline void wait_cycles(int cycles) {
  const long long start = read_sm_clock();
  while (read_sm_clock() - start < cycles) continue;
}

/// Both words, or the low one. Adding the sign, which is never set, makes the
/// compiler read both by CS2R; for one it may take S2UR, which is slow.
template <class Cycles>
__device__ __forceinline__ Cycles read_sm_clock_as() {
  const long long cycles = read_sm_clock();
  if constexpr (sizeof(Cycles) == sizeof cycles) {
    return cycles;
  } else {
    return static_cast<Cycles>(cycles) + (cycles < 0);
  }
}

/// Whether the calling thread's warp is one of two that come late in turn: the
/// first and the last of those that meet. `late_warps`: a LateWarps.
struct ComesLate {
  bool first, last;

  template <class Method>
  static __device__ ComesLate of(const Position& here,
                                 const LateWarps& late_warps) {
    const unsigned blocks = blocks_that_meet(kAbout<Method>.scope, here);
    Position next = here;
    next.thread += 32;
    const bool last_warp =
        next.thread / 32 * 32 >= here.threads || !Method::takes_part(next);
    return {late_warps.first && here.block % blocks == 0 && here.thread < 32,
            late_warps.last && here.block % blocks == blocks - 1 && last_warp};
  }
};

/// `count` operations, 0 or a multiple of 4, after some that bring all in step.
/// One warp comes at least `late` cycles after all others: the first, twice the
/// last, the first. `end` of their records is a sum of the clock when they are
/// out behind the other, less that when they come late, modulo 2^32; together
/// the two are what is wanted, for offset and drift of clocks cancel. Other
/// records are 0.
/// `late_warps`: a LateWarps. Other arguments as those of timed_kernel.
template <class Method>
__global__ void __launch_bounds__(1024, kFullBlocksPerSm)
    late_kernel(int count, int late, unsigned group, WarpRecord* records,
                unsigned* late_warps, unsigned long long* global,
                typename Method::Argument argument) {
  if (count == 0) return;
  with_state<Method>(group, global, argument, [&](auto& here, auto value) {
    const auto comes_late = ComesLate::of<Method>(
        here, *reinterpret_cast<const LateWarps*>(late_warps));
    // Barriers of grids leave few registers, as does CUDA 11.8, else some are
    // spilled while the clock runs. One word delays the operation by cycles,
    // which count in a block.
    constexpr bool kShort =
        kAbout<Method>.scope <= Scope::kCluster && CUDART_VERSION >= 12000;
    using Cycles = std::conditional_t<kShort, long long, unsigned>;
    const int turn = 1 * comes_late.first + 2 * comes_late.last;
    Cycles cycles = 0;
    if (Method::takes_part(here)) {
      auto method = made<Method>(here);
#pragma unroll 1
      for (int trip = -4; trip < count; ++trip) {
        const int late_now = (trip & 3) == 0 || (trip & 3) == 3 ? 1 : 2;
        if (turn & late_now) wait_cycles(late);
        // Both reads without a branch, which would take part of the time.
        const auto comes = read_sm_clock_as<Cycles>();
        cycles -= turn & late_now && trip >= 0 ? comes : 0;
        value = method(value, here);
        wait_for_deferred(count);
        const auto is_out = read_sm_clock_as<Cycles>();
        cycles += turn & (3 - late_now) && trip >= 0 ? is_out : 0;
      }
    }
    if (here.thread % 32 == 0) record_of_warp(records) = {0, cycles, 0};
    asm volatile("" ::"r"(static_cast<unsigned>(value)));
  });
}

/// In each of LateWarps::kRounds rounds of About::meets_in operations a warp
/// comes `late` cycles late. `start` of each record: how often its warp saw
/// that it was out before the late one had come; 0 for a barrier. Nothing where
/// `count` is 0.
/// Other arguments as those of late_kernel.
template <class Method>
__global__ void __launch_bounds__(1024, kFullBlocksPerSm)
    meeting_kernel(int count, int late, unsigned group, WarpRecord* records,
                   unsigned* late_warps, unsigned long long* global,
                   typename Method::Argument argument) {
  if (count == 0) return;
  with_state<Method>(group, global, argument, [&](auto& here, auto value) {
    const auto& late_here = *reinterpret_cast<const LateWarps*>(late_warps);
    const unsigned blocks = blocks_that_meet(kAbout<Method>.scope, here);
    const unsigned warps = (here.threads + 31) / 32;  // of a block
    const unsigned warp = here.block % blocks * warps + here.thread / 32;
    // It takes long to read memory of the host, so of many warps only some look
    // in each round after two.
    const unsigned apart =
        min(1 + here.blocks * warps / 512, unsigned{LateWarps::kRounds});
    volatile unsigned* has_come =
        late_here.has_come + LateWarps::kRounds * (here.block / blocks);
    WarpRecord record = {};
    if (Method::takes_part(here)) {
      auto method = made<Method>(here);
#pragma unroll 1
      for (int round = 0; round < LateWarps::kRounds; ++round) {
        if (late_here.in_round[round] == static_cast<int>(warp)) {
          wait_cycles(late);
          has_come[round] = 1;
          __threadfence_system();
        }
        for (int i = 0; i < kAbout<Method>.meets_in; ++i)
          value = method(value, here);
        if (round < 2 || (warp + round) % apart == 0) {
          record.start += has_come[round] == 0;
        }
      }
      record.end = 1;
    }
    if (here.thread % 32 == 0) record_of_warp(records) = record;
    asm volatile("" ::"r"(static_cast<unsigned>(value)));
  });
}

template <class Method, int kRepeats>
const void* kernel_of() {
  if constexpr (kAbout<Method>.cluster_dims > 0) {
    return reinterpret_cast<const void*>(
        &timed_kernel_of_clusters<Method, kRepeats>);
  } else {
    return reinterpret_cast<const void*>(&timed_kernel<Method, kRepeats>);
  }
}

/// Lengths of the straight lines that programs launch, bit k for 2^k: 1, all up
/// to kMostTestRepeats for TestRepeat, and those of latency rows, which are
/// once and twice as long inside an SM, too, and four times for the check.
template <class Method>
constexpr unsigned lines_of() {
  constexpr About about = kAbout<Method>;
  constexpr unsigned kTimes = about.scope <= Scope::kCluster ? 1 + 2 + 4 : 1;
  unsigned lines = about.in_test_repeat() ? 2 * kMostTestRepeats - 1 : 1;
  const Sizes groups = about.groups(1024);
  for (int group = groups.first; group <= groups.last;
       group = groups.after(group)) {
    lines |= kTimes * about.repeats(group);
  }
  return lines;
}

/// Appends a kernel for each of these lengths, null for those between them.
template <class Method, unsigned kLines, unsigned kRepeats = 1>
void add_kernels(std::vector<const void*>& kernels) {
  if constexpr (kRepeats <= kLines) {
    if constexpr ((kLines & kRepeats) != 0) {
      kernels.push_back(kernel_of<Method, kRepeats>());
    } else {
      kernels.push_back(nullptr);
    }
    add_kernels<Method, kLines, 2 * kRepeats>(kernels);
  }
}

/// What the host has to know of a method.
template <class Method, unsigned kLines = lines_of<Method>()>
MethodEntry entry_of() {
  constexpr const About& about = kAbout<Method>;
  static_assert(about.name[0] != '\0' && about.code.count > 0);
  const auto code_on = [](int architecture) {
    return about_of<Method>(architecture).code;
  };
  MethodEntry entry = {about, typeid(Method).name(), code_on,
                       Method::takes_part, Method::global_words};
  add_kernels<Method, kLines>(entry.kernels);
  if constexpr (about.late) {
    entry.late_kernel = reinterpret_cast<const void*>(&late_kernel<Method>);
  }
  // One of clusters in its code is checked by the same operation without.
  if constexpr ((about.meets() || about.meets_too) && about.cluster_dims == 0) {
    entry.meeting_kernel =
        reinterpret_cast<const void*>(&meeting_kernel<Method>);
  }
  return entry;
}

/// The list of a file's methods, in the order of their rows.
template <class... Methods>
std::vector<MethodEntry> entries() {
  return {entry_of<Methods>()...};
}

}  // namespace syncbench::explicit_barrier
