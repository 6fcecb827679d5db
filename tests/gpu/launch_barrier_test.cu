// GPU test: is a multi-device launch a barrier between the GPUs? In every round
// another GPU is slow. Kernels note in host memory that they have ended, and
// look when they begin whether those of the round before have, on all GPUs.
// With multi-device launches none may begin early, nor where multi-device and
// ordinary launches alternate (work before and after it waits too). Ordinary
// launches alone have to be caught.
#include <cstdio>
#include <cstring>
#include <vector>

#include "common/check.hpp"
#include "common/cuda_resources.hpp"
#include "common/devices.hpp"
#include "common/launch.hpp"
#include "tests/gpu/gpu_test.hpp"

namespace syncbench {
namespace {

constexpr int kMostGpus = 16, kRounds = 200;
constexpr long long kSlowCycles = 300000;  // 150 us and more

// In host memory.
struct Board {
  volatile unsigned ended[kRounds][kMostGpus];
  volatile unsigned early[kRounds][kMostGpus];  // began before others had ended
};

__global__ void round_kernel(Board* board, int rank, int gpus, int round) {
  if (threadIdx.x != 0) return;
  for (int gpu = 0; round > 0 && gpu < gpus; ++gpu) {
    if (board->ended[round - 1][gpu] == 0) board->early[round][rank] = 1;
  }
  if (round % gpus == rank) {
    const long long start = clock64();
    while (clock64() - start < kSlowCycles) {
    }
  }
  __threadfence_system();
  board->ended[round][rank] = 1;
}

class LaunchBarrierTest {
 public:
  explicit LaunchBarrierTest(const std::vector<Gpu>& gpus)
      : gpus_(gpus),
        devices_(device_numbers(gpus)),
        streams_(make_streams(devices_)) {}

  /// Queues all rounds, at_once(round) saying which are multi-device launches,
  /// and returns how many kernels began early.
  template <class AtOnce>
  int count_early(AtOnce at_once) {
    std::memset(board_.get(), 0, sizeof(Board));
    for (int round = 0; round < kRounds; ++round) {
      launch(round, at_once(round));
    }
    for (const Stream& stream : streams_) {
      CUDA_CHECK(cudaStreamSynchronize(stream.get()));
    }
    int early = 0;
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t rank = 0; rank < gpus_.size(); ++rank) {
        if (board_->ended[round][rank] != 1) {
          throw std::runtime_error("a kernel did not run");
        }
        early += static_cast<int>(board_->early[round][rank]);
      }
    }
    return early;
  }

 private:
  struct Arguments {
    Board* board;
    int rank, gpus, round;
    void* pointers[4];
  };

  void launch(int round, bool at_once) {
    const int count = static_cast<int>(gpus_.size());
    std::vector<Arguments> arguments(gpus_.size());
    std::vector<KernelCall> calls(gpus_.size());
    for (int rank = 0; rank < count; ++rank) {
      Arguments& mine = arguments[rank];
      mine = {board_.get(), rank, count, round, {}};
      void* const pointers[] = {&mine.board, &mine.rank, &mine.gpus,
                                &mine.round};
      std::copy(std::begin(pointers), std::end(pointers), mine.pointers);
      calls[rank].kernel = reinterpret_cast<const void*>(round_kernel);
      calls[rank].grid = dim3(1);
      calls[rank].block = dim3(32);
      calls[rank].arguments = mine.pointers;
    }
    if (at_once) {
      MultiDeviceLaunch launch(calls, devices_, stream_handles(streams_));
      CUDA_CHECK(launch());
      return;
    }
    for (int rank = 0; rank < count; ++rank) {
      const DeviceGuard guard(devices_[rank]);
      CUDA_CHECK(launch_traditional(calls[rank], streams_[rank].get()));
    }
  }

  std::vector<Gpu> gpus_;
  std::vector<int> devices_;
  std::vector<Stream> streams_;
  PinnedValue<Board> board_;
};

int run() {
  std::vector<Gpu> gpus = find_gpus();
  if (gpus.size() < 2 || gpus.size() > kMostGpus) {
    std::printf("skipped: needs 2 to %d GPUs\n", kMostGpus);
    return kSkipped;
  }
  prepare_gpus(gpus);
  LaunchBarrierTest test(gpus);
  const int kernels = (kRounds - 1) * static_cast<int>(gpus.size());
  test.count_early(
      [](int) { return false; });  // first launches load and set up
  const int always = test.count_early([](int) { return true; });
  const int in_turn =
      test.count_early([](int round) { return round % 2 == 0; });
  const int never = test.count_early([](int) { return false; });
  std::printf(
      "%zu GPUs, kernels that began before all of the round before had ended: "
      "%d of %d with multi-device launches (%s), %d with multi-device and "
      "ordinary launches in turn, %d with ordinary launches\n",
      gpus.size(), always, kernels, MultiDeviceLaunch::kApi, in_turn, never);
  const bool passed = always == 0 && in_turn == 0 && never > kernels / 10;
  std::printf("%s\n", passed ? "passed" : "FAILED");
  return passed ? 0 : 1;
}

}  // namespace
}  // namespace syncbench

int main() { return syncbench::gpu_test_main(syncbench::run); }
