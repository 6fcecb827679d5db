// Methods that do not do what they say.
#include <cooperative_groups.h>

#include "tests/machine_code/planted_methods.hpp"
// The real methods, some of which get faults; their lists are in the library.
#include "explicit_barrier/timed_kernel.cuh"
#define entries no_entries
#define list_atomics list_atomics_here
#define list_block list_block_here
#define list_cluster list_cluster_here
#define list_copies list_copies_here
#define list_grid_barriers list_grid_barriers_here
#define list_grid list_grid_here
#define list_mbarrier list_mbarrier_here
#define missing_grid_methods missing_grid_methods_here
#define list_order list_order_here
namespace syncbench::explicit_barrier {
template <class...>
std::vector<MethodEntry> no_entries() {
  return {};
}
}  // namespace syncbench::explicit_barrier
#include "explicit_barrier/methods/across_sms/grid.cu"
#include "explicit_barrier/methods/across_sms/grid_barriers.cu"
#include "explicit_barrier/methods/in_sm/atomics.cu"
#include "explicit_barrier/methods/in_sm/block.cu"
#include "explicit_barrier/methods/in_sm/cluster.cu"
#include "explicit_barrier/methods/in_sm/copies.cu"
#include "explicit_barrier/methods/in_sm/mbarrier.cu"
#include "explicit_barrier/methods/in_sm/order.cu"
#undef entries

namespace syncbench::explicit_barrier {

/// Claims the machine code of the real method of its name.
template <class Fault, int kGroup = 32>
struct Claims : Fault {
  using Fault::Fault;
  static constexpr void describe(About& about) {
    Fault::describe(about);
    about.groups = Sizes{kGroup, kGroup};
    about.code = ExpectedCode();
    if (about.architecture > 0) {
      about.code =
          find_method(about.name, kGroup).expected_code(about.architecture);
    }
  }
};

/// Each warp meets itself, not its block.
struct WarpsApart : Method {
  static constexpr void describe(About& about) {
    about.barrier(Scope::kBlock, "blocksync", "");
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    asm volatile("barrier.sync 1, 32;" ::: "memory");
    return value;
  }
};

/// Does something else as well.
struct ShuffleAndMultiply : Method {
  static constexpr void describe(About& about) {
    about.operation(Scope::kWarp, "tile_shufl", "");
    about.checked = false;
  }
  __device__ unsigned operator()(unsigned value, Here<>& here) const {
    value = __shfl_down_sync(0xffffffffu, value, 1);
    return value * (value * here.group);
  }
};

/// Builds its group again each time, for all have as many threads.
struct GroupEachTime : Method {
  static constexpr void describe(About& about) {
    about.operation(Scope::kWarp, "coales_shufl", "");
    about.checked = false;
  }
  static constexpr __host__ __device__ bool takes_part(
      const Position& position) {
    return first_lanes(position);
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    const auto again = cooperative_groups::coalesced_threads();
    return group.shfl_down(value, 1 + again.size() - group.size());
  }
  cooperative_groups::coalesced_group group =
      cooperative_groups::coalesced_threads();
};

/// Orders nothing.
struct ClusterUnordered : Method {
  static constexpr void describe(About& about) {
    about.operation(Scope::kCluster, "cluster_sync", "");
    about.first_architecture = 90;
    about.first_toolkit = 12000;
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    return value;
  }
};

/// Has a second fence in place of the store.
struct FenceWithoutStore : Method {
  static constexpr void describe(About& about) {
    about.operation(Scope::kWarp, "threadfence", "");
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    __threadfence();
    __threadfence();
    return value;
  }
};

/// Takes the same words each time.
struct PlacesStay : Method {
  static constexpr void describe(About& about) {
    about.operation(Scope::kWarp, "global_add", "");
    about.checked = false;
  }
  static constexpr long long global_words(long long) { return 16; }
  __device__ unsigned operator()(unsigned value, Here<>& here) const {
    auto* words = reinterpret_cast<unsigned*>(here.global);
    return atomicAdd(words + (here.thread & (here.group - 1)), value >> 31);
  }
};

/// The halves of a warp have masks of their own, so that a branch leaves to
/// code behind the kernel. What it says of its machine code is of the code that
/// does not run. (From CUDA 11.8 it runs, once for each mask.)
struct MasksDiffer : Method {
  static constexpr void describe(About& about) {
    about.operation(Scope::kWarp, "redux_add_half", "");
    about.checked = false;
    about.first_architecture = 80;
    about.first_toolkit = 12000;
    about.code = ExpectedCode(R"(REDUX\.SUM .*)").others(120);
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
#if __CUDA_ARCH__ >= 800
    value = __reduce_add_sync(half, value);
#endif
    return value;
  }
  unsigned half = threadIdx.x % 32 < 16 ? 0xffffu : 0xffff0000u;
};

/// Blocks do not wait for each other, nor does it say that they do.
struct BlocksApart : Method {
  static constexpr void describe(About& about) {
    about.barrier(Scope::kGrid, "grid_sync_apart", "");
    about.code = ExpectedCode(R"(BAR\.SYNC\S* 0x0)", 2);
  }
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    __syncthreads();
    __syncthreads();
    return value;
  }
};

