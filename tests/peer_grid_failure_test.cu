// GPU test: a barrier that cannot complete ends its kernel within the limit,
// and says why. Each case breaks CUDA for its process, so it is run alone:
//
// usage: peer_grid_failure_test own_block|block_count|other_gpu|exact
#include <chrono>
#include <cstdio>
#include <string>

#include "common/launch.hpp"
#include "tests/gpu_test.hpp"
#include "tests/late_machine.cuh"

namespace syncbench {
namespace {

constexpr int kBlocks = 8;
constexpr std::chrono::milliseconds kLimit{500};

template <class Machine>
__global__ void meet(peer_grid::BasicBarrier<Machine> barrier, int rounds,
                     bool first_block_is_absent) {
  if (first_block_is_absent && blockIdx.x == 0) return;
  for (int round = 0; round < rounds; ++round) barrier.sync();
}

struct Case {
  int gpus = 1;      // of the set
  int launched = 1;  // of these
  int blocks = kBlocks;
  int rounds = 1;
  bool absent = false;  // the first block
  const char* expected = "";
};

// Returns an exit code.
template <class Machine>
int run(const Case& test) {
  if (static_cast<int>(find_gpus().size()) < test.gpus) {
    std::printf("skipped: needs %d GPUs\n", test.gpus);
    return kSkipped;
  }
  std::vector<int> devices;
  for (int device = 0; device < test.gpus; ++device) devices.push_back(device);
  const peer_grid::BarrierSet set(devices, kLimit);
  const auto barriers = set.for_blocks<Machine>(kBlocks);
  std::vector<Stream> streams = make_streams(devices);
  std::vector<cudaError_t> results(test.launched);
  for (const int rounds : {0, test.rounds}) {  // the first loads the code
    const auto start = std::chrono::steady_clock::now();
    for (int device = 0; device < test.launched; ++device) {
      const DeviceGuard guard(device);
      auto barrier = barriers[device];
      bool absent = test.absent;
      int count = rounds;
      void* arguments[] = {&barrier, &count, &absent};
      CUDA_CHECK(
          launch_cooperative({reinterpret_cast<const void*>(&meet<Machine>),
                              dim3(test.blocks), dim3(2), arguments},
                             streams[device].get()));
    }
    for (int device = 0; device < test.launched; ++device) {
      results[device] = cudaStreamSynchronize(streams[device].get());
    }
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
    std::printf("%d rounds: %s after %.3f s\n", rounds,
                cudaGetErrorName(results[0]), seconds);
    if (rounds > 0 && seconds > 30) return 1;
  }
  const std::string failure = set.failure().value_or("none");
  std::printf("%s\n", failure.c_str());
  const bool as_expected = results[0] != cudaSuccess &&
                           failure.find(test.expected) != std::string::npos;
  std::printf("%s\n", as_expected ? "passed" : "FAILED");
  return as_expected ? 0 : 1;
}

int run(const std::string& name) {
  using peer_grid::GpuMachine;
  if (name == "own_block") {
    return run<GpuMachine>({1, 1, kBlocks, 1, true,
                            "GPU 0 waited 500 ms in barrier 1 for its own"});
  }
  if (name == "block_count") {
    return run<GpuMachine>(
        {1, 1, kBlocks + 1, 1, false, "GPU 0 was launched with 9 blocks"});
  }
  if (name == "other_gpu") {
    return run<GpuMachine>({2, 1, kBlocks, 1, false,
                            "GPU 0 waited 500 ms in barrier 1 for GPU 1"});
  }
  if (name == "exact") {
    return run<Exact<LateMachine>>(
        {2, 2, kBlocks, 100000, false, "waited 500 ms in barrier"});
  }
  std::printf("unknown case: %s\n", name.c_str());
  return 2;
}

}  // namespace
}  // namespace syncbench

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  return syncbench::gpu_test_main([&] { return syncbench::run(name); });
}
