// Barriers of all blocks of one GPU, as the literature has them: each in its
// published memory order, and in one that orders what threads store.
#include "explicit_barrier/grid_barriers/gpu_machine.cuh"
#include "explicit_barrier/grid_barriers/protocols.hpp"
#include "explicit_barrier/methods.hpp"
#include "explicit_barrier/methods/in_use_of_blocks.cuh"
#include "explicit_barrier/timed_kernel.cuh"
// The include path may hold the headers of an older toolkit.
#if CUDART_VERSION < 13000 && __has_include(<cub/grid/grid_barrier.cuh>)
#include <cub/grid/grid_barrier.cuh>
#include <memory>

#include "common/check.hpp"
#include "explicit_barrier/arguments.hpp"
#define SYNCBENCH_HAS_CUB_GRID_BARRIER
#endif

namespace syncbench::explicit_barrier {

using grid_barriers::GpuMachine;
using grid_barriers::Order;
using grid_barriers::XiaoFengMachine;

constexpr const char* kWithoutOrder =
    "as published; it does not order memory: a thread may read what another "
    "had not yet stored before the barrier";
constexpr const char* kWithoutAcquire =
    "as published; its waits do not acquire: a thread may read what it had in "
    "its cache";

/// What all of them are. `Barrier` is of grid_barriers/protocols.hpp.
template <class Barrier, class Machine>
struct OfLiterature : Method {
  static constexpr void describe(About& about) {
    about.first_architecture = 70;
    about.longer = 72;  // some take 90 us each
    about.places = 5;   // latency depends on where words lie
    about.repeats = 8;
    about.attributes = LaunchAttributes{true};
  }
  /// A block has at least a warp.
  static constexpr __host__ __device__ long long global_words(
      long long threads) {
    return Barrier::words(threads / 32) / 2 + 1;
  }
  template <class Here>
  __device__ explicit OfLiterature(Here& here)
      : barrier(reinterpret_cast<unsigned*>(here.global)) {
    barrier.learn(Machine());
  }
  template <class Here>
  __device__ unsigned operator()(unsigned value, Here&) {
    barrier.sync(Machine());
    return value;
  }
  Barrier barrier;
};

/// An arrival is an addition.
template <class Machine>
struct XiaoFengLock
    : OfLiterature<grid_barriers::LockBarrier<Machine>, Machine> {
  static constexpr bool kOrdered = !std::is_same_v<Machine, XiaoFengMachine>;
  static constexpr void describe(About& about) {
    XiaoFengLock::OfLiterature::describe(about);
    about.barrier(Scope::kGrid,
                  kOrdered ? "xiao_feng_lock_ordered" : "xiao_feng_lock",
                  kOrdered ? "the same with release and acquire"
                           : "Xiao and Feng's barrier with a lock: blocks add "
                             "to a counter and poll it");
    about.caution = kOrdered ? "" : kWithoutOrder;
    about.set = kOrdered ? Set::kToday : Set::kEvidence;
    about.late = true;
    about.code = ExpectedCode().others(60).proof(kOrdered ? Proof::kBarrier
                                                          : Proof::kUnordered);
  }
  static constexpr const char* kInUse = "in_use_xiao_feng_lock";
  using XiaoFengLock::OfLiterature::OfLiterature;
};

/// An arrival is a store. The block that tells the others makes two, or more
/// where that loop is unrolled.
template <Order kOrder>
struct XiaoFengFlags
    : OfLiterature<grid_barriers::FlagBarrier<GpuMachine<kOrder>>,
                   GpuMachine<kOrder>> {
  static constexpr bool kOrdered = kOrder == Order::kReleaseAcquire;
  static constexpr void describe(About& about) {
    XiaoFengFlags::OfLiterature::describe(about);
    about.barrier(Scope::kGrid,
                  kOrdered ? "xiao_feng_flags_ordered" : "xiao_feng_flags",
                  kOrdered ? "the same with release and acquire"
                           : "Xiao and Feng's barrier without a lock: a flag a "
                             "block, one block polls all and tells the others");
    about.caution = kOrdered ? "" : kWithoutOrder;
    about.set = kOrdered ? Set::kToday : Set::kEvidence;
    about.late = true;
    about.code = ExpectedCode(R"(STG?\b.*STRONG\.GPU.*)",
                              about.architecture >= 100 ? 8 : 2)
                     .others(120)
                     .proof(kOrdered ? Proof::kBarrier : Proof::kUnordered);
  }
  static constexpr const char* kInUse = "in_use_xiao_feng_flags";
  using XiaoFengFlags::OfLiterature::OfLiterature;
};

struct SorensenFlags
    : OfLiterature<
          grid_barriers::RaisedFlagBarrier<GpuMachine<Order::kReleaseAcquire>>,
          GpuMachine<Order::kReleaseAcquire>> {
  static constexpr void describe(About& about) {
    OfLiterature::describe(about);
    about.barrier(Scope::kGrid, "sorensen_flags",
                  "Sorensen's barrier: a flag a block, which it raises and one "
                  "block lowers, with release and acquire");
    about.late = true;
    about.code = ExpectedCode(R"(STG?\b.*STRONG\.GPU.*)")
                     .others(120)
                     .proof(Proof::kParts);
  }
  static constexpr const char* kInUse = "in_use_sorensen_flags";
  using SorensenFlags::OfLiterature::OfLiterature;
};

/// Blocks that arrive last in their group arrive again for it.
template <Order kOrder>
struct SenseReversing
    : OfLiterature<grid_barriers::SenseBarrier<GpuMachine<kOrder>>,
                   GpuMachine<kOrder>> {
  static constexpr bool kOrdered = kOrder == Order::kReleaseAcquire;
  static constexpr void describe(About& about) {
    SenseReversing::OfLiterature::describe(about);
    about.barrier(Scope::kGrid,
                  kOrdered ? "sense_reversing_ordered" : "sense_reversing",
                  kOrdered ? "the same with release and acquire"
                           : "a sense-reversing barrier, in groups first from "
                             "5 blocks per SM on");
    about.caution = kOrdered ? "" : kWithoutAcquire;
    about.set = kOrdered ? Set::kToday : Set::kEvidence;
    about.late = true;
    about.code = ExpectedCode("", 2).others(160).proof(Proof::kBarrier);
  }
  static constexpr const char* kInUse = "in_use_sense_reversing";
  using SenseReversing::OfLiterature::OfLiterature;
};

/// Clusters of two blocks. Of small blocks a GPU holds fewer in clusters.
struct ClusterFirst : OfLiterature<grid_barriers::ClusterFirstBarrier<
                                       GpuMachine<Order::kReleaseAcquire>>,
                                   GpuMachine<Order::kReleaseAcquire>> {
  static constexpr void describe(About& about) {
    OfLiterature::describe(about);
    about.barrier(Scope::kGrid, "cluster_first",
                  "clusters of two blocks meet, one of each adds to a counter "
                  "and polls it, they meet again, with release and acquire");
    about.first_architecture = 90;
    about.first_toolkit = 12000;
    about.late = true;
    about.attributes = LaunchAttributes{true, 2};
    about.code = ExpectedCode(R"(UCGABAR_WAIT|BAR\.SYNC\S* 0x0)", 2)
                     .others(80)
                     .paths(2)
                     .also("UCGABAR_WAIT", 2);
  }
  static constexpr const char* kInUse = "in_use_cluster_first";
  using ClusterFirst::OfLiterature::OfLiterature;
};

/// In use: of those that order memory.
template <class Barrier>
struct GridBarrierInUse : InUse<Barrier, 1, OnThisGpu> {
  static constexpr void describe(About& about) {
    GridBarrierInUse::InUse::describe(about);
    about.operation(Scope::kGrid, Barrier::kInUse,
                    "a word stored, the ordered barrier, a neighbour's read");
    about.set = Set::kEvidence;
    about.code.most_others += 32;
  }
  using GridBarrierInUse::InUse::InUse;
};

#ifdef SYNCBENCH_HAS_CUB_GRID_BARRIER

/// The library's own, made by the host.
template <bool kOrdered>
struct CubGridBarrier : Method {
  static constexpr void describe(About& about) {
    about.barrier(Scope::kGrid,
                  kOrdered ? "cub_grid_barrier_ordered" : "cub_grid_barrier",
                  kOrdered ? "the same and __threadfence() after it"
                           : "cub::GridBarrier (gone with CUDA 13): a flag a "
                             "block, which it raises and one block lowers");
    about.caution = kOrdered ? "" : kWithoutAcquire;
    about.set = Set::kEvidence;
    about.first_architecture = 70;
    about.late = true;
    about.repeats = 8;
    about.attributes = LaunchAttributes{true};
    about.make_arguments = make_arguments;
    about.code = ExpectedCode(R"(STG?\b.*STRONG\..*)", 2)
                     .others(160)
                     .proof(Proof::kParts);
  }
  using Argument = cub::GridBarrier;
  using Local = cub::GridBarrier;
  static Arguments make_arguments(const std::vector<int>& /*devices*/,
                                  int blocks) {
    const auto barrier = std::make_shared<cub::GridBarrierLifetime>();
    CUDA_CHECK(barrier->Setup(blocks));
    Arguments arguments;
    arguments.of_rank = {static_cast<cub::GridBarrier*>(barrier.get())};
    arguments.failure = [barrier] { return std::nullopt; };
    return arguments;
  }
  template <class Here>
  __device__ unsigned operator()(unsigned value, Here& here) const {
    here.local.Sync();
    if (kOrdered) __threadfence();
    return value;
  }
};
#endif

std::vector<MethodInfo> missing_grid_methods() {
#ifdef SYNCBENCH_HAS_CUB_GRID_BARRIER
  return {};
#else
  const std::string reason =
      "CUDA 13 removed cub::GridBarrier; a build with CUDA 11 or 12 measures "
      "it "
      "(cmake --preset before13)";
  return {{"cub_grid_barrier", reason}, {"cub_grid_barrier_ordered", reason}};
#endif
}

std::vector<MethodEntry> list_grid_barriers() {
  constexpr Order kNone = Order::kNone, kFences = Order::kFences,
                  kBoth = Order::kReleaseAcquire;
  return entries<XiaoFengLock<XiaoFengMachine>, XiaoFengLock<GpuMachine<kBoth>>,
                 GridBarrierInUse<XiaoFengLock<GpuMachine<kBoth>>>,
                 XiaoFengFlags<kNone>, XiaoFengFlags<kBoth>,
                 GridBarrierInUse<XiaoFengFlags<kBoth>>, SorensenFlags,
                 GridBarrierInUse<SorensenFlags>, SenseReversing<kFences>,
                 SenseReversing<kBoth>, GridBarrierInUse<SenseReversing<kBoth>>,
                 ClusterFirst, GridBarrierInUse<ClusterFirst>
#ifdef SYNCBENCH_HAS_CUB_GRID_BARRIER
                 ,
                 CubGridBarrier<false>, CubGridBarrier<true>
#endif
                 >();
}

}  // namespace syncbench::explicit_barrier
