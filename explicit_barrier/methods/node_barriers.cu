// Barriers of all blocks of several GPUs, as programs have them that write
// their own, with memory order and without.
#include <memory>

#include "common/errors.hpp"
#include "common/peer_access.hpp"
#include "explicit_barrier/arguments.hpp"
#include "explicit_barrier/grid_barriers/node.cuh"
#include "explicit_barrier/grid_barriers/node_protocols.hpp"
#include "explicit_barrier/methods.hpp"
#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench {

using grid_barriers::NodeEnd;

/// What all of them are. `Between` is of grid_barriers/node_protocols.hpp.
template <template <class> class Between, bool kOrdered>
struct NodeBarrier : Method {
  using Machine = grid_barriers::NodeMachine<kOrdered>;
  static constexpr int kFirstArchitecture = 70;
  static constexpr int repeats(int) { return 2; }
  static constexpr int kMostInLine = 4;
  static constexpr bool kInTestRepeat = false;
  static constexpr int kLonger = 72;
  static constexpr int kFewestGpus = 2;
  static constexpr bool fits(int threads) {
    return threads == 32 || threads == 1024;
  }
  static constexpr LaunchAttributes attributes(int) { return {true}; }
  using Argument = NodeEnd;
  using Local = Between<Machine>;
  static Arguments make_arguments(const std::vector<int>& devices, int blocks);
  template <class Here>
  __device__ explicit NodeBarrier(Here& here) : between(here.local) {
    between.learn(Machine());
  }
  template <class Here>
  __device__ unsigned operator()(unsigned value, Here&) {
    sync_node(between, Machine());
    return value;
  }
  Between<Machine> between;
};

template <template <class> class Between, bool kOrdered>
Arguments NodeBarrier<Between, kOrdered>::make_arguments(
    const std::vector<int>& devices, int) {
  if (devices.size() > grid_barriers::kMostGpus) {
    throw CannotMeasure("too-many-gpus",
                        "it is for at most " +
                            std::to_string(grid_barriers::kMostGpus) + " GPUs");
  }
  if (!enable_peer_access(devices)) {
    throw CannotMeasure("no-peer-access", "no peer access between these GPUs");
  }
  const auto memory = std::make_shared<grid_barriers::NodeMemory>(devices);
  Arguments arguments;
  for (NodeEnd& end : memory->ends()) arguments.of_rank.push_back(&end);
  arguments.failure = [memory] { return std::nullopt; };
  return arguments;
}

constexpr const char* kWithoutNodeOrder =
    "it does not order memory between GPUs: a thread may read what one of "
    "another GPU had not yet stored before the barrier";

template <bool kOrdered>
struct HostFlagsSync : NodeBarrier<grid_barriers::HostFlags, kOrdered> {
  static constexpr About kAbout = {
      kOrdered ? "host_flags_ordered" : "host_flags",
      kOrdered ? "the same with release and acquire"
               : "grid.sync(), a flag of each GPU in host memory, grid.sync()",
      Scope::kGpus, Window::kBarrier, kOrdered ? "" : kWithoutNodeOrder};
  static constexpr Work work(int) {
    return {R"(STG?\b.*STRONG\.SYS.*)", 1, 160, Proof::kParts};
  }
  using Late = HostFlagsSync;
  using HostFlagsSync::NodeBarrier::NodeBarrier;
};

template <bool kOrdered>
struct AllToAllSync : NodeBarrier<grid_barriers::AllToAllFlags, kOrdered> {
  static constexpr About kAbout = {
      kOrdered ? "all_to_all_flags_ordered" : "all_to_all_flags",
      kOrdered ? "the same with release and acquire"
               : "grid.sync(), flags that one warp sets in the memory of every "
                 "GPU, grid.sync()",
      Scope::kGpus, Window::kBarrier, kOrdered ? "" : kWithoutNodeOrder};
  static constexpr Work work(int) {
    return {R"(STG?\b.*STRONG\.SYS.*)", 1, 160, Proof::kParts};
  }
  using Late = AllToAllSync;
  using AllToAllSync::NodeBarrier::NodeBarrier;
};

template <bool kOrdered>
struct PeerCasSync : NodeBarrier<grid_barriers::PeerCas, kOrdered> {
  static constexpr About kAbout = {
      kOrdered ? "peer_cas_ordered" : "peer_cas",
      kOrdered ? "the same with release and acquire"
               : "grid.sync(), compare-and-swap on a counter of the first GPU, "
                 "grid.sync()",
      Scope::kGpus, Window::kBarrier, kOrdered ? "" : kWithoutNodeOrder};
  static constexpr Work work(int) {
    return {R"(ATOMG?\b.*CAS.*STRONG\.SYS.*)", 1, 160, Proof::kParts};
  }
  using Late = PeerCasSync;
  using PeerCasSync::NodeBarrier::NodeBarrier;
};

std::vector<MethodEntry> node_barrier_methods() {
  return entries<HostFlagsSync<false>, HostFlagsSync<true>, PeerCasSync<false>,
                 PeerCasSync<true>, AllToAllSync<false>, AllToAllSync<true>>();
}

}  // namespace syncbench
