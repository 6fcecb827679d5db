// The one kernel that times any in-kernel method, and the list of its
// instances.
#pragma once

#include <type_traits>
#include <typeinfo>

#include "common/device_clock.cuh"
#include "common/full_sm.cuh"
#include "explicit_barrier/method_entry.hpp"

namespace syncbench {

/// What PTX takes for the address of something in shared memory.
__device__ inline unsigned shared_address(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

/// kRepeats (a power of two) operations, one after the other without a loop;
/// beyond kMostInLine, rounds of half that many.
template <int kRepeats, class Method, class Here>
__device__ __forceinline__ typename Method::Value repeat(
    Method& method, typename Method::Value value, Here& here) {
  static_assert(kRepeats > 0 && (kRepeats & (kRepeats - 1)) == 0);
  if constexpr (kRepeats == 1) {
    return method(value, here);
  } else if constexpr (kRepeats > Method::kMostInLine) {
    constexpr int kRound = Method::kMostInLine / 2;
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
#ifdef __CUDA_ARCH__
  if constexpr (__CUDA_ARCH__ >= 10 * Method::kFirstArchitecture &&
                CUDART_VERSION >= Method::kFirstToolkit) {
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
    auto value = static_cast<typename Method::Value>(start_value(here));
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
  }
#endif
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
    __cluster_dims__(Method::kClusterDims)
#endif
        timed_kernel_of_clusters(int count, int first_timed, unsigned group,
                                 WarpRecord* records, unsigned* results,
                                 unsigned long long* global,
                                 typename Method::Argument argument) {
  time_method<Method, kRepeats>(count, first_timed, group, records, results,
                                global, argument);
}

/// Operations to which the first and the last block come at least `late` cycles
/// later than all others, in turn; `count`, which is even, after some that
/// bring the blocks in step. Records of each warp as `start` the cycles that it
/// waited, as `end` what all took. Other arguments as those of timed_kernel.
template <class Method>
__global__ void __launch_bounds__(1024, kFullBlocksPerSm)
    late_kernel(int count, int late, unsigned group, WarpRecord* records,
                unsigned* /*results*/, unsigned long long* global,
                typename Method::Argument argument) {
#ifdef __CUDA_ARCH__
  if constexpr (__CUDA_ARCH__ >= 10 * Method::kFirstArchitecture &&
                CUDART_VERSION >= Method::kFirstToolkit) {
    static_assert(std::is_empty_v<typename Method::Shared>);
    typename Method::Shared shared;
    using Local = typename Method::Local;
    Here<typename Method::Shared, Local> here = {
        {threadIdx.x, blockDim.x, blockIdx.x, gridDim.x, group},
        shared,
        global,
        Local(argument)};
    auto method = made<Method>(here);
    auto value = static_cast<typename Method::Value>(start_value(here));
    long long begin = 0, waited = 0;
#pragma unroll 1
    for (int trip = -4; trip < count; ++trip) {
      if (trip == 0) {
        begin = read_sm_clock();
        waited = 0;
      }
      const unsigned whose = trip % 2 == 0 ? 0 : here.blocks - 1;
      if (here.block == whose) {
        const long long came = read_sm_clock();
        long long now = came;
        while (now - came < late) now = read_sm_clock();
        waited += now - came;
      }
      value = method(value, here);
    }
    const long long took = read_sm_clock() - begin;
    if (threadIdx.x % 32 == 0) {
      record_of_warp(records) = {waited, took, read_sm_id()};
    }
  }
#endif
}

template <class Method, int kRepeats>
const void* kernel_of() {
  if constexpr (Method::kClusterDims > 0) {
    return reinterpret_cast<const void*>(
        &timed_kernel_of_clusters<Method, kRepeats>);
  } else {
    return reinterpret_cast<const void*>(&timed_kernel<Method, kRepeats>);
  }
}

/// Most straight-line repeats of a method that any program launches: those of
/// TestRepeat, and those of a latency row, inside an SM four times as many.
template <class Method>
constexpr int longest_line() {
  constexpr int kLines = Method::kAbout.scope <= Scope::kCluster ? 4 : 1;
  int longest = Method::kInTestRepeat ? kMostTestRepeats : 1;
  const Sizes groups = Method::groups(1024);
  for (int group = groups.first; group <= groups.last;
       group = groups.after(group)) {
    if (kLines * Method::repeats(group) > longest)
      longest = kLines * Method::repeats(group);
  }
  return longest;
}

/// Appends the kernels of 1, 2, 4, ... up to the longest line.
template <class Method, int kRepeats = 1>
void add_kernels(std::vector<const void*>& kernels) {
  if constexpr (kRepeats <= longest_line<Method>()) {
    kernels.push_back(kernel_of<Method, kRepeats>());
    add_kernels<Method, 2 * kRepeats>(kernels);
  }
}

/// What the host has to know of a method.
template <class Method>
MethodEntry entry_of() {
  MethodEntry entry;
  static_cast<About&>(entry) = Method::kAbout;
  entry.type = typeid(Method).name();
  entry.work = Method::work;
  entry.first_architecture = Method::kFirstArchitecture;
  entry.first_toolkit = Method::kFirstToolkit;
  entry.most_in_line = Method::kMostInLine;
  entry.trips = Method::kTrips;
  entry.repeats = Method::repeats;
  entry.throughput_repeats = Method::throughput_repeats;
  entry.throughput_limit = Method::kThroughputLimit;
  entry.longer = Method::longer;
  entry.launches = Method::launches;
  entry.groups = Method::groups;
  entry.fits = Method::fits;
  entry.takes_part = Method::takes_part;
  entry.expected = Method::expected;
  entry.has_result = Method::has_result;
  entry.in_test_repeat = Method::kInTestRepeat;
  entry.checked = Method::kChecked;
  entry.global_words = Method::global_words;
  entry.make_arguments = Method::make_arguments;
  entry.attributes = Method::attributes;
  entry.places = Method::kPlaces;
  entry.fewest_gpus = Method::kFewestGpus;
  entry.multi_device = Method::kMultiDevice;
  entry.peer_access = Method::kPeerAccess;
  entry.differs_by_process = Method::kDiffersByProcess;
  add_kernels<Method>(entry.kernels);
  if constexpr (std::is_same_v<typename Method::Late, Method>) {
    entry.late_kernel = reinterpret_cast<const void*>(&late_kernel<Method>);
  }
  return entry;
}

/// The list of a file's methods, in the order of their rows.
template <class... Methods>
std::vector<MethodEntry> entries() {
  return {entry_of<Methods>()...};
}

}  // namespace syncbench
