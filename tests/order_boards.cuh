// What the ordering tests of multi-GPU barriers share: every block writes,
// meets the barrier, and reads what other blocks, on all GPUs, wrote.
#pragma once

#include <algorithm>
#include <deque>
#include <vector>

#include "common/gpu_threads.hpp"
#include "common/launch.hpp"
#include "explicit_barrier/peer_grid_memory.cuh"

namespace syncbench {

inline constexpr int kWords = 64;  // that each block writes in a round,
inline constexpr int kManyWords =
    1024;                          // or so many, to keep the GPU busy writing,
inline constexpr int kApart = 32;  // each on a cache line of its own

struct Boards {
  // What each rank writes, blocks x kWords x kApart words, in the memory of the
  // next GPU, so that writes have a long way to go.
  unsigned* of_rank[kMaxPeers];
};

__device__ inline unsigned mixed(unsigned x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

__device__ inline void delay(unsigned cycles) {
  const unsigned start = clock();
  while (static_cast<unsigned>(clock()) - start < cycles) {
  }
}

template <class Barrier>
__global__ void __launch_bounds__(1024)
    order_kernel(Barrier barrier, Boards boards, int rank, int gpus, int rounds,
                 int words, unsigned long long* stale) {
  const unsigned block = blockIdx.x;
  unsigned* mine = boards.of_rank[rank] + block * words * kApart;
  unsigned bad = 0;
  for (int round = 1; round <= rounds; ++round) {
    const unsigned chance = mixed(round * 8191 + rank * 131 + block);
    if (chance % 64 == 0) delay(chance >> 18);  // up to 16,000 cycles
    for (int i = threadIdx.x; i < words; i += blockDim.x) {
      mine[i * kApart] = round;
    }
    barrier.sync();
    // Another block of each GPU, a different one in each round.
    for (int peer = 0; peer < gpus; ++peer) {
      const unsigned other = mixed(round * 31 + peer * 7 + block) % gridDim.x;
      const unsigned* theirs = boards.of_rank[peer] + other * words * kApart;
      // The last written first: least time has passed for them.
      for (int i = words - 1 - threadIdx.x; i >= 0; i -= blockDim.x) {
        if (theirs[i * kApart] != round) ++bad;
      }
    }
    barrier.sync();  // nobody overwrites what others still read
  }
  if (bad != 0) atomicAdd(stale, bad);
}

// One rank's launch and what its arguments point to; never moved.
template <class Barrier>
struct RankLaunch {
  Barrier barrier;
  Boards boards;
  int rank, gpus, rounds, words;
  unsigned long long* stale;
  void* arguments[7];

  KernelCall call(int blocks, int threads) {
    void* here[] = {&barrier, &boards, &rank, &gpus, &rounds, &words, &stale};
    std::copy(std::begin(here), std::end(here), arguments);
    return {reinterpret_cast<const void*>(&order_kernel<Barrier>), dim3(blocks),
            dim3(threads), arguments};
  }
};

// One cooperative launch a GPU, each from a thread of its own.
inline void launch_by_threads(const std::vector<Gpu>& gpus,
                              const std::vector<KernelCall>& calls,
                              const std::vector<cudaStream_t>& streams) {
  GpuThreads(gpus).run([&](int rank) {
    CallResult result;
    result.note(launch_cooperative(calls[rank], streams[rank]), "launch");
    result.note(cudaStreamSynchronize(streams[rank]), "cudaStreamSynchronize");
#pragma omp barrier
    return result;
  });
}

struct Shape {
  int blocks;
  int threads;
  int rounds;
  int words = kWords;
};

// True for barriers that live in a multi-device launch only.
template <class Barrier>
inline constexpr bool kNeedsMultiDevice = false;

// Stale words that all blocks read; barrier_of(rank) is a kernel argument.
template <class BarrierOf, class Launch>
unsigned long long count_stale(const std::vector<Gpu>& gpus, const Shape& shape,
                               BarrierOf barrier_of, Launch launch) {
  using Barrier = decltype(barrier_of(0));
  const std::size_t size =
      static_cast<std::size_t>(shape.blocks) * shape.words * kApart;
  Boards boards = {};
  std::vector<DeviceBuffer<unsigned>> memory;
  std::vector<DeviceBuffer<unsigned long long>> stale;
  const int count = static_cast<int>(gpus.size());
  for (int rank = 0; rank < count; ++rank) {
    memory.emplace_back(gpus[(rank + 1) % count].index, size);
    stale.emplace_back(gpus[rank].index, 1);
    boards.of_rank[rank] = memory[rank].get();
    CUDA_CHECK(cudaMemset(memory[rank].get(), 0, size * sizeof(unsigned)));
    CUDA_CHECK(cudaMemset(stale[rank].get(), 0, sizeof(unsigned long long)));
  }
  std::deque<RankLaunch<Barrier>> ranks;
  std::vector<KernelCall> calls;
  for (int rank = 0; rank < count; ++rank) {
    ranks.push_back({barrier_of(rank),
                     boards,
                     rank,
                     count,
                     shape.rounds,
                     shape.words,
                     stale[rank].get(),
                     {}});
    calls.push_back(ranks.back().call(shape.blocks, shape.threads));
  }
  for (const Gpu& gpu : gpus) {
    const DeviceGuard guard(gpu.index);
    CUDA_CHECK(cudaDeviceSynchronize());  // the boards are cleared
  }
  const std::vector<Stream> streams = make_streams(device_numbers(gpus));
  for (int rank = 0; rank < count; ++rank) {
    // The first launch on each GPU has no rounds: see peer_grid_barrier.cuh.
    const DeviceGuard guard(gpus[rank].index);
    ranks[rank].rounds = 0;
    if (!kNeedsMultiDevice<Barrier>) {
      CUDA_CHECK(launch_cooperative(calls[rank], streams[rank].get()));
    }
    CUDA_CHECK(cudaStreamSynchronize(streams[rank].get()));
    ranks[rank].rounds = shape.rounds;
  }
  launch(gpus, calls, stream_handles(streams));
  unsigned long long sum = 0;
  for (const auto& found : stale) {
    unsigned long long host = 0;
    CUDA_CHECK(cudaMemcpy(&host, found.get(), sizeof host, cudaMemcpyDefault));
    sum += host;
  }
  return sum;
}

}  // namespace syncbench
