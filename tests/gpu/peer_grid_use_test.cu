// GPU test: what a program that uses barriers of two GPUs has to see to
// (peer_grid_barrier/barrier.cuh). Kernels that meet in different order, or
// behind too much other work, end by the limit; memory lasts as long as a
// kernel of any GPU. Cases may break CUDA for their process, so each is run
// alone:
//
// arguments: CASE, which CMakeLists.txt names
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "common/cuda_resources.hpp"
#include "common/launch.hpp"
#include "peer_grid_barrier/barrier.cuh"
#include "tests/gpu/gpu_test.hpp"

namespace syncbench {
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
                 int rounds = 1, int blocks = kBlocks) {
  auto end = set.for_blocks<Machine>(blocks).at(device);
  void* arguments[] = {&end, &rounds};
  const DeviceGuard guard(device);
  CUDA_CHECK(launch_cooperative(
      {reinterpret_cast<const void*>(&meet<Machine>), blocks, 64, arguments},
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

// Blocks that fill a GPU.
int most_blocks() {
  int an_sm = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &an_sm, meet<GpuMachine>, 64, 0));
  return an_sm * find_gpus()[0].sm_count;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
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

// The same in two streams a GPU, where a kernel leaves no room for another.
int run_no_room() {
  const BarrierSet first(kDevices, kLimit), second(kDevices, kLimit);
  const std::vector<Stream> early = make_streams(kDevices);
  const std::vector<Stream> late = make_streams(kDevices);
  const int blocks = most_blocks();
  launch_meet(first, 0, early[0], 1, blocks);
  launch_meet(second, 1, early[1], 1, blocks);
  std::this_thread::sleep_for(100ms);  // until both run
  launch_meet(second, 0, late[0], 1, blocks);
  launch_meet(first, 1, late[1], 1, blocks);
  const bool well = all_well({&early, &late});
  const std::string why_first = first.failure().value_or("none");
  const std::string why_second = second.failure().value_or("none");
  std::printf("%s\n%s\n", why_first.c_str(), why_second.c_str());
  return verdict(!well && (why_first != "none" || why_second != "none"));
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

// As when the launch on GPU 0 has failed: the kernel of GPU 1 waits in vain,
// and who destroys the set waits until the limit has ended it.
int run_one_launched() {
  const std::vector<Stream> streams = make_streams(kDevices);
  const auto start = std::chrono::steady_clock::now();
  {
    const BarrierSet set(kDevices, kLimit);
    launch_spin(1, streams[1], 300ms);
    launch_meet(set, 1, streams[1]);
  }
  const cudaError_t result = cudaStreamQuery(streams[1].get());
  std::printf("%s after %.3f s\n", cudaGetErrorName(result),
              seconds_since(start));
  return verdict(result != cudaSuccess && result != cudaErrorNotReady);
}

int run(const std::string& name) {
  if (find_gpus().size() < 2) {
    std::printf("skipped: needs 2 GPUs\n");
    return kSkipped;
  }
  if (name == "same_order") return run_order(true);
  if (name == "other_order") return run_order(false);
  if (name == "no_room") return run_no_room();
  if (name == "short_queue") return run_queued(kLimit / 5);
  if (name == "long_queue") return run_queued(kLimit * 3);
  if (name == "lifetime") return run_lifetime();
  if (name == "one_launched") return run_one_launched();
  std::printf("unknown case: %s\n", name.c_str());
  return 2;
}

[[maybe_unused]] const bool kAdded = add_gpu_test(
    "peer_grid_use", [](const Words& words) { return run(words[0]); });

}  // namespace
}  // namespace syncbench
