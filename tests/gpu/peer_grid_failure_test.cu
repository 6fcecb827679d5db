// GPU test: a barrier that cannot complete ends its kernel within the limit,
// and says why; what cannot work is refused. Cases break CUDA for their
// process, so each is run alone:
//
// arguments: CASE, which CMakeLists.txt names
#include <chrono>
#include <cstdio>
#include <string>

#include "common/check.hpp"
#include "common/cuda_resources.hpp"
#include "common/launch.hpp"
#include "tests/gpu/gpu_test.hpp"
#include "tests/gpu/late_machine.cuh"

namespace syncbench {
namespace {

constexpr int kBlocks = 8;
constexpr std::chrono::milliseconds kLimit{500};

template <class Machine>
__global__ void meet(peer_grid::BasicBarrierEnd<Machine> end, int rounds,
                     bool first_block_is_absent) {
  const bool first = blockIdx.x + blockIdx.y + blockIdx.z == 0;
  if (first_block_is_absent && first) return;
  peer_grid::BasicBarrier<Machine> barrier(end);
  for (int round = 0; round < rounds; ++round) barrier.sync();
}

struct Case {
  int gpus = 1;      // of the set
  int launched = 1;  // of these
  dim3 blocks = kBlocks;
  int rounds = 1;
  bool absent = false;  // the first block
  const char* expected = "none";
  dim3 threads = 2;
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
  const auto ends = set.for_blocks<Machine>(kBlocks);
  std::vector<Stream> streams = make_streams(devices);
  std::vector<cudaError_t> results(test.launched);
  for (const int rounds : {0, test.rounds}) {  // the first loads the code
    const auto start = std::chrono::steady_clock::now();
    for (int device = 0; device < test.launched; ++device) {
      const DeviceGuard guard(device);
      auto end = ends[device];
      bool absent = test.absent;
      int count = rounds;
      void* arguments[] = {&end, &count, &absent};
      CUDA_CHECK(
          launch_cooperative({reinterpret_cast<const void*>(&meet<Machine>),
                              test.blocks, test.threads, arguments},
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
    if (results[0] != cudaSuccess) break;
  }
  const std::string failure = set.failure().value_or("none");
  std::printf("%s\n", failure.c_str());
  const bool as_expected = (results[0] == cudaSuccess) == (failure == "none") &&
                           failure.find(test.expected) != std::string::npos;
  std::printf("%s\n", as_expected ? "passed" : "FAILED");
  return as_expected ? 0 : 1;
}

// Whether making a set is refused with these words, the current device kept.
template <class Make>
int refused(const char* expected, Make make) {
  try {
    make();
  } catch (const peer_grid::Error& error) {
    int device = -1;
    CUDA_CHECK(cudaGetDevice(&device));
    std::printf("%s\n", error.what());
    const bool found =
        std::string(error.what()).find(expected) != std::string::npos;
    return found && device == 0 ? 0 : 1;
  }
  std::printf("not refused: %s\n", expected);
  return 1;
}

int run_refusals() {
  using peer_grid::BarrierSet;
  const int last = static_cast<int>(find_gpus().size()) - 1;
  CUDA_CHECK(cudaSetDevice(0));
  const BarrierSet set({last});
  const auto set_of = [](const std::vector<int>& devices) {
    return [=] { BarrierSet refused(devices); };
  };
  return refused("1 to 16 GPUs, not 0", set_of({})) +
         refused("1 to 16 GPUs, not 17", set_of(std::vector<int>(17))) +
         refused("are the same", set_of({last, last})) +
         refused("GPU 99: invalid device", set_of({0, 99})) +
         refused("wait limit", [] { BarrierSet({0}, kLimit / 1000); }) +
         refused("not 0", [&] { set.for_blocks(0); }) +
         refused("not 65536", [&] { set.for_blocks(65536); });
}

int run(const std::string& name) {
  using peer_grid::GpuMachine;
  if (name == "own_block") {
    return run<GpuMachine>(
        {1, 1, kBlocks, 1, true,
         "GPU 0 waited 500 ms in barrier 1 of its kernel for its own"});
  }
  if (name == "block_count") {
    return run<GpuMachine>(
        {1, 1, kBlocks + 1, 1, false, "GPU 0 was launched with 9 blocks"});
  }
  if (name == "other_gpu") {
    return run<GpuMachine>(
        {2, 1, kBlocks, 1, false,
         "GPU 0 waited 500 ms in barrier 1 of its kernel for GPU 1"});
  }
  if (name == "refusals") return run_refusals();
  if (name == "three_dimensions") {
    Case test;
    test.blocks = dim3(2, 2, 2);
    test.threads = dim3(3, 5, 7);
    test.rounds = 1000;
    return run<GpuMachine>(test);
  }
  if (name == "exact") {
    return run<Exact<LateMachine>>(
        {2, 2, kBlocks, 100000, false, "waited 500 ms in barrier"});
  }
  std::printf("unknown case: %s\n", name.c_str());
  return 2;
}

[[maybe_unused]] const bool kAdded = add_gpu_test(
    "peer_grid_failure", [](const Words& words) { return run(words[0]); });

}  // namespace
}  // namespace syncbench
