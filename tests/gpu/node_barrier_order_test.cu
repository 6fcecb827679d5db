// GPU test: do barriers of several GPUs that programs write for themselves
// order memory? As multi_gpu_order_test. One stale word fails a barrier that
// says that it orders memory; of the others the count is told.
//
// arguments: [rounds]
#include <cstdio>
#include <vector>

#include "common/peer_access.hpp"
#include "explicit_barrier/grid_barriers/node.cuh"
#include "tests/gpu/gpu_test.hpp"
#include "tests/gpu/order_boards.cuh"

namespace syncbench::explicit_barrier {

using grid_barriers::NodeEnd;
using grid_barriers::NodeMachine;

template <template <class> class Between, bool kOrdered>
class OwnBarrier {
 public:
  using Machine = NodeMachine<kOrdered>;
  using End = EndOf<OwnBarrier, NodeEnd>;
  __device__ explicit OwnBarrier(const End& end) {
    between_.learn(Machine(), end.memory);
  }
  __device__ void sync() { sync_node(between_, Machine()); }

 private:
  Between<Machine> between_;
};

namespace {

// 1 where a word was stale.
template <template <class> class Between, bool kOrdered>
int check(const char* name, const std::vector<Gpu>& gpus, int rounds) {
  const int sms = gpus[0].sm_count;
  unsigned long long stale = 0;
  for (const Shape& shape : {Shape{sms, 64, rounds}, Shape{2, 33, rounds},
                             Shape{sms, 1024, rounds / 10, kManyWords},
                             Shape{2 * sms, 512, rounds / 10, kManyWords}}) {
    grid_barriers::NodeMemory memory(device_numbers(gpus));
    stale += count_stale(
        gpus, {shape, shape},
        [&](int rank, int) {
          using End = typename OwnBarrier<Between, kOrdered>::End;
          return End{memory.ends()[rank]};
        },
        launch_by_threads);
  }
  std::printf("%s: %zu GPUs: %llu stale\n", name, gpus.size(), stale);
  std::fflush(stdout);
  return stale == 0 ? 0 : 1;
}

int run(int rounds) {
  using namespace grid_barriers;
  std::vector<Gpu> gpus = find_gpus();
  if (gpus.size() > kMostGpus) gpus.resize(kMostGpus);
  prepare_gpus(gpus);
  if (gpus.size() < 2 || gpus[0].major < 7 || !gpus[0].cooperative_launch ||
      !enable_peer_access(device_numbers(gpus))) {
    return kSkipped;
  }
  check<HostFlags, false>("host_flags", gpus, rounds);
  check<AllToAllFlags, false>("all_to_all_flags", gpus, rounds);
  check<PeerCas, false>("peer_cas", gpus, rounds);
  const int failures =
      check<HostFlags, true>("host_flags_ordered", gpus, rounds) +
      check<AllToAllFlags, true>("all_to_all_flags_ordered", gpus, rounds) +
      check<PeerCas, true>("peer_cas_ordered", gpus, rounds);
  std::printf("%s\n", failures == 0 ? "passed" : "FAILED");
  return failures == 0 ? 0 : 1;
}

[[maybe_unused]] const bool kAdded = add_gpu_test(
    "node_barrier_order",
    [](const Words& words) { return run(words.number(0, 20000)); });

}  // namespace
}  // namespace syncbench::explicit_barrier