/// The 64 bits at an address, acquired.
__device__ inline unsigned long long polled(unsigned long long* word) {
  unsigned long long value;
  asm volatile("ld.acquire.gpu.global.u64 %0, [%1];"
               : "=l"(value)
               : "l"(word)
               : "memory");
  return value;
}
__device__ inline void add_one(unsigned long long* word) {
  asm volatile("red.release.gpu.global.add.u64 [%0], 1;" ::"l"(word)
               : "memory");
}

/// Whoever has arrived may go on.
struct GridPasses : Method {
  static constexpr void describe(About& about) {
    about.barrier(Scope::kGrid, "grid_sync", "");
    about.first_architecture = 70;
  }
  static constexpr long long global_words(long long) { return 1; }
  __device__ unsigned operator()(unsigned value, Here<>& here) const {
    __syncthreads();
    if (here.thread == 0) {
      add_one(here.global);
      while (polled(here.global) == 0) continue;
    }
    __syncthreads();
    return value;
  }
};

/// It is always the block's turn.
struct TurnIsFree : Method {
  static constexpr void describe(About& about) {
    about.operation(Scope::kGrid, "semaphore", "");
    about.first_architecture = 70;
  }
  static constexpr long long global_words(long long threads) { return threads; }
  __device__ unsigned operator()(unsigned value, Here<>& here) const {
    unsigned long long* turns = here.global + here.block / 2 * 32;
    if (here.thread == 0) {
      for (unsigned polls = 0; polled(turns) + 1 == 0; ++polls) {
        if (polls == 1 << 22) __trap();
      }
    }
    __syncthreads();
    __syncthreads();
    if (here.thread == 0) add_one(turns);
    return value;
  }
};

// Ordered accesses and fences that are others than they say.
struct RelaxedStores : StoreRelease<OfGpu> {
  static __device__ unsigned make(unsigned* word) {
    asm volatile(
        "st.relaxed.gpu.global.u32 [%0], 0;\n"
        "st.relaxed.gpu.global.u32 [%0], 0;" ::"l"(word)
        : "memory");
    return 0;
  }
};
struct RelaxedLoads : LoadAcquire<OfGpu> {
  static __device__ unsigned make(unsigned* word) {
    unsigned found, again;
    asm volatile(
        "ld.relaxed.gpu.global.u32 %0, [%2];\n"
        "ld.relaxed.gpu.global.u32 %1, [%2];"
        : "=r"(found), "=r"(again)
        : "l"(word)
        : "memory");
    return found + again;
  }
};
struct RelaxedAdditions : RedRelease<OfSystem> {
  static __device__ unsigned make(unsigned* word) {
    asm volatile(
        "red.relaxed.sys.global.add.u32 [%0], 0;\n"
        "red.relaxed.sys.global.add.u32 [%0], 0;" ::"l"(word)
        : "memory");
    return 0;
  }
};
struct TwoFences : AtomAcqRel<OfGpu> {
  static __device__ unsigned make(unsigned*) {
    asm volatile("fence.acq_rel.gpu;\nfence.acq_rel.gpu;" ::: "memory");
    return 0;
  }
};
struct StrongerFence : FenceAcqRel<OfGpu> {
  static __device__ unsigned make(unsigned*) {
    asm volatile("fence.sc.gpu;" ::: "memory");
    return 0;
  }
};
struct NothingStored : Ordered<FenceAcqRel<OfGpu>, OnePlace> {
  template <class Here>
  __device__ unsigned operator()(unsigned value, Here&) {
    return value + FenceAcqRel<OfGpu>::make(nullptr);
  }
};

