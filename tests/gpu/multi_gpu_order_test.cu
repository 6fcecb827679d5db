// GPU test: do the multi-GPU barriers order memory, and do they end, whoever
// is late? Every block writes, meets the barrier, and reads what other blocks,
// on all GPUs, wrote, for many rounds. One stale value fails. peer_grid_sync
// runs as it is shipped, then with delays at each of its steps, then in
// launches that follow each other. A build with CUDA 11 or 12 tests
// multi_grid_sync too.
//
// arguments: [rounds]
#include <cooperative_groups.h>

#include <cstdio>
#include <vector>

#include "tests/gpu/gpu_test.hpp"
#include "tests/gpu/order_boards.cuh"

namespace syncbench::multi_gpu_order {
namespace {

using peer_grid::GpuMachine;

// The same barrier without one half of its memory order.
struct WithoutRelease : GpuMachine {
  __device__ static void add_release(unsigned* at, unsigned value) {
    atomicAdd(at, value);
  }
  __device__ static bool completes(unsigned* at, unsigned value) {
    return (atomicAdd(at, value) + value) % peer_grid::kLap == 0;
  }
  __device__ static void fence_gpu() {}
  __device__ static void fence_system() {}
};
struct WithoutAcquire : GpuMachine {
  template <class Done>
  __device__ void wait_gpu(const unsigned* at, Done done,
                           peer_grid::Failure why) const {
    wait([at, done] { return done(load(at)); }, why);
  }
  template <class Done>
  __device__ void wait_system(const unsigned* at, Done done,
                              peer_grid::Failure why) const {
    wait_gpu(at, done, why);
  }
};

// The barrier over peer memory on a set of GPUs.
class PeerOrderTest {
 public:
  PeerOrderTest(const std::vector<Gpu>& gpus, int rounds)
      : gpus_(gpus),
        rounds_(rounds),
        sms_(gpus[0].sm_count),
        barriers_(device_numbers(gpus)) {}

  // Returns how many of the checks failed.
  int run() {
    int failures = 0;
    // The long one first: it passes every wrap-around of the 16-bit laps.
    failures += check<GpuMachine>("as shipped", {{sms_, 64, rounds_}});
    // The ways to meet that so many GPUs have, one after the other on the same
    // memory; blocks smaller than a warp and than the number of GPUs; the
    // 32-bit wrap-around.
    for (const unsigned start : {0u, 0xfff0u, 0xfffffff0u}) {
      barriers_.start_at(start);
      for (const int blocks : {1, 3, sms_, 4 * sms_, 12 * sms_, 16 * sms_}) {
        for (const int threads : {1, 33, 64}) {
          failures += check<GpuMachine>("as shipped",
                                        {{blocks, threads, rounds_ / 500}});
        }
      }
      failures +=
          check<GpuMachine>("as shipped", {{sms_, 1024, rounds_ / 500}});
    }
    failures += delays();
    if (rounds_ < 10000) return failures;  // too few to catch these
    failures += check_caught<WithoutAcquire>("without acquire");
    check_caught<WithoutRelease>("without release");
    return failures;
  }

 private:
  int delays() {
    int failures =
        check<LateMachine>("delays", {{1, 1, rounds_}}) +
        check<LateMachine>("delays", {{8, 64, rounds_}}) +
        check<LateMachine>("delays", {{sms_, 64, rounds_ / 10}}) +
        check<LateMachine>("delays", {{12 * sms_, 33, rounds_ / 10}});
    std::vector<Shape> launches;
    for (int i = 0; i < 40; ++i) {
      for (const int blocks : {1, sms_, 12 * sms_, 3}) {
        launches.push_back({blocks, 33, rounds_ / 10000 + 1});
      }
    }
    failures += check<GpuMachine>("launches in a row", launches);
    return failures + check<LateMachine>("delays, launches in a row", launches);
  }

