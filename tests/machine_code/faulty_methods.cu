// Methods that do not do what they say.
#include "tests/machine_code/planted_methods.hpp"
// The real methods, some of which get faults; their lists are in the library.
#include "explicit_barrier/timed_kernel.cuh"
#define entries no_entries
#define list_atomics list_atomics_here
#define list_copies list_copies_here
#define list_grid_barriers list_grid_barriers_here
#define list_order list_order_here
#define missing_grid_methods missing_grid_methods_here
namespace syncbench::explicit_barrier {
template <class...>
std::vector<MethodEntry> no_entries() {
  return {};
}
}  // namespace syncbench::explicit_barrier
#include "explicit_barrier/methods/across_sms/grid_barriers.cu"
#include "explicit_barrier/methods/in_sm/atomics.cu"
#include "explicit_barrier/methods/in_sm/copies.cu"
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

/// Does not order what it stores.
struct RelaxedStores : StoreRelease<OfGpu> {
  static __device__ unsigned make(unsigned* word) {
    asm volatile(
        "st.relaxed.gpu.global.u32 [%0], 0;\n"
        "st.relaxed.gpu.global.u32 [%0], 0;" ::"l"(word)
        : "memory");
    return 0;
  }
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

/// Two lanes each share a word: a constant is another.
struct PairsShare : Atomic<Add, true> {
  __device__ unsigned operator()(unsigned value, Here<Shared>& here) {
    const unsigned word = here.thread & (here.group - 2);
    return Add::of(words_at(here, places) + word, value >> 31);
  }
};

}  // namespace syncbench::explicit_barrier

int main(int argc, char** argv) {
  using namespace syncbench::explicit_barrier;
  return planted_main(
      argc, argv,
      entries<Claims<WarpsApart>, Claims<PlacesStay, 1>, MasksDiffer,
              BlocksApart, Claims<GridPasses>, Claims<TurnIsFree>,
              Ordered<RelaxedStores, Nothing>, PairsShare, HalfOfEachLane,
              Claims<LockOn<EveryOtherRound>>, Claims<LockOn<FirstAndLast>>,
              Claims<LockOn<WaitsRelaxed>>>());
}
