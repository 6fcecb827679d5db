// What the ordering tests of multi-GPU barriers share: every block writes,
// meets the barrier, and reads what other blocks, on all GPUs, wrote.
#pragma once

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "common/cuda_resources.hpp"
#include "common/gpu_threads.hpp"
#include "common/launch.hpp"
#include "common/peer_access.hpp"
#include "tests/gpu/late_machine.cuh"

namespace syncbench {

// Words that each block writes in a round, each on a cache line of its own;
// many of them keep the GPU busy writing.
inline constexpr int kWords = 64;
inline constexpr int kManyWords = 1024;
inline constexpr int kApart = 32;

struct Boards {
  // What each rank writes, blocks x kWords x kApart words, in the memory of the
  // next GPU, so that writes have a long way to go.
  unsigned* of_rank[peer_grid::kMaxGpus];
};

// The barrier that a kernel makes of its argument.
template <class End>
struct BarrierOf {
  using type = End;
};
template <class Machine>
struct BarrierOf<peer_grid::BasicBarrierEnd<Machine>> {
  using type = peer_grid::BasicBarrier<Machine>;
};

// An argument of which a kernel makes a Barrier.
template <class Barrier, class Memory>
struct EndOf {
  Memory memory;
};
template <class Barrier, class Memory>
struct BarrierOf<EndOf<Barrier, Memory>> {
  using type = Barrier;
};

template <class End>
__global__ void __launch_bounds__(1024)
    order_kernel(End end, Boards boards, int rank, int gpus, int before,
                 int rounds, int words, unsigned long long* stale) {
  typename BarrierOf<End>::type barrier(end);
  const unsigned block = blockIdx.x;
  unsigned* mine = boards.of_rank[rank] + block * words * kApart;
  unsigned bad = 0;
  for (int round = before + 1; round <= before + rounds; ++round) {
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

// Two GPUs or more, at most so many, for cooperative kernels that reach each
// other's memory; none where this machine lacks them.
inline std::vector<Gpu> gpus_with_access(std::size_t most) {
  std::vector<Gpu> gpus = find_gpus();
  if (gpus.size() > most) gpus.resize(most);
  prepare_gpus(gpus);
  if (gpus.size() < 2 || gpus[0].major < 7 || !gpus[0].cooperative_launch ||
      !enable_peer_access(device_numbers(gpus))) {
    return {};
  }
  return gpus;
}

struct Shape {
  int blocks;
  int threads;
  int rounds;
  int words = kWords;
};

// One rank's launch and what its arguments point to; never moved.
template <class End>
struct RankLaunch {
  RankLaunch(const End& its_end, const Boards& all, int its_rank, int count,
             int rounds_before, const Shape& shape, unsigned long long* found)
      : end(its_end),
        boards(all),
        rank(its_rank),
        gpus(count),
        before(rounds_before),
        rounds(shape.rounds),
        words(shape.words),
        stale(found) {}

  End end;
  Boards boards;
  int rank, gpus, before, rounds, words;
  unsigned long long* stale;
  void* arguments[8];

  KernelCall call(const Shape& shape) {
    void* here[] = {&end,    &boards, &rank,  &gpus,
                    &before, &rounds, &words, &stale};
    std::copy(std::begin(here), std::end(here), arguments);
    return {reinterpret_cast<const void*>(&order_kernel<End>),
            dim3(shape.blocks), dim3(shape.threads), arguments};
  }
};

// The calls of each rank, which follow each other on its GPU.
using CallsOfRanks = std::vector<std::vector<KernelCall>>;

// Cooperative launches, from a thread for each GPU that waits for the last one
// only.
inline void launch_by_threads(const std::vector<Gpu>& gpus,
                              const CallsOfRanks& calls) {
  const std::vector<Stream> streams = make_streams(device_numbers(gpus));
  GpuThreads(gpus).run([&](int rank) {
    CallResult result;
    cudaStream_t stream = streams[rank].get();
    for (const KernelCall& call : calls[rank]) {
      result.note(launch_cooperative(call, stream), "launch");
    }
    result.note(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
#pragma omp barrier
    return result;
  });
}

// Stale words that all blocks read in launches that follow each other;
// end_of(rank, blocks) is a kernel argument.
template <class EndOf, class Launch>
unsigned long long count_stale(const std::vector<Gpu>& gpus,
                               const std::vector<Shape>& shapes,
                               const EndOf& end_of, Launch launch) {
  using End = decltype(end_of(0, 1));
  std::size_t size = 0;
  for (const Shape& shape : shapes) {
    size = std::max(
        size, static_cast<std::size_t>(shape.blocks) * shape.words * kApart);
  }
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
  std::deque<RankLaunch<End>> launches;
  CallsOfRanks calls(gpus.size());
  for (int rank = 0; rank < count; ++rank) {
    int before = 0;
    for (const Shape& shape : shapes) {
      launches.emplace_back(end_of(rank, shape.blocks), boards, rank, count,
                            before, shape, stale[rank].get());
      calls[rank].push_back(launches.back().call(shape));
      before += shape.rounds;
    }
  }
  for (const Gpu& gpu : gpus) {
    const DeviceGuard guard(gpu.index);
    CUDA_CHECK(cudaDeviceSynchronize());  // the boards are cleared
  }
  // Once without rounds: the first launch on a GPU may wait for other GPUs.
  std::vector<int> rounds;
  for (auto& each : launches) rounds.push_back(std::exchange(each.rounds, 0));
  launch(gpus, calls);
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    launches[i].rounds = rounds[i];
  }
  launch(gpus, calls);
  unsigned long long sum = 0;
  for (const auto& found : stale) {
    unsigned long long host = 0;
    CUDA_CHECK(cudaMemcpy(&host, found.get(), sizeof host, cudaMemcpyDefault));
    sum += host;
  }
  return sum;
}

}  // namespace syncbench