  // Returns 1 when a word was stale.
  template <class Machine>
  int check(const char* what, const std::vector<Shape>& shapes) {
    const unsigned long long stale = count<Machine>(shapes);
    std::printf(
        "%s: %zu GPUs, %zu x %4d blocks x %4d threads, %6d rounds: "
        "%llu stale\n",
        what, gpus_.size(), shapes.size(), shapes[0].blocks, shapes[0].threads,
        shapes[0].rounds, stale);
    std::fflush(stdout);
    return stale == 0 ? 0 : 1;
  }

  // The test has to notice a barrier that lacks half of its order. Returns 1
  // when it did not.
  template <class Machine>
  int check_caught(const char* what) {
    const int rounds = rounds_ / 20;
    unsigned long long stale = 0;
    for (const int blocks : {sms_, 4 * sms_, 16 * sms_}) {
      stale += count<Machine>({{blocks, 64, rounds}});
    }
    for (const int blocks : {sms_, 2 * sms_}) {
      stale += count<Machine>(
          {{blocks, 1024 * sms_ / blocks, rounds / 5, kManyWords}});
    }
    std::printf("%s: %llu stale%s\n", what, stale,
                stale == 0 ? " (not seen on this hardware)" : "");
    return stale == 0 ? 1 : 0;
  }

  template <class Machine>
  unsigned long long count(const std::vector<Shape>& shapes) {
    return count_stale(
        gpus_, shapes,
        [this](int rank, int blocks) {
          return barriers_.for_blocks<Machine>(blocks)[rank];
        },
        launch_by_threads);
  }

  std::vector<Gpu> gpus_;
  int rounds_;
  int sms_;
  peer_grid::BarrierSet barriers_;
};

#if CUDART_VERSION < 13000

// One multi-device launch after the other.
void launch_at_once(const std::vector<Gpu>& gpus, const CallsOfRanks& calls) {
  const std::vector<Stream> streams = make_streams(device_numbers(gpus));
  for (std::size_t i = 0; i < calls[0].size(); ++i) {
    std::vector<KernelCall> of_ranks;
    for (const auto& rank : calls) of_ranks.push_back(rank[i]);
    MultiDeviceLaunch launch(of_ranks, device_numbers(gpus),
                             stream_handles(streams));
    CUDA_CHECK(launch());
  }
  for (const Stream& stream : streams) {
    CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  }
}

struct LibraryMultiGrid {
#pragma nv_diag_suppress 1215  // deprecated
  __device__ void sync() { cooperative_groups::this_multi_grid().sync(); }
#pragma nv_diag_default 1215
};

int check_multi_grid(const std::vector<Gpu>& gpus, int rounds) {
  int failures = 0;
  const int sms = gpus[0].sm_count;
  const std::vector<Shape> shapes = {
      {sms, 64, rounds}, {1, 33, rounds / 100}, {16 * sms, 64, rounds / 100}};
  for (const Shape& shape : shapes) {
    const unsigned long long stale = count_stale(
        gpus, {shape}, [](int, int) { return LibraryMultiGrid(); },
        launch_at_once);
    std::printf(
        "multi_grid_sync: %zu GPUs, %4d blocks x %4d threads, %6d "
        "rounds: %llu stale\n",
        gpus.size(), shape.blocks, shape.threads, shape.rounds, stale);
    failures += stale == 0 ? 0 : 1;
  }
  return failures;
}
#else
int check_multi_grid(const std::vector<Gpu>&, int) { return 0; }
#endif

int run(int rounds) {
  std::vector<Gpu> gpus = find_gpus();
  prepare_gpus(gpus);
  int failures = 0;
  for (std::size_t count = 1; count <= gpus.size(); ++count) {
    // One, two, and all: the ways to meet do not differ beyond that.
    if (count > 2 && count < gpus.size()) continue;
    const std::vector<Gpu> used(gpus.begin(), gpus.begin() + count);
    failures +=
        PeerOrderTest(used, rounds).run() + check_multi_grid(used, rounds);
  }
  std::printf("%s\n", failures == 0 ? "passed" : "FAILED");
  return failures == 0 ? 0 : 1;
}

[[maybe_unused]] const bool kAdded = add_gpu_test(
    "multi_gpu_order",
    [](const Words& words) { return run(words.number(0, 100000)); });

}  // namespace
}  // namespace syncbench::multi_gpu_order