/// One word becomes a word a lane, from the second operation on.
template <bool kInShared>
struct WordEachLane : Atomic<Add, kInShared> {
  using Real = Atomic<Add, kInShared>;
  __device__ unsigned operator()(unsigned value,
                                 Here<typename Real::Shared>& here) {
    const unsigned word = here.thread & (here.group - 1 | others);
    others = 31;
    return Add::of(Real::words_at(here, this->places) + word, value >> 31);
  }
  unsigned others = 0;
};

/// Eight bytes a lane, not 16.
struct HalfOfEachLane : CopyAsync<1024> {
  static constexpr void describe(About& about) {
    CopyAsync<1024>::describe(about);
    about.first_architecture = 80;
  }
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    const unsigned at = here.thread * 16;
    const char* from = places.next(here.global) + (value >> 31) + at;
    const unsigned to = shared_address(here.shared.words) + at;
    asm volatile(
        "cp.async.ca.shared.global [%1], [%2], 8;\n"
        "cp.async.ca.shared.global [%1 + 512], [%2 + 512], 8;\n"
        "cp.async.commit_group;\ncp.async.wait_group 0;\n"
        "ld.shared.u32 %0, [%1 + 512];"
        : "=r"(value)
        : "r"(to), "l"(from)
        : "memory");
    return value;
  }
};

/// The last half of the bytes. The last word is among them.
struct LastHalf : BulkIn {
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    Here<Shared> half = here;
    half.group /= 2;
    BulkIn::operator()(value, half);
    return static_cast<volatile unsigned*>(
        here.shared.words)[here.group / 4 - 1];
  }
};

/// The first 16 bytes.
struct FirstBytesOut : BulkOut<false> {
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    Here<Shared> few = here;
    few.group = 16;
    return BulkOut<false>::operator()(value, few);
  }
};

/// All threads of a block store to one word.
struct StoresToOneWord : GridInUse<1> {
  template <class Here>
  __device__ unsigned operator()(unsigned value, Here& here) {
    const unsigned other = next_block(here, Scope::kGrid);
    unsigned* words = reinterpret_cast<unsigned*>(here.global) +
                      turn * here.threads * here.blocks;
    asm volatile("st.global.u32 [%0], %1;" ::"l"(words + here.block), "r"(value)
                 : "memory");
    GridSync::operator()(value, here);
    asm volatile("ld.global.u32 %0, [%1];"
                 : "=r"(value)
                 : "l"(words + other)
                 : "memory");
    turn ^= 1;
    return (value & 0) + (here.thread + 1) % here.threads + here.group + other;
  }
};

/// Waits for the same phase each time.
struct SamePhase : MbarrierParity {
  using MbarrierParity::MbarrierParity;
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    MbarrierParity::operator()(value, here);
    parity = 0;
    return value;
  }
};

/// Xiao and Feng's barrier with a lock, on machines that do something else.
using OrderedMachine = GpuMachine<Order::kReleaseAcquire>;
template <class Machine>
struct LockOn : OfLiterature<grid_barriers::LockBarrier<Machine>, Machine> {
  static constexpr void describe(About& about) {
    LockOn::OfLiterature::describe(about);
    about.barrier(Scope::kGrid, "xiao_feng_lock_ordered", "");
  }
  using LockOn::OfLiterature::OfLiterature;
};

/// Waits in every other round.
struct EveryOtherRound : OrderedMachine {
  template <class Word, class Done>
  __device__ static void wait(const Word* at, Done done) {
    if (done.wanted / gridDim.x % 2 == 1) OrderedMachine::wait(at, done);
  }
};

/// The first and the last block arrive, and all wait for these two.
struct FirstAndLast : OrderedMachine {
  __device__ static unsigned blocks() { return 2; }
  __device__ static void arrive(Count* at, Count value) {
    if (blockIdx.x == 0 || blockIdx.x + 1 == gridDim.x) {
      OrderedMachine::arrive(at, value);
    }
  }
};

/// Waits do not acquire.
struct WaitsRelaxed : OrderedMachine {
  template <class Word, class Done>
  __device__ static void wait(const Word* at, Done done) {
    GpuMachine<Order::kNone>::wait(at, done);
  }
};

/// Even and odd blocks meet apart.
struct HalvesApart : OrderedMachine {
  __device__ static unsigned blocks() {
    return (gridDim.x + 1 - blockIdx.x % 2) / 2;
  }
  __device__ static void arrive(Count* at, Count value) {
    OrderedMachine::arrive(at + blockIdx.x % 2, value);
  }
  template <class Word, class Done>
  __device__ static void wait(const Word* at, Done done) {
    OrderedMachine::wait(at + blockIdx.x % 2, done);
  }
};

