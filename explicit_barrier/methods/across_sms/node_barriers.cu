// Barriers of all blocks of several GPUs, as programs have them that write
// their own, with memory order and without.
#include "explicit_barrier/grid_barriers/node.cuh"
#include "explicit_barrier/grid_barriers/node_protocols.hpp"
#include "explicit_barrier/methods.hpp"
#include "explicit_barrier/timed_kernel.cuh"

namespace syncbench::explicit_barrier {

using grid_barriers::NodeEnd;

constexpr const char* kWithoutNodeOrder =
    "it does not order memory between GPUs: a thread may read what one of "
    "another GPU had not yet stored before the barrier";

// What they say of themselves. `kArrival` is how a GPU arrives.
template <template <class> class Between>
struct Texts;

template <>
struct Texts<grid_barriers::HostFlags> {
  static constexpr const char *kName = "host_flags",
                              *kOrderedName = "host_flags_ordered",
                              *kText =
                                  "grid.sync(), a flag of each GPU in host "
                                  "memory, grid.sync()",
                              *kArrival = R"(STG?\b.*STRONG\.SYS.*)";
};

template <>
struct Texts<grid_barriers::AllToAllFlags> {
  static constexpr const char *kName = "all_to_all_flags",
                              *kOrderedName = "all_to_all_flags_ordered",
                              *kText =
                                  "grid.sync(), flags that one warp sets in "
                                  "the memory of every GPU, grid.sync()",
                              *kArrival = R"(STG?\b.*STRONG\.SYS.*)";
};

template <>
struct Texts<grid_barriers::PeerCas> {
  static constexpr const char *kName = "peer_cas",
                              *kOrderedName = "peer_cas_ordered",
                              *kText =
                                  "grid.sync(), compare-and-swap on a counter "
                                  "of the first GPU, grid.sync()",
                              *kArrival = R"(ATOMG?\b.*CAS.*STRONG\.SYS.*)";
};

/// `Between` is of grid_barriers/node_protocols.hpp.
template <template <class> class Between, bool kOrdered>
struct NodeBarrier : Method {
  static constexpr void describe(About& about) {
    about.barrier(
        Scope::kGpus,
        kOrdered ? Texts<Between>::kOrderedName : Texts<Between>::kName,
        kOrdered ? "the same with release and acquire" : Texts<Between>::kText);
    about.caution = kOrdered ? "" : kWithoutNodeOrder;
    about.set = Set::kEvidence;
    about.first_architecture = 70;
    about.longer = 72;
    about.fewest_gpus = 2;
    about.late = true;
    about.repeats = 2;
    about.fits = [](int threads) { return threads == 32 || threads == 1024; };
    about.attributes = LaunchAttributes{true};
    about.make_arguments = make_arguments;
    about.code = ExpectedCode(Texts<Between>::kArrival)
                     .others(160)
                     .proof(Proof::kNode)
                     .also(kOrdered ? R"(MEMBAR\.ALL\.SYS)" : "");
  }
  using Machine = grid_barriers::NodeMachine<kOrdered>;
  using Argument = NodeEnd;
  using Local = NodeEnd;
  static Arguments make_arguments(const std::vector<int>& devices, int blocks);
  template <class Here>
  __device__ explicit NodeBarrier(Here& here) {
    between.learn(Machine(), here.local);
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
  return grid_barriers::arguments_of_node(devices,
                                          Between<Machine>::kNeedsPeerAccess);
}

std::vector<MethodEntry> list_node_barriers() {
  using namespace grid_barriers;
  return entries<NodeBarrier<HostFlags, false>, NodeBarrier<HostFlags, true>,
                 NodeBarrier<PeerCas, false>, NodeBarrier<PeerCas, true>,
                 NodeBarrier<AllToAllFlags, false>,
                 NodeBarrier<AllToAllFlags, true>>();
}

}  // namespace syncbench::explicit_barrier
