// Takes the place of methods/across_sms/gpus.cu in a BenchmarkInterSM of its
// own: block 0 never comes to the barrier, for stuck_barrier_test.py.
#include "explicit_barrier/arguments.hpp"
#include "explicit_barrier/methods.hpp"
#include "explicit_barrier/timed_kernel.cuh"
#include "peer_grid_barrier/barrier.cuh"

namespace syncbench::explicit_barrier {

struct StuckGridSync : Method {
  static constexpr void describe(About& about) {
    about.barrier(Scope::kGpus, "peer_grid_sync", "");
    about.repeats = 1;
    about.attributes = LaunchAttributes{true};
    about.make_arguments = make_arguments;
    about.code = ExpectedCode().others(800).proof(Proof::kBarrier);
  }
  static constexpr __host__ __device__ bool takes_part(
      const Position& position) {
    return position.block > 0;
  }
  using Argument = peer_grid::BarrierEnd;
  using Local = peer_grid::Barrier;
  static Arguments make_arguments(const std::vector<int>& devices, int blocks) {
    static const peer_grid::BarrierSet set(devices,
                                           std::chrono::milliseconds(500));
    static auto ends = set.for_blocks(blocks);
    Arguments arguments;
    for (auto& end : ends) arguments.of_rank.push_back(&end);
    arguments.failure = [] { return set.failure(); };
    return arguments;
  }
  __device__ unsigned operator()(unsigned value,
                                 Here<None, Local>& here) const {
    here.local.sync();
    return value;
  }
};

std::vector<MethodEntry> list_gpus() { return entries<StuckGridSync>(); }
std::vector<MethodInfo> missing_gpu_methods() { return {}; }

}  // namespace syncbench::explicit_barrier