/// Two lanes each share a word: a constant is another.
struct PairsShare : Atomic<Add, true> {
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    const unsigned word = here.thread & (here.group - 2);
    return Add::of(words_at(here, places) + word, value >> 31);
  }
};

// What follows has the right instructions, if not as many.

/// Half of the threads are enough.
struct HalfIsEnough : NamedBarrier {
  __device__ unsigned operator()(unsigned value, Here<>& here) const {
    asm volatile("barrier.sync 1, %0;" ::"r"(here.group / 2) : "memory");
    return value;
  }
};

/// Half of the blocks are enough.
struct HalfGridIsEnough : GridSync {
  static constexpr void describe(About& about) {
    GridSync::describe(about);
    about.first_architecture = 70;
    about.late = false;
  }
  static constexpr long long global_words(long long) { return 1; }
  __device__ unsigned operator()(unsigned value, Here<>& here) {
    enough += here.blocks / 2;
    __syncthreads();
    if (here.thread == 0) {
      add_one(here.global);
      while (polled(here.global) < enough) continue;
    }
    __syncthreads();
    return value;
  }
  unsigned long long enough = 0;
};

/// Each arrival ends a phase. Some GPUs end the kernel with an error, so it is
/// the last to run.
struct MbarrierOfOne : Mbarrier {
  static constexpr void describe(About& about) {
    Mbarrier::describe(about);
    about.late = false;
  }
  using Mbarrier::Mbarrier;
  static __device__ void start(Shared& shared, const Position& position) {
    BarrierObject::start(shared, {position.thread, 1, 0, 1, 0});
  }
};

/// One word becomes two, 32 words become one.
template <bool kInShared>
struct WordsSwapped : Atomic<Add, kInShared> {
  using Real = Atomic<Add, kInShared>;
  __device__ unsigned operator()(unsigned value,
                                 Here<typename Real::Shared>& here) {
    return Add::of(
        Real::words_at(here, this->places) + (here.thread & here.group),
        value >> 31);
  }
};

/// Each block reads its own memory.
struct LoadsOwn : DistributedLoad {
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) const {
    const unsigned* own = here.shared.next + value;
    asm volatile("ld.u32 %0, [%1];" : "=r"(value) : "l"(own) : "memory");
    return value;
  }
};

/// Each block stores to its own memory.
struct StoresOwn : ClusterExchange<true> {
  using ClusterExchange<true>::ClusterExchange;
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    unsigned* words = here.shared.words[0];
    asm volatile("st.u32 [%0], %1;" ::"l"(words + to_thread + side), "r"(value)
                 : "memory");
    cluster_arrive(), cluster_wait();
    value = static_cast<volatile unsigned*>(words)[here.thread + side];
    side ^= 1024;
    return value;
  }
};

}  // namespace syncbench::explicit_barrier

int main(int argc, char** argv) {
  using namespace syncbench::explicit_barrier;
  auto methods =
      entries<Claims<WarpsApart>, Claims<ShuffleAndMultiply>,
              Claims<GroupEachTime>, Claims<ClusterUnordered, 2>,
              Claims<FenceWithoutStore, 1>, Claims<PlacesStay, 1>, MasksDiffer,
              BlocksApart, Claims<GridPasses>, Claims<TurnIsFree>, HalfIsEnough,
              HalfGridIsEnough, WordsSwapped<true>, WordsSwapped<false>,
              LoadsOwn, StoresOwn, Ordered<RelaxedStores, Nothing>,
              Ordered<RelaxedLoads, Nothing>,
              Ordered<RelaxedAdditions, Nothing>, Ordered<TwoFences, Nothing>,
              Ordered<StrongerFence, Nothing>, NothingStored, PairsShare,
              WordEachLane<true>, WordEachLane<false>, HalfOfEachLane, LastHalf,
              FirstBytesOut, StoresToOneWord, Claims<LockOn<EveryOtherRound>>,
              Claims<LockOn<FirstAndLast>>, Claims<LockOn<WaitsRelaxed>>,
              Claims<LockOn<HalvesApart>>, MbarrierOfOne>();
  // On a GPU it would wait for ever.
  if (argc == 3) methods.push_back(entry_of<SamePhase>());
  return planted_main(argc, argv, methods);
}
