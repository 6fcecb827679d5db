// A word to another GPU and back.
#include "explicit_barrier/grid_barriers/node.cuh"
#include "explicit_barrier/methods/barrier_steps.cuh"

namespace syncbench::explicit_barrier {

/// The first GPU and the last one: a word in the memory of each.
template <bool kOrdered>
struct GpusPingPong : BarrierStep {
  using Machine = grid_barriers::NodeMachine<kOrdered>;
  static constexpr void describe(About& about) {
    BarrierStep::describe(about);
    about.operation(
        Scope::kGpus, kOrdered ? "ping_pong_peer_ordered" : "ping_pong_peer",
        kOrdered ? "the same with release and acquire"
                 : "a word from the first GPU to the last, and one back");
    about.set = Set::kEvidence;
    about.longer = 72;
    about.places = 5;  // as on one GPU
    about.fewest_gpus = 2;
    about.make_arguments = make_arguments;
    about.code = ExpectedCode(R"(STG?\b.*STRONG\.SYS.*)")
                     .others(56)
                     .proof(Proof::kMessages)
                     .also(kOrdered ? R"(MEMBAR\.ALL\.SYS)" : "");
  }
  using Argument = grid_barriers::NodeEnd;
  using Local = grid_barriers::NodeEnd;
  static Arguments make_arguments(const std::vector<int>& devices, int blocks);
  static constexpr __host__ __device__ bool takes_part(
      const Position& position) {
    return position.block == 0;
  }
  template <class Here>
  __device__ explicit GpusPingPong(Here& here)
      : game(here.local.rank == 0, here.local.of_gpu[here.local.rank],
             here.local.of_gpu[here.local.rank == 0 ? here.local.gpus - 1 : 0]),
        plays(here.local.rank == 0 || here.local.rank == here.local.gpus - 1) {}
  template <class Here>
  __device__ unsigned operator()(unsigned value, Here& here) {
    if (here.thread == 0 && plays) game.play();
    return value;
  }
  PingPong<Machine> game;
  bool plays;
};

template <bool kOrdered>
Arguments GpusPingPong<kOrdered>::make_arguments(
    const std::vector<int>& devices, int) {
  return grid_barriers::arguments_of_node(devices, true);
}

std::vector<MethodEntry> list_gpu_messages() {
  return entries<GpusPingPong<false>, GpusPingPong<true>>();
}

}  // namespace syncbench::explicit_barrier
