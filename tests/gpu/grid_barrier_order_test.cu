// GPU test: do the grid barriers of the literature order memory, and barriers
// of several GPUs that programs write for themselves? Every block writes, meets
// the barrier, and reads what other blocks wrote, for many rounds. One stale
// value fails a barrier that says that it orders memory; of the others, as they
// were published, the count is told.
//
// arguments: [rounds]
#include <cstdio>
#include <vector>

#include "explicit_barrier/grid_barriers/gpu_machine.cuh"
#include "explicit_barrier/grid_barriers/node.cuh"
#include "explicit_barrier/grid_barriers/protocols.hpp"
#include "tests/gpu/gpu_test.hpp"
#include "tests/gpu/order_boards.cuh"

namespace syncbench::grid_barrier_order {

using grid_barriers::GpuMachine;
using grid_barriers::Order;

template <template <class> class Protocol, class Machine>
class GridBarrier {
 public:
  using End = EndOf<GridBarrier, unsigned*>;
  __device__ explicit GridBarrier(const End& end) : protocol_(end.memory) {
    protocol_.learn(Machine());
  }
  __device__ void sync() { protocol_.sync(Machine()); }

 private:
  Protocol<Machine> protocol_;
};

/// Of several GPUs.
template <template <class> class Between, bool kOrdered>
class OwnBarrier {
 public:
  using Machine = grid_barriers::NodeMachine<kOrdered>;
  using End = EndOf<OwnBarrier, grid_barriers::NodeEnd>;
  __device__ explicit OwnBarrier(const End& end) {
    between_.learn(Machine(), end.memory);
  }
  __device__ void sync() { sync_node(between_, Machine()); }

 private:
  Between<Machine> between_;
};

namespace {

template <class Machine>
using Lock = grid_barriers::LockBarrier<Machine>;
template <class Machine>
using Flags = grid_barriers::FlagBarrier<Machine>;

/// 1 where words were stale, as stale_of(shape) counts them.
template <class StaleOf>
int check_all(const char* name, const std::vector<Gpu>& gpus, int rounds,
              StaleOf stale_of) {
  const int sms = gpus[0].sm_count;
  unsigned long long stale = 0;
  for (const Shape& shape : {Shape{sms, 64, rounds}, Shape{2, 33, rounds},
                             Shape{sms, 1024, rounds / 10, kManyWords},
                             Shape{2 * sms, 512, rounds / 10, kManyWords},
                             Shape{16 * sms, 64, rounds / 10}}) {
    stale += stale_of(shape);
  }
  std::printf("%s: %zu GPUs: %llu stale\n", name, gpus.size(), stale);
  std::fflush(stdout);
  return stale == 0 ? 0 : 1;
}

class GridOrderTest {
 public:
  GridOrderTest(const Gpu& gpu, int rounds) : gpus_({gpu}), rounds_(rounds) {}

  int run() {
    using namespace grid_barriers;
    check<Lock, XiaoFengMachine>("xiao_feng_lock");
    int failures = check<Lock>("xiao_feng_lock_ordered");
    check<Flags, GpuMachine<Order::kNone>>("xiao_feng_flags");
    failures += check<Flags>("xiao_feng_flags_ordered") +
                check<RaisedFlagBarrier>("sorensen_flags");
    check<RaisedFlagBarrier, GpuMachine<Order::kFences>>(
        "sorensen_flags in the order of cub::GridBarrier");
    check<SenseBarrier, GpuMachine<Order::kFences>>("sense_reversing");
    failures += check<SenseBarrier>("sense_reversing_ordered");
    if (gpus_[0].major >= 9) {
      failures += check<ClusterFirstBarrier>("cluster_first", 2);
    }
    return failures;
  }

 private:
  template <template <class> class Protocol,
            class Machine = GpuMachine<Order::kReleaseAcquire>>
  int check(const char* name, int cluster = 0) {
    const auto stale_of = [&](const Shape& shape) -> unsigned long long {
      // Of clusters a cooperative launch holds fewer.
      if (cluster > 0 && shape.blocks > 2 * gpus_[0].sm_count) return 0;
      DeviceBuffer<unsigned> words(gpus_[0].index,
                                   Protocol<Machine>::words(shape.blocks));
      words.set_to_zero();
      return count_stale(
          gpus_, {shape},
          [&](int, int) {
            return typename GridBarrier<Protocol, Machine>::End{words.get()};
          },
          [cluster](const std::vector<Gpu>& gpus, const CallsOfRanks& calls) {
            const Stream stream(gpus[0].index);
            for (const KernelCall& call : calls[0]) {
              CUDA_CHECK(launch(call, stream.get(), {true, cluster}));
            }
            CUDA_CHECK(cudaStreamSynchronize(stream.get()));
          });
    };
    return check_all(name, gpus_, rounds_, stale_of);
  }

  std::vector<Gpu> gpus_;
  int rounds_;
};

template <template <class> class Between, bool kOrdered>
int check_node(const char* name, const std::vector<Gpu>& gpus, int rounds) {
  return check_all(
      name, gpus, rounds, [&](const Shape& shape) -> unsigned long long {
        // They are measured with so few blocks.
        if (shape.blocks > 2 * gpus[0].sm_count) return 0;
        grid_barriers::NodeMemory memory(device_numbers(gpus));
        return count_stale(
            gpus, {shape, shape},
            [&](int rank, int) {
              using End = typename OwnBarrier<Between, kOrdered>::End;
              return End{memory.ends()[rank]};
            },
            launch_by_threads);
      });
}

int verdict(int failures) {
  std::printf("%s\n", failures == 0 ? "passed" : "FAILED");
  return failures == 0 ? 0 : 1;
}

int run_grids(int rounds) {
  std::vector<Gpu> gpus = find_gpus();
  prepare_gpus(gpus);
  if (gpus[0].major < 7 || !gpus[0].cooperative_launch) return kSkipped;
  return verdict(GridOrderTest(gpus[0], rounds).run());
}

int run_nodes(int rounds) {
  using namespace grid_barriers;
  const std::vector<Gpu> gpus = gpus_with_access(kMostGpus);
  if (gpus.empty()) return kSkipped;
  check_node<HostFlags, false>("host_flags", gpus, rounds);
  check_node<AllToAllFlags, false>("all_to_all_flags", gpus, rounds);
  check_node<PeerCas, false>("peer_cas", gpus, rounds);
  return verdict(
      check_node<HostFlags, true>("host_flags_ordered", gpus, rounds) +
      check_node<AllToAllFlags, true>("all_to_all_flags_ordered", gpus,
                                      rounds) +
      check_node<PeerCas, true>("peer_cas_ordered", gpus, rounds));
}

[[maybe_unused]] const bool kAdded =
    add_gpu_test(
        "grid_barrier_order",
        [](const Words& words) { return run_grids(words.number(0, 20000)); }) &&
    add_gpu_test("node_barrier_order", [](const Words& words) {
      return run_nodes(words.number(0, 20000));
    });

}  // namespace
}  // namespace syncbench::grid_barrier_order
