// GPU test: the barrier of several processes, each with a GPU. It orders
// memory, whoever is late; a process that ends, or is not there, is named by
// those that wait for it, within the limit. barrier_set_test has those that
// cannot begin, and sets that follow each other.
//
// arguments: CASE [rounds], which CMakeLists.txt names
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <thread>

#include "peer_grid_barrier/process_barrier_set.cuh"
#include "tests/gpu/forked_processes.hpp"
#include "tests/gpu/order_boards.cuh"

namespace syncbench::process_barrier {
namespace {

using namespace std::chrono_literals;
using peer_grid::GpuMachine;
using peer_grid::ProcessBarrierSet;
using peer_grid::Processes;
using peer_grid::ProcessMemory;

/// Launches of one process, over boards that all have.
class ProcessOrderTest {
 public:
  ProcessOrderTest(int device, int most_blocks, const Processes& processes)
      : processes_(processes),
        set_(device, processes),
        memory_(device, most_blocks * kWords * kApart * sizeof(unsigned),
                processes),
        stale_(device, 1),
        stream_(device) {
    stale_.set_to_zero();
    for (int rank = 0; rank < processes.count; ++rank) {
      boards_.of_rank[rank] = static_cast<unsigned*>(
          memory_.of_rank()[(rank + 1) % processes.count]);
    }
  }

  /// Launches that follow each other. Returns 1 when a word was stale.
  template <class Machine>
  int check(const char* what, const std::vector<Shape>& shapes) {
    using End = peer_grid::BasicBarrierEnd<Machine>;
    const auto start = std::chrono::steady_clock::now();
    std::deque<RankLaunch<End>> launches;
    for (const Shape& shape : shapes) {
      launches.emplace_back(set_.for_blocks<Machine>(shape.blocks), boards_,
                            processes_.rank, processes_.count, before_, shape,
                            stale_.get());
      before_ += shape.rounds;
      CUDA_CHECK(
          launch_cooperative(launches.back().call(shape), stream_.get()));
    }
    const cudaError_t result = cudaStreamSynchronize(stream_.get());
    if (const auto why = set_.failure()) throw std::runtime_error(*why);
    CUDA_CHECK(result);
    const unsigned long long stale = stale_.read()[0];
    std::printf(
        "process %d: %s, %zu x %d blocks x %d threads, %d rounds: "
        "%llu stale, %.1f s\n",
        processes_.rank, what, shapes.size(), shapes[0].blocks,
        shapes[0].threads, shapes[0].rounds, stale, seconds_since(start));
    return stale == 0 ? 0 : 1;
  }

  void close() {
    memory_.close();
    set_.close();
  }

