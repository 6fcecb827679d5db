// Races inside a block. Values in shared memory are volatile: every access is
// made, in the program's order, so that a wrong result comes from the threads'
// order alone. Warps spin for different times, as they would that have
// different work.
#include "pitfalls/race.cuh"

namespace syncbench::pitfalls {
namespace {

constexpr unsigned kSumOf128 = 128 * 129 / 2;

__device__ void be_late() { spin(threadIdx.x / 32 * 2000); }

// What a race supplies: threads of a block, and wrong<kRight>(), which all of
// them call; true where the result that one of them got is wrong.

/// Every thread adds to one counter, without an atomic.
struct LostUpdates {
  static constexpr int kThreads = 256;
  template <bool kRight>
  __device__ static bool wrong() {
    __shared__ volatile unsigned counter;
    if (threadIdx.x == 0) counter = 0;
    __syncthreads();
    if constexpr (kRight) {
      atomicAdd(const_cast<unsigned*>(&counter), threadIdx.x + 1);
    } else {
      counter = counter + threadIdx.x + 1;
    }
    __syncthreads();
    return counter != kThreads * (kThreads + 1) / 2;
  }
};

/// A tree of sums without a barrier between its rounds.
struct SumWithoutBarrier {
  static constexpr int kThreads = 256;
  template <bool kRight>
  __device__ static bool wrong() {
    __shared__ volatile unsigned values[kThreads];
    values[threadIdx.x] = threadIdx.x + 1;
    __syncthreads();
    for (unsigned stride = kThreads / 2; stride > 0; stride /= 2) {
      be_late();
      if (threadIdx.x < stride) {
        values[threadIdx.x] =
            values[threadIdx.x] + values[threadIdx.x + stride];
      }
      if constexpr (kRight) __syncthreads();
    }
    return threadIdx.x == 0 && values[0] != kThreads * (kThreads + 1) / 2;
  }
};

/// The half that has work meets at a barrier inside its condition; the others
/// take it for the one behind.
struct BarrierInCondition {
  static constexpr int kThreads = 256;
  template <bool kRight>
  __device__ static bool wrong() {
    __shared__ volatile unsigned values[kThreads / 2], sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    const bool works = threadIdx.x < kThreads / 2;
    if (works) {
      values[threadIdx.x] = threadIdx.x + 1;
      if constexpr (!kRight) __syncthreads();
    }
    if constexpr (kRight) __syncthreads();
    if (threadIdx.x == 0) {
      unsigned total = 0;
      for (int i = 0; i < kThreads / 2; ++i) total += values[i];
      sum = total;
    }
    __syncthreads();
    return sum != kSumOf128;
  }
};

/// A tile is loaded again while others still read what was in it.
struct ReuseWithoutBarrier {
  static constexpr int kThreads = 256;
  template <bool kRight>
  __device__ static bool wrong() {
    __shared__ volatile unsigned tile[kThreads];
    const unsigned other = (threadIdx.x + kThreads / 2) % kThreads;
    unsigned sum = 0, expected = 0;
    for (unsigned step = 0; step < 4; ++step) {
      tile[threadIdx.x] = threadIdx.x + step;
      __syncthreads();
      be_late();
      sum += tile[other];
      expected += other + step;
      if constexpr (kRight) __syncthreads();
    }
    return sum != expected;
  }
};

/// Lanes of two branches exchange values.
struct BranchesWithoutSyncwarp {
  static constexpr int kThreads = 32;
  template <bool kRight>
  __device__ static bool wrong() {
    __shared__ volatile unsigned values[kThreads];
    values[threadIdx.x] = 0;
    __syncwarp();
    if (threadIdx.x % 2) {
      spin(300);
      values[threadIdx.x] = threadIdx.x;
      if constexpr (kRight) __syncwarp();
      return values[threadIdx.x - 1] != threadIdx.x - 1 + kThreads;
    }
    values[threadIdx.x] = threadIdx.x + kThreads;
    if constexpr (kRight) __syncwarp();
    return values[threadIdx.x + 1] != threadIdx.x + 1;
  }
};

/// One warp writes data, then a flag; another waits for the flag and reads the
/// data, in shared memory. No fence on either side.
struct SharedFlag {
  static constexpr int kThreads = 64;
  template <bool kRight>
  __device__ static bool wrong() {
    __shared__ volatile unsigned data[32 * 32], flag;
    const unsigned lane = threadIdx.x % 32;
    // All in one bank, the slowest way to write.
    data[lane * 32] = 0;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
      data[lane * 32] = lane + 1;
      if constexpr (kRight) {
        __threadfence_block();
        __syncwarp();
      }
      if (lane == 0) flag = 1;
      return false;
    }
    const bool came = spin_until([&] { return flag != 0; });
    if constexpr (kRight) __threadfence_block();
    return !came || data[lane * 32] != lane + 1;
  }
};

template <class Race, bool kRight>
__global__ void try_race(unsigned* wrong) {
  if (Race::template wrong<kRight>()) wrong[blockIdx.x] = 1;
}

// A block is a try.
template <class Race>
void run_race(Child& child, Form form) {
  child.require_architecture(kRaceArchitecture);
  const int device = child.gpus()[0].index;
  const Stream stream(device);
  auto wrong = cells_of_tries(child, device);
  const auto kernel =
      form == Form::kRight ? try_race<Race, true> : try_race<Race, false>;
  // The first only loads code: warps that wait for it differ by more than
  // their work.
  for (int i = 0; i < 2; ++i) {
    clear(wrong, device);
    const Watchdog watchdog = child.launch();
    kernel<<<child.tries(), Race::kThreads, 0, stream.get()>>>(wrong.get());
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  }
  report_tries(child, form, wrong);
}

[[maybe_unused]] const bool kAdded = add_cases(
    __FILE__, Section::kRace,
    {{"lost_updates", Set::kToday, run_race<LostUpdates>,
      "race: threads add to a counter; right: atomically"},
     {"sum_without_barrier", Set::kToday, run_race<SumWithoutBarrier>,
      "race: a tree of sums; right: a barrier between its rounds"},
     {"barrier_in_condition", Set::kToday, run_race<BarrierInCondition>,
      "race: a barrier inside a condition; right: after it"},
     {"reuse_without_barrier", Set::kToday, run_race<ReuseWithoutBarrier>,
      "race: a tile is loaded again; right: a barrier before"},
     {"branches_without_syncwarp", Set::kToday,
      run_race<BranchesWithoutSyncwarp>,
      "race: lanes of two branches exchange values; right: __syncwarp() "
      "between"},
     {"flag_in_shared_memory", Set::kToday, run_race<SharedFlag>,
      "race: data, then a flag; right: a fence between"}});

}  // namespace
}  // namespace syncbench::pitfalls
