// GPU test: what a program that uses the multi-GPU barrier has to see to
// (peer_grid_barrier/barrier.cuh). Kernels that meet in different order, behind
// too much other work or with another number of blocks end by the limit and say
// why; what cannot work is refused; memory lasts as long as a kernel of any
// GPU. stuck_barrier_test.py has a block that never comes. Cases may break CUDA
// for their process, so each is run alone:
//
// arguments: CASE, which CMakeLists.txt names
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "common/cuda_resources.hpp"
#include "common/launch.hpp"
#include "peer_grid_barrier/barrier.cuh"
#include "tests/gpu/gpu_test.hpp"
#include "tests/gpu/late_machine.cuh"

namespace syncbench::peer_grid_use {
namespace {

using namespace std::chrono_literals;
using peer_grid::BarrierSet;
using peer_grid::GpuMachine;

constexpr int kBlocks = 8;
constexpr std::chrono::milliseconds kLimit = 500ms;
const std::vector<int> kDevices = {0, 1};

// Arrives, announces, and waits for nobody.
struct Hasty : GpuMachine {
  template <class Done>
  __device__ void wait_gpu(const unsigned*, Done, peer_grid::Failure) const {}
  template <class Done>
  __device__ void wait_system(const unsigned*, Done, peer_grid::Failure) const {
  }
};

template <class Machine>
__global__ void meet(peer_grid::BasicBarrierEnd<Machine> end, int rounds) {
  peer_grid::BasicBarrier<Machine> barrier(end);
  for (int round = 0; round < rounds; ++round) barrier.sync();
}

__global__ void spin(long long nanoseconds) {
  const auto now = [] {
    long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
  };
  const long long start = now();
  while (now() - start < nanoseconds) {
  }
}

template <class Machine = GpuMachine>
void launch_meet(const BarrierSet& set, int device, const Stream& stream,
                 int rounds = 1, dim3 blocks = kBlocks, dim3 threads = 64) {
  auto end = set.for_blocks<Machine>(kBlocks).at(device);
  void* arguments[] = {&end, &rounds};
  const DeviceGuard guard(device);
  CUDA_CHECK(launch_cooperative({reinterpret_cast<const void*>(&meet<Machine>),
                                 blocks, threads, arguments},
                                stream.get()));
}

void launch_spin(int device, const Stream& stream,
                 std::chrono::nanoseconds time) {
  long long nanoseconds = time.count();
  void* arguments[] = {&nanoseconds};
  const DeviceGuard guard(device);
  CUDA_CHECK(launch_traditional(
      {reinterpret_cast<const void*>(&spin), 1, 1, arguments}, stream.get()));
}

// Prints, and returns an exit code.
int verdict(bool as_expected) {
  std::printf("%s\n", as_expected ? "passed" : "FAILED");
  return as_expected ? 0 : 1;
}

// Waits for the streams; returns whether all have ended well.
bool all_well(const std::vector<const std::vector<Stream>*>& lists) {
  bool well = true;
  const auto start = std::chrono::steady_clock::now();
  for (const auto* list : lists) {
    for (const Stream& stream : *list) {
      const cudaError_t result = cudaStreamSynchronize(stream.get());
      std::printf("%s after %.3f s\n", cudaGetErrorName(result),
                  seconds_since(start));
      well = well && result == cudaSuccess;
    }
  }
  return well;
}

// Two sets: GPU 0 runs the kernel of the first before that of the second.
int run_order(bool same_on_gpu_1) {
  const BarrierSet first(kDevices, kLimit), second(kDevices, kLimit);
  const std::vector<Stream> streams = make_streams(kDevices);
  launch_meet(first, 0, streams[0]);
  launch_meet(same_on_gpu_1 ? first : second, 1, streams[1]);
  launch_meet(second, 0, streams[0]);
  launch_meet(same_on_gpu_1 ? second : first, 1, streams[1]);
  const bool well = all_well({&streams});
  const std::string why_first = first.failure().value_or("none");
  const std::string why_second = second.failure().value_or("none");
  std::printf("%s\n%s\n", why_first.c_str(), why_second.c_str());
  if (same_on_gpu_1) {
    return verdict(well && why_first == "none" && why_second == "none");
  }
  // The end of one GPU's kernel may take the other's with it.
  const std::string waited = " waited 500 ms in barrier 1 of its kernel for ";
  const bool by_first =
      why_first.find("GPU 0" + waited + "GPU 1") != why_first.npos;
  const bool by_second =
      why_second.find("GPU 1" + waited + "GPU 0") != why_second.npos;
  return verdict(!well && (by_first || by_second));
}

// The kernel of GPU 1 stands behind other work.
int run_queued(std::chrono::milliseconds work) {
  const BarrierSet set(kDevices, kLimit);
  const std::vector<Stream> streams = make_streams(kDevices);
  launch_spin(1, streams[1], work);
  for (const int device : kDevices) launch_meet(set, device, streams[device]);
  const bool well = all_well({&streams});
  const std::string why = set.failure().value_or("none");
  std::printf("%s\n", why.c_str());
  if (work < kLimit) return verdict(well && why == "none");
  return verdict(!well && why.find("GPU 0 waited 500 ms in barrier 1 of its "
                                   "kernel for GPU 1") != why.npos);
}

// GPU 0 is done while GPU 1 still has to announce a barrier to it.
void leave_behind(const BarrierSet& set, const std::vector<Stream>& streams) {
  launch_meet<Hasty>(set, 0, streams[0]);
  launch_spin(1, streams[1], 300ms);
  launch_meet(set, 1, streams[1]);
}

bool runs(const Stream& stream) {
  const cudaError_t result = cudaStreamQuery(stream.get());
  if (result != cudaErrorNotReady) CUDA_CHECK(result);
  return result == cudaErrorNotReady;
}

// Moving waits for nothing; assigning and destroying do, for both GPUs.
int run_lifetime() {
  const std::vector<Stream> streams = make_streams(kDevices);
  bool right = true;
  {
    BarrierSet set(kDevices, kLimit), other(kDevices, kLimit);
    leave_behind(set, streams);
    BarrierSet moved = std::move(set);
    right = right && runs(streams[1]);
    moved = std::move(other);
    right = right && !runs(streams[1]);
    for (const int device : kDevices) {
      launch_meet(moved, device, streams[device], 100);
    }
    right = all_well({&streams}) && right && !moved.failure();
    leave_behind(moved, streams);
    right = right && runs(streams[1]);
  }
  right = right && !runs(streams[1]);
  int device = -1;
  CUDA_CHECK(cudaGetDevice(&device));
  return verdict(all_well({&streams}) && right && device == 0);
}

// On one GPU.
int run_shape(int rounds, dim3 blocks, dim3 threads, const char* expected) {
  const BarrierSet set({0}, kLimit);
  std::vector<Stream> streams = make_streams({0});
  launch_meet(set, 0, streams[0], rounds, blocks, threads);
  const bool well = all_well({&streams});
  const std::string why = set.failure().value_or("none");
  std::printf("%s\n", why.c_str());
  return verdict(well == (why == "none") && why.find(expected) != why.npos);
}

// A barrier that waits for one number and no other misses it.
int run_exact() {
  const BarrierSet set(kDevices, kLimit);
  const std::vector<Stream> streams = make_streams(kDevices);
  bool well = true;
  for (const int rounds : {0, 100000}) {  // the first loads the code
    for (const int device : kDevices) {
      launch_meet<Exact<LateMachine>>(set, device, streams[device], rounds,
                                      kBlocks, 2);
    }
    well = all_well({&streams});
    if (!well && rounds == 0) return verdict(false);
  }
  const std::string why = set.failure().value_or("none");
  std::printf("%s\n", why.c_str());
  return verdict(!well && why.find("waited 500 ms in barrier") != why.npos);
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
  if (name == "block_count") {
    return run_shape(1, kBlocks + 1, 2, "GPU 0 was launched with 9 blocks");
  }
  if (name == "three_dimensions") {
    return run_shape(1000, dim3(2, 2, 2), dim3(3, 5, 7), "none");
  }
  if (name == "refusals") return run_refusals();
  if (find_gpus().size() < 2) {
    std::printf("skipped: needs 2 GPUs\n");
    return kSkipped;
  }
  if (name == "same_order") return run_order(true);
  if (name == "other_order") return run_order(false);
  if (name == "short_queue") return run_queued(kLimit / 5);
  if (name == "long_queue") return run_queued(kLimit * 3);
  if (name == "lifetime") return run_lifetime();
  if (name == "exact") return run_exact();
  std::printf("unknown case: %s\n", name.c_str());
  return 2;
}

[[maybe_unused]] const bool kAdded = add_gpu_test(
    "peer_grid_use", [](const Words& words) { return run(words[0]); });

}  // namespace
}  // namespace syncbench::peer_grid_use