 private:
  Processes processes_;
  ProcessBarrierSet set_;
  ProcessMemory memory_;
  DeviceBuffer<unsigned long long> stale_;
  Stream stream_;
  Boards boards_ = {};
  int before_ = 0;  // rounds
};

int run_order(const Processes& processes, int rounds) {
  const int device = processes.rank;
  CUDA_CHECK(cudaSetDevice(device));
  const int sms = find_gpus()[device].sm_count;
  ProcessOrderTest test(device, 16 * sms, processes);
  int failures = test.check<GpuMachine>("as shipped", {{sms, 64, rounds}});
  for (const int blocks : {1, 3, 4 * sms, 12 * sms, 16 * sms}) {
    failures +=
        test.check<GpuMachine>("as shipped", {{blocks, 33, rounds / 100}});
  }
  failures += test.check<LateMachine>("delays", {{8, 64, rounds / 4}}) +
              test.check<LateMachine>("delays", {{sms, 64, rounds / 10}}) +
              test.check<LateMachine>("delays", {{12 * sms, 33, rounds / 10}});
  std::vector<Shape> launches;
  for (int i = 0; i < 40; ++i) {
    for (const int blocks : {1, sms, 12 * sms, 3}) {
      launches.push_back({blocks, 33, 3});
    }
  }
  failures += test.check<LateMachine>("delays, launches in a row", launches);
  test.close();
  return failures == 0 ? 0 : 1;
}

// All processes on one GPU, which runs them in turn: every barrier waits for
// the other's turn.
int run_same_gpu(const Processes& processes, int rounds) {
  CUDA_CHECK(cudaSetDevice(0));
  ProcessOrderTest test(0, 8, processes);
  const int failures = test.check<GpuMachine>("one GPU", {{8, 64, rounds}});
  test.close();
  return failures;
}

__global__ void meet(peer_grid::BarrierEnd end, int rounds) {
  peer_grid::Barrier barrier(end);
  for (int round = 0; round < rounds; ++round) barrier.sync();
}

constexpr std::chrono::milliseconds kLimit = 2s;
constexpr int kVictim = 1;

// One process is killed, before its kernel or in it. The others' kernels end
// within the limit and say who did not come.
int run_killed(const Processes& processes, bool in_kernel) {
  const int device = processes.rank;
  CUDA_CHECK(cudaSetDevice(device));
  const ProcessBarrierSet set(device, processes, kLimit);
  const Stream stream(device);
  auto end = set.for_blocks(8);
  int rounds = 3000000;  // seconds
  void* arguments[] = {&end, &rounds};
  const bool victim = processes.rank == kVictim;
  if (victim && !in_kernel) std::raise(SIGKILL);
  CUDA_CHECK(launch_cooperative(
      {reinterpret_cast<const void*>(&meet), 8, 64, arguments}, stream.get()));
  std::this_thread::sleep_for(500ms);
  if (victim) std::raise(SIGKILL);
  const auto start = std::chrono::steady_clock::now();
  const cudaError_t result = cudaStreamSynchronize(stream.get());
  const double seconds = seconds_since(start);
  const std::string why = set.failure().value_or("none");
  std::printf("process %d: %s after %.1f s: %s\n", processes.rank,
              cudaGetErrorName(result), seconds, why.c_str());
  const bool right = result != cudaSuccess &&
                     why.find(set.name_of(processes.rank) +
                              " waited 2000 ms in barrier ") != why.npos &&
                     why.find(" for " + set.name_of(kVictim)) != why.npos;
  return right ? 0 : 1;
}

int verdict(int code) {
  std::printf("%s\n", code == 0          ? "passed"
                      : code == kSkipped ? "skipped"
                                         : "FAILED");
  return code;
}

int run(const std::string& name, int rounds) {
  const int gpus = count_gpus_apart();
  if (name == "same_gpu") {
    if (gpus < 1) return verdict(kSkipped);
    return verdict(exit_code_of(run_forked(2, [=](const Processes& processes) {
      return run_same_gpu(processes, std::min(rounds, 200));
    })));
  }
  if (gpus < 2) {
    std::printf("needs 2 GPUs\n");
    return verdict(kSkipped);
  }
  const auto all = [&](auto test) {
    return run_forked(std::min(gpus, peer_grid::kMaxGpus), test);
  };
  if (name == "order") {
    return verdict(exit_code_of(all([=](const Processes& processes) {
      return run_order(processes, rounds);
    })));
  }
  if (name == "killed" || name == "killed_early") {
    std::vector<int> ends = all([&](const Processes& processes) {
      return run_killed(processes, name == "killed");
    });
    const int victim = ends.at(kVictim);
    ends.erase(ends.begin() + kVictim);
    const int code = exit_code_of(ends);
    if (code == kSkipped) return verdict(code);
    const bool killed = WIFSIGNALED(victim) && WTERMSIG(victim) == SIGKILL;
    return verdict(killed ? code : 1);
  }
  std::printf("unknown case: %s\n", name.c_str());
  return 2;
}

[[maybe_unused]] const bool kAdded = add_test_of_processes(
    "process_barrier",
    [](const Words& words) { return run(words[0], words.number(1, 20000)); });

}  // namespace
}  // namespace syncbench::process_barrier
