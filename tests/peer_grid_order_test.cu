// GPU test: does peer_grid_sync order memory? Every block writes, meets the
// barrier, and reads what other blocks, on all GPUs, wrote, for many rounds and
// with delays planted in different blocks. One stale value fails.
//
// usage: peer_grid_order_test [rounds]
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "common/gpu_threads.hpp"
#include "common/launch.hpp"
#include "explicit_barrier/peer_grid_barrier.cuh"

namespace syncbench {
namespace {

constexpr int kSkipped = 77;
constexpr int kWords = 64;        // that each block writes in a round,
constexpr int kManyWords = 1024;  // or so many, to keep the GPU busy writing,
constexpr int kApart = 32;        // each on a cache line of its own

// A mistake is an aborted kernel after two seconds or so, not a hung GPU.
struct Bounded : PeerGridTraits {
  static constexpr long long kSpinLimit = 4000000000ll;
};

// The same barrier without one half of its memory order.
struct WithoutRelease : Bounded {
  static constexpr bool kRelease = false;
};
struct WithoutAcquire : Bounded {
  static constexpr bool kAcquire = false;
};

struct Boards {
  // What each rank writes, blocks x kWords x kApart words, in the memory of the
  // next GPU, so that writes have a long way to go.
  unsigned* of_rank[kMaxPeers];
};

__device__ unsigned mixed(unsigned x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

__device__ void delay(unsigned cycles) {
  const unsigned start = clock();
  while (static_cast<unsigned>(clock()) - start < cycles) {
  }
}

template <class Traits>
__global__ void __launch_bounds__(1024)
    order_kernel(BasicPeerGridBarrier<Traits> barrier, Boards boards, int rank,
                 int gpus, int rounds, int words, unsigned long long* stale) {
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

class OrderTest {
 public:
  explicit OrderTest(const std::vector<Gpu>& gpus)
      : gpus_(gpus), barriers_(device_numbers(gpus)) {}

  PeerGridBarrierSet& barriers() { return barriers_; }

  // Stale words that all blocks read in `rounds` rounds.
  template <class Traits>
  unsigned long long run(int blocks, int threads, int rounds,
                         int words = kWords) {
    Boards boards = {};
    std::vector<DeviceBuffer<unsigned>> memory;
    std::vector<DeviceBuffer<unsigned long long>> stale;
    for (std::size_t rank = 0; rank < gpus_.size(); ++rank) {
      const std::size_t size =
          static_cast<std::size_t>(blocks) * words * kApart;
      memory.emplace_back(gpus_[(rank + 1) % gpus_.size()].index, size);
      stale.emplace_back(gpus_[rank].index, 1);
      boards.of_rank[rank] = memory[rank].get();
      CUDA_CHECK(cudaMemset(memory[rank].get(), 0, size * sizeof(unsigned)));
      CUDA_CHECK(cudaMemset(stale[rank].get(), 0, sizeof(unsigned long long)));
    }
    const std::vector<Stream> streams = make_streams(device_numbers(gpus_));
    GpuThreads(gpus_).run([&](int rank) {
      CallResult result;
      auto barrier = barriers_.on_rank<Traits>(rank);
      int count = static_cast<int>(gpus_.size());
      int rounds_here = rounds, words_here = words;
      unsigned long long* bad = stale[rank].get();
      void* arguments[] = {&barrier,     &boards,     &rank, &count,
                           &rounds_here, &words_here, &bad};
      const KernelCall call = {
          reinterpret_cast<const void*>(&order_kernel<Traits>), dim3(blocks),
          dim3(threads), arguments};
      result.note(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
#pragma omp barrier
      result.note(launch_cooperative(call, streams[rank].get()), "launch");
      result.note(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
#pragma omp barrier
      return result;
    });
    unsigned long long sum = 0;
    for (const auto& count : stale) {
      unsigned long long host = 0;
      CUDA_CHECK(
          cudaMemcpy(&host, count.get(), sizeof host, cudaMemcpyDefault));
      sum += host;
    }
    return sum;
  }

 private:
  std::vector<Gpu> gpus_;
  PeerGridBarrierSet barriers_;
};

// Returns 1 when a word was stale.
int check_shape(OrderTest& test, int gpus, int blocks, int threads,
                int rounds) {
  const unsigned long long stale = test.run<Bounded>(blocks, threads, rounds);
  std::printf("%d GPUs, %4d blocks x %4d threads, %6d rounds: %llu stale\n",
              gpus, blocks, threads, rounds, stale);
  std::fflush(stdout);
  return stale == 0 ? 0 : 1;
}

// The test has to notice a barrier that lacks half of its order. Returns 1 when
// it did not.
template <class Traits>
int check_caught(OrderTest& test, const char* without, int sms, int rounds) {
  unsigned long long stale = 0;
  for (const int blocks : {sms, 4 * sms, 16 * sms}) {
    stale += test.run<Traits>(blocks, 64, rounds);
  }
  for (const int blocks : {sms, 2 * sms}) {
    stale +=
        test.run<Traits>(blocks, 1024 * sms / blocks, rounds / 5, kManyWords);
  }
  std::printf("without %s: %llu stale%s\n", without, stale,
              stale == 0 ? " (not seen on this hardware)" : "");
  return stale == 0 ? 1 : 0;
}

int check_gpus(const std::vector<Gpu>& gpus, int rounds) {
  OrderTest test(gpus);
  const int count = static_cast<int>(gpus.size());
  const int sms = gpus[0].sm_count;
  int failures = 0;
  // The long one first: it passes every wrap-around of the 16-bit laps.
  failures += check_shape(test, count, sms, 64, rounds);
  // All three ways to meet, one after the other on the same memory; blocks
  // smaller than a warp and than the number of GPUs; the 32-bit wrap-around.
  for (const unsigned epoch : {0u, 0xfff0u, 0xfffffff0u}) {
    test.barriers().set_epoch(epoch);
    for (const int blocks : {1, 3, sms, 4 * sms, 12 * sms, 2 * sms, 16 * sms}) {
      for (const int threads : {1, 33, 64}) {
        failures += check_shape(test, count, blocks, threads, rounds / 500);
      }
    }
    failures += check_shape(test, count, sms, 1024, rounds / 500);
  }
  failures += check_caught<WithoutAcquire>(test, "acquire", sms, rounds / 20);
  check_caught<WithoutRelease>(test, "release", sms, rounds / 20);
  return failures;
}

int run(int rounds) {
  std::vector<Gpu> gpus = find_gpus();
  prepare_gpus(gpus);
  int failures = 0;
  for (std::size_t count = 1; count <= gpus.size(); ++count) {
    // One, two, and all: the ways to meet do not differ beyond that.
    if (count > 2 && count < gpus.size()) continue;
    failures += check_gpus({gpus.begin(), gpus.begin() + count}, rounds);
  }
  std::printf("%s\n", failures == 0 ? "passed" : "FAILED");
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace syncbench

int main(int argc, char** argv) {
  syncbench::load_kernels_eagerly();
  try {
    syncbench::find_gpus();
  } catch (const syncbench::NoDeviceError& error) {
    std::printf("skipped: %s\n", error.what());
    return syncbench::kSkipped;
  }
  try {
    return syncbench::run(argc > 1 ? std::atoi(argv[1]) : 100000);
  } catch (const std::exception& error) {
    std::printf("failed: %s\n", error.what());
    return 1;
  }
}
