// GPU test: do the grid barriers of the literature order memory? Every block
// writes, meets the barrier, and reads what another block wrote, for many
// rounds. One stale value fails a barrier that says that it orders memory; of
// the published forms that do not, the count is told.
//
// arguments: [rounds]
#include <cstdio>
#include <vector>

#include "explicit_barrier/grid_barriers/gpu_machine.cuh"
#include "explicit_barrier/grid_barriers/protocols.hpp"
#include "tests/gpu/gpu_test.hpp"
#include "tests/gpu/order_boards.cuh"

namespace syncbench {

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

namespace {

template <class Machine>
using Lock = grid_barriers::LockBarrier<Machine>;
template <class Machine>
using Flags = grid_barriers::FlagBarrier<Machine>;

class GridOrderTest {
 public:
  GridOrderTest(const Gpu& gpu, int rounds)
      : gpus_({gpu}), sms_(gpu.sm_count), rounds_(rounds) {}

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
  /// 1 where a word was stale.
  template <template <class> class Protocol,
            class Machine = GpuMachine<Order::kReleaseAcquire>>
  int check(const char* name, int cluster = 0) {
    unsigned long long stale = 0;
    for (const Shape& shape : {Shape{sms_, 64, rounds_}, Shape{2, 33, rounds_},
                               Shape{sms_, 1024, rounds_ / 10, kManyWords},
                               Shape{2 * sms_, 512, rounds_ / 10, kManyWords},
                               Shape{16 * sms_, 64, rounds_ / 10}}) {
      // Of clusters a cooperative launch holds fewer.
      if (cluster > 0 && shape.blocks > 2 * sms_) continue;
      DeviceBuffer<unsigned> words(gpus_[0].index,
                                   Protocol<Machine>::words(shape.blocks));
      words.set_to_zero();
      stale += count_stale(
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
    }
    std::printf("%s: %llu stale\n", name, stale);
    std::fflush(stdout);
    return stale == 0 ? 0 : 1;
  }

  std::vector<Gpu> gpus_;
  int sms_, rounds_;
};

int run(int rounds) {
  std::vector<Gpu> gpus = find_gpus();
  prepare_gpus(gpus);
  if (gpus[0].major < 7 || !gpus[0].cooperative_launch) return kSkipped;
  const int failures = GridOrderTest(gpus[0], rounds).run();
  std::printf("%s\n", failures == 0 ? "passed" : "FAILED");
  return failures == 0 ? 0 : 1;
}

[[maybe_unused]] const bool kAdded = add_gpu_test(
    "grid_barrier_order",
    [](const Words& words) { return run(words.number(0, 20000)); });

}  // namespace
}  // namespace syncbench
