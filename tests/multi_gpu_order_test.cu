// GPU test: do the multi-GPU barriers order memory? Every block writes, meets
// the barrier, and reads what other blocks, on all GPUs, wrote, for many rounds
// and with delays planted in different blocks. One stale value fails. A build
// with CUDA 11 or 12 tests multi_grid_sync too.
//
// usage: multi_gpu_order_test [rounds]
#include <cooperative_groups.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "explicit_barrier/peer_grid_barrier.cuh"
#include "tests/gpu_test.hpp"
#include "tests/order_boards.cuh"

namespace syncbench {
namespace {

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

// The barrier over peer memory on a set of GPUs.
class PeerOrderTest {
 public:
  explicit PeerOrderTest(const std::vector<Gpu>& gpus)
      : gpus_(gpus), barriers_(device_numbers(gpus)) {}

  PeerGridBarrierSet& barriers() { return barriers_; }

  template <class Traits>
  unsigned long long run(const Shape& shape) {
    return count_stale(
        gpus_, shape,
        [this](int rank) { return barriers_.on_rank<Traits>(rank); },
        launch_by_threads);
  }

 private:
  std::vector<Gpu> gpus_;
  PeerGridBarrierSet barriers_;
};

#if CUDART_VERSION < 13000

// One multi-device launch.
void launch_at_once(const std::vector<Gpu>& gpus,
                    const std::vector<KernelCall>& calls,
                    const std::vector<cudaStream_t>& streams) {
  MultiDeviceLaunch launch(calls, device_numbers(gpus), streams);
  CUDA_CHECK(launch());
  for (cudaStream_t stream : streams) CUDA_CHECK(cudaStreamSynchronize(stream));
}

struct LibraryMultiGrid {
#pragma nv_diag_suppress 1215  // deprecated
  __device__ void sync() { cooperative_groups::this_multi_grid().sync(); }
#pragma nv_diag_default 1215
};

}  // namespace

template <>
inline constexpr bool kNeedsMultiDevice<LibraryMultiGrid> = true;

namespace {

int check_multi_grid(const std::vector<Gpu>& gpus, int rounds) {
  int failures = 0;
  const int sms = gpus[0].sm_count;
  const std::vector<Shape> shapes = {
      {sms, 64, rounds}, {1, 33, rounds / 100}, {16 * sms, 64, rounds / 100}};
  for (const Shape& shape : shapes) {
    const unsigned long long stale = count_stale(
        gpus, shape, [](int) { return LibraryMultiGrid(); }, launch_at_once);
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

// Returns 1 when a word was stale.
int check_shape(PeerOrderTest& test, int gpus, int blocks, int threads,
                int rounds) {
  const unsigned long long stale = test.run<Bounded>({blocks, threads, rounds});
  std::printf("%d GPUs, %4d blocks x %4d threads, %6d rounds: %llu stale\n",
              gpus, blocks, threads, rounds, stale);
  std::fflush(stdout);
  return stale == 0 ? 0 : 1;
}

// The test has to notice a barrier that lacks half of its order. Returns 1 when
// it did not.
template <class Traits>
int check_caught(PeerOrderTest& test, const char* without, int sms,
                 int rounds) {
  unsigned long long stale = 0;
  for (const int blocks : {sms, 4 * sms, 16 * sms}) {
    stale += test.run<Traits>({blocks, 64, rounds});
  }
  for (const int blocks : {sms, 2 * sms}) {
    stale +=
        test.run<Traits>({blocks, 1024 * sms / blocks, rounds / 5, kManyWords});
  }
  std::printf("without %s: %llu stale%s\n", without, stale,
              stale == 0 ? " (not seen on this hardware)" : "");
  return stale == 0 ? 1 : 0;
}

int check_gpus(const std::vector<Gpu>& gpus, int rounds) {
  PeerOrderTest test(gpus);
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
    const std::vector<Gpu> used(gpus.begin(), gpus.begin() + count);
    failures += check_gpus(used, rounds) + check_multi_grid(used, rounds);
  }
  std::printf("%s\n", failures == 0 ? "passed" : "FAILED");
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace syncbench

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 100000;
  return syncbench::gpu_test_main([=] { return syncbench::run(rounds); });
}
