// What happens when only a part of a group synchronizes (study, section
// VIII-B): half of the lanes of a warp, half of the warps of a block, half of
// the blocks of a cluster or of a grid, half of the GPUs. And grids that are
// not resident as a whole.
#include <cooperative_groups.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <new>
#include <optional>
#include <type_traits>

#include "common/cooperative_barriers.cuh"
#include "common/launch.hpp"
#include "peer_grid_barrier/barrier.cuh"
#include "pitfalls/child.cuh"

namespace syncbench::pitfalls {
namespace {

namespace cg = cooperative_groups;

constexpr int kLaunches = 10;  // of each form

/// Where the threads of all GPUs say how far they are.
struct Board {
  unsigned* arrived;  // threads that will call the barrier next
  unsigned* passed;   // threads behind it
  unsigned* early;    // of these, by path, those that came out too early
  unsigned members;   // threads that come
  Form form;
};

/// Where a thread is, and all that there are.
struct Here {
  int gpu, gpus;
};

/// What a group supplies; its own names hide these. A thread of the group makes
/// it before the missing part leaves, from its argument and the form where it
/// has such a constructor.
struct PartialGroup {
  struct Argument {};

  static constexpr LaunchAttributes kAttributes = {};
  static constexpr int kFirstArchitecture = 60;
  /// The part alone may synchronize, in the way that sync(true) does it. Else
  /// nothing is missing in the form that is allowed.
  static constexpr bool kPartIsAllowed = false;
  /// One launch call for all GPUs.
  static constexpr bool kMultiDevice = false;
  /// It holds lanes that come by paths of their own.
  static constexpr bool kHoldsPaths = false;
  /// Threads for which comes(), of so many on each GPU.
  static constexpr int part_of(int gpus, int threads) {
    return gpus * threads / 2;
  }
  /// Called by those that come, when the missing part has left.
  __device__ void part_comes(bool /*allowed*/) {}
  // static constexpr int kBlocks, kThreads;    of the grid of each GPU
  // __device__ static bool comes(Here here);
  // __device__ void sync(bool allowed);
};

/// Whether a part of the group is missing.
template <class Group>
__host__ __device__ constexpr bool in_part(Form form) {
  return form == Form::kExits || form == Form::kStays ||
         (form == Form::kAllowed && Group::kPartIsAllowed);
}

/// Comes to the barrier after so many cycles. kPath keeps the compiler from
/// making one path of two.
template <int kPath, class Group>
__device__ void come(const Board& board, Group& group, int cycles) {
  spin(cycles);
  __threadfence_system();
  atomicAdd_system(board.arrived, 1u);
  group.sync(board.form == Form::kAllowed);
  if (read_now(board.arrived) < board.members) {
    atomicAdd_system(board.early + kPath, 1u);
  }
  __threadfence_system();
  atomicAdd_system(board.passed, 1u);
}

constexpr int kLate = 100000, kInTime = 20000;  // cycles

template <class Group>
__device__ Group made(const typename Group::Argument& argument, Form form) {
  if constexpr (std::is_constructible_v<Group, decltype(argument), Form>) {
    return Group(argument, form);
  } else {
    return Group{};
  }
}

// The missing part is gone, or elsewhere, before the first comes; the last
// comes late, to show a barrier that does not wait. A warp waits for a late
// lane on its own path without a barrier.
template <class Group>
__global__ void part_synchronizes(Board board, Here here,
                                  typename Group::Argument argument) {
  Group group = made<Group>(argument, board.form);
  if (in_part<Group>(board.form) && !Group::comes(here)) {
    if (board.form == Form::kStays) {
      spin_until([&] { return read_now(board.passed) >= board.members; });
    }
    return;
  }
  group.part_comes(board.form == Form::kAllowed);
  const bool late = threadIdx.x == 0 && blockIdx.x == 0;
  if constexpr (Group::kHoldsPaths) {
    if (late) {
      come<0>(board, group, kLate);
    } else {
      come<1>(board, group, kInTime);
    }
  } else {
    come<0>(board, group, late ? kLate : kInTime);
  }
}

/// Launches one form kLaunches times on all GPUs of `child`, with blocks of
/// Group::kThreads; `arguments`: one a GPU.
template <class Group>
void run_partial(Child& child, Form form, int blocks,
                 const std::vector<typename Group::Argument>& arguments) {
  const std::vector<int> devices = child.devices();
  const std::vector<Stream> streams = make_streams(devices);
  DeviceBuffer<unsigned> counts(devices[0], 4);
  const int gpus = static_cast<int>(devices.size());
  const int threads = blocks * Group::kThreads;
  const int members =
      in_part<Group>(form) ? Group::part_of(gpus, threads) : gpus * threads;
  const Board board = {counts.get(), counts.get() + 1, counts.get() + 2,
                       static_cast<unsigned>(members), form};
  std::vector<KernelCall> calls;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    calls.push_back(call_with(
        reinterpret_cast<const void*>(&part_synchronizes<Group>), dim3(blocks),
        dim3(Group::kThreads), board, Here{gpu, gpus}, arguments[gpu]));
  }
  bool right = true;
  for (int i = 0; i < kLaunches; ++i) {
    counts.set_to_zero();
    const Watchdog watchdog = child.launch();
    if constexpr (Group::kMultiDevice) {
      CUDA_CHECK(MultiDeviceLaunch(calls, devices, stream_handles(streams))());
    } else {
      for (int gpu = 0; gpu < gpus; ++gpu) {
        const DeviceGuard guard(devices[gpu]);
        CUDA_CHECK(launch(calls[gpu], streams[gpu].get(), Group::kAttributes));
      }
    }
    wait_for(streams);
    const std::vector<unsigned> found = counts.read();
    right &= found[2] + found[3] == 0;  // no thread came out early
  }
  child.result({right ? "completed" : "wrong result"});
}

/// Throws where the GPUs cannot run the group's kernel.
template <class Group>
void require_gpus(const Child& child) {
  child.require_architecture(Group::kFirstArchitecture);
  for (const Gpu& gpu : child.gpus()) {
    if (Group::kAttributes.cooperative && !gpu.cooperative_launch) {
      throw CannotMeasure("no-cooperative-launch",
                          "no cooperative launch on this GPU");
    }
  }
  child.require_peer_access();
}

template <class Group>
void run_group(Child& child, Form form) {
  require_gpus<Group>(child);
  run_partial<Group>(
      child, form, Group::kBlocks,
      std::vector<typename Group::Argument>(child.gpus().size()));
}

constexpr unsigned kAllLanes = 0xffffffff;
constexpr unsigned kHalf = 0x0000ffff;  // those that come

/// One warp, whose part is allowed where it names itself.
struct HalfOfLanes : PartialGroup {
  static constexpr int kBlocks = 1, kThreads = 32;
  static constexpr bool kPartIsAllowed = true;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
  static constexpr bool kHoldsPaths = true;  // before, they have to converge
#endif
  __device__ static bool comes(const Here&) { return threadIdx.x < 16; }
};

/// Control: nothing waits, which has to be seen.
struct NoSync : HalfOfLanes {
  static constexpr int kFirstArchitecture = 70;  // as kHoldsPaths
  __device__ void sync(bool) const {}
};

struct WarpSync : HalfOfLanes {
  __device__ void sync(bool allowed) const {
    __syncwarp(allowed ? kHalf : kAllLanes);
  }
};

struct TileSync : HalfOfLanes {
  cg::thread_block_tile<32> tile =
      cg::tiled_partition<32>(cg::this_thread_block());
  cg::thread_block_tile<16> half =
      cg::tiled_partition<16>(cg::this_thread_block());
  __device__ void sync(bool allowed) const {
    if (allowed) {
      half.sync();
    } else {
      tile.sync();
    }
  }
};

struct CoalescedSync : HalfOfLanes {
  cg::coalesced_group group = cg::coalesced_threads();
  __device__ void part_comes(bool allowed) {
    // CUDA declares the assignment and does not define it.
    if (allowed) new (&group) cg::coalesced_group(cg::coalesced_threads());
  }
  __device__ void sync(bool) const { group.sync(); }
};

struct Shuffle : HalfOfLanes {
  __device__ void sync(bool allowed) const {
    const unsigned got =
        __shfl_sync(allowed ? kHalf : kAllLanes, threadIdx.x, 0);
    asm volatile("" ::"r"(got));  // or there would be no shuffle
  }
};

struct HalfOfWarps : PartialGroup {
  static constexpr int kBlocks = 1, kThreads = 256;
  __device__ static bool comes(const Here&) { return threadIdx.x < 128; }
};

struct BlockSync : HalfOfWarps {
  __device__ void sync(bool) const { __syncthreads(); }
};

struct BlockSyncOfLanes : BlockSync {
  __device__ static bool comes(const Here&) { return threadIdx.x % 32 < 16; }
};

struct NamedBarrier : HalfOfWarps {
  static constexpr bool kPartIsAllowed = true;
  __device__ void sync(bool allowed) const {
    asm volatile("barrier.sync 1, %0;" ::"r"(allowed ? 128 : kThreads)
                 : "memory");
  }
};

struct Mbarrier : HalfOfWarps {
  static constexpr bool kPartIsAllowed = true;
  static constexpr int kFirstArchitecture = 80;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  __device__ Mbarrier(const Argument&, Form form) {
    __shared__ unsigned long long memory;
    barrier = static_cast<unsigned>(__cvta_generic_to_shared(&memory));
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier),
                   "r"(form == Form::kAllowed ? 128 : kThreads)
                   : "memory");
    }
    __syncthreads();
  }
  __device__ void sync(bool) const {
    unsigned long long token;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];"
                 : "=l"(token)
                 : "r"(barrier)
                 : "memory");
    spin_until([&] {
      unsigned done;
      asm volatile(
          "{\n .reg .pred p;\n"
          " mbarrier.test_wait.shared.b64 p, [%1], %2;\n"
          " selp.u32 %0, 1, 0, p;\n}"
          : "=r"(done)
          : "r"(barrier), "l"(token)
          : "memory");
      return done != 0;
    });
  }
  unsigned barrier;
#else
  __device__ void sync(bool) const {}
#endif
};

struct ClusterSync : PartialGroup {
  static constexpr int kBlocks = 4, kThreads = 64;
  static constexpr LaunchAttributes kAttributes = {false, kBlocks};
  static constexpr int kFirstArchitecture = 90;
  __device__ static bool comes(const Here&) { return blockIdx.x < kBlocks / 2; }
  __device__ void sync(bool) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cg::this_cluster().sync();
#endif
  }
};

/// Half of the blocks of a grid, or of that of each GPU, at a barrier for the
/// End of which it is given.
template <class Barrier, int kSince>
struct HalfOfBlocks : PartialGroup {
  using Argument = typename Barrier::End;
  static constexpr int kBlocks = 16, kThreads = 64;
  static constexpr LaunchAttributes kAttributes = {true};
  static constexpr int kFirstArchitecture = kSince;
  __device__ HalfOfBlocks(const Argument& end, Form) : barrier(end) {}
  __device__ static bool comes(const Here&) { return blockIdx.x < kBlocks / 2; }
  __device__ void sync(bool) { barrier.sync(); }
  Barrier barrier;
};
using GridSync = HalfOfBlocks<GridBarrier, 60>;
using PeerGridBlocks = HalfOfBlocks<peer_grid::Barrier, 70>;
#if CUDART_VERSION < 13000
struct MultiGridBlocks : HalfOfBlocks<MultiGridBarrier, 60> {
  using HalfOfBlocks::HalfOfBlocks;
  static constexpr bool kMultiDevice = true;
};
#endif

/// The same barrier, but it is the last half of the GPUs that is missing.
template <class OfBlocks>
struct HalfOfGpus : OfBlocks {
  using OfBlocks::OfBlocks;
  __device__ static bool comes(const Here& here) {
    return here.gpu < here.gpus / 2;
  }
  static constexpr int part_of(int gpus, int threads) {
    return gpus / 2 * threads;
  }
};

/// A counter of blocks in global memory. It knows nothing of residency.
struct SpinBarrier : PartialGroup {
  using Argument = unsigned*;  // 0 before each launch
  static constexpr int kThreads = 1024;
  __device__ SpinBarrier(const Argument& argument, Form) : count(argument) {}
  __device__ static bool comes(const Here&) { return true; }
  __device__ void sync(bool) const {
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      const unsigned blocks = gridDim.x;
      const unsigned round = atomicAdd(count, 1u) / blocks;
      spin_until([&] { return read_now(count) >= (round + 1) * blocks; });
      __threadfence();
    }
    __syncthreads();
  }
  unsigned* count;
};

// Blocks of so many threads that are resident at the same time.
template <class Group>
int resident_blocks(const Child& child) {
  int per_sm = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &per_sm, reinterpret_cast<const void*>(&part_synchronizes<Group>),
      Group::kThreads, 0));
  return per_sm * child.gpus()[0].sm_count;
}

void run_oversubscribed_grid(Child& child, Form form) {
  require_gpus<GridSync>(child);
  run_partial<GridSync>(child, form, resident_blocks<GridSync>(child) + 1,
                        {{}});
}

// The same grid, launched as any other; half of it is allowed, for the watchdog
// has a place too.
void run_spin_barrier(Child& child, Form form) {
  DeviceBuffer<unsigned> count(child.gpus()[0].index, 1);
  count.set_to_zero();
  const int most = resident_blocks<SpinBarrier>(child);
  run_partial<SpinBarrier>(
      child, form, form == Form::kTooMany ? most + 1 : std::max(1, most / 2),
      {count.get()});
}

// Of the suite's barrier. The host may learn late that a kernel gave up,
// hence the patience.
constexpr int kLimitMs = 100, kPatience = 2;

// Or kernels would end by themselves before they are said to hang.
static_assert(std::chrono::nanoseconds(kLongestSpin) >
              kPatience * Limits().progress);

template <class Group>
void run_peer_grid(Child& child, Form form) {
  require_gpus<Group>(child);
  // The set refuses to be made where launches wait. This is to see why.
  const bool waits = launches_wait_for_kernels();
  unsetenv("CUDA_LAUNCH_BLOCKING");
  std::optional<peer_grid::BarrierSet> set;
  try {
    set.emplace(child.devices(), std::chrono::milliseconds(kLimitMs));
  } catch (const peer_grid::CannotJoin& error) {
    throw CannotMeasure("no-barrier", error.what());
  }
  if (waits) setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  try {
    run_partial<Group>(child, form, Group::kBlocks,
                       set->for_blocks(Group::kBlocks));
  } catch (const CudaError&) {
    if (const auto failure = set->failure()) {
      child.note(failure->substr(0, failure->find('\n')));
    }
    throw;
  }
}

// Forms other than those of most cases.
const std::vector<Form> kUsual,
    kMissing = {Form::kExits, Form::kStays}, kOneByOne = {Form::kOneByOne},
    kCrowded = {Form::kTooMany},
    kCrowdedAndHalf = {Form::kTooMany, Form::kAllowed};

[[maybe_unused]] const bool kAdded = add_cases(
    __FILE__, Section::kPartialGroup,
    {{"part_no_sync", Set::kStudy, run_group<NoSync>,
      "control: half of a warp, no synchronization", 1, kMissing, 1, true},
     {"part_syncwarp", Set::kStudy, run_group<WarpSync>,
      "half of a warp, __syncwarp() of all; allowed: of that half"},
     {"part_tile_sync", Set::kStudy, run_group<TileSync>,
      "half of a warp, sync() of a tile of 32; allowed: of 16"},
     {"part_coales_sync", Set::kStudy, run_group<CoalescedSync>,
      "half of a warp, sync() of a group that all made; allowed: that the "
      "half made"},
     {"part_shuffle", Set::kEvidence, run_group<Shuffle>,
      "half of a warp, __shfl_sync() of all; allowed: of that half"},
     {"part_blocksync", Set::kStudy, run_group<BlockSync>,
      "half of the warps, __syncthreads()"},
     {"part_blocksync_lanes", Set::kEvidence, run_group<BlockSyncOfLanes>,
      "half of the lanes of each warp, __syncthreads()"},
     {"part_named_barrier", Set::kEvidence, run_group<NamedBarrier>,
      "half of the warps, barrier.sync of all; allowed: of that half"},
     {"part_mbarrier", Set::kEvidence, run_group<Mbarrier>,
      "half of the warps, mbarrier of all; allowed: of that half"},
     {"part_cluster_sync", Set::kStudy, run_group<ClusterSync>,
      "half of the blocks of a cluster, cluster.sync()"},
     {"part_grid_sync", Set::kStudy, run_group<GridSync>,
      "half of the blocks of a grid, grid.sync()"},
     {"crowded_grid_sync", Set::kToday, run_oversubscribed_grid,
      "cooperative launch of one block more than is resident", 1, kCrowded},
     {"crowded_spin_barrier", Set::kToday, run_spin_barrier,
      "one block more than is resident, launched ordinarily, at a counter "
      "of blocks; allowed: half of the resident blocks",
      1, kCrowdedAndHalf}});

#if CUDART_VERSION < 13000
[[maybe_unused]] const bool kMultiGridAdded = add_cases(
    __FILE__, Section::kPartialGroup,
    {{"part_multi_grid_blocks", Set::kStudy, run_group<MultiGridBlocks>,
      "half of the blocks of a multi-grid of one GPU, multi_grid.sync()"},
     {"part_multi_grid_gpus", Set::kStudy,
      run_group<HalfOfGpus<MultiGridBlocks>>,
      "half of the GPUs of a multi-grid, multi_grid.sync()", 2}});
#else
constexpr const char* kGone = "CUDA 13 has no multi-grid synchronization";
[[maybe_unused]] const bool kMultiGridAdded =
    add_cases(__FILE__, Section::kPartialGroup,
              {{"part_multi_grid_blocks", Set::kStudy, nullptr, kGone},
               {"part_multi_grid_gpus", Set::kStudy, nullptr, kGone}});
#endif

[[maybe_unused]] const bool kPeerGridAdded = add_cases(
    __FILE__, Section::kPartialGroup,
    {{"part_peer_grid_blocks", Set::kToday, run_peer_grid<PeerGridBlocks>,
      "half of the blocks of one GPU, the suite's barrier with a limit of "
      "100 ms",
      1, kUsual, kPatience},
     {"part_peer_grid_gpus", Set::kToday,
      run_peer_grid<HalfOfGpus<PeerGridBlocks>>,
      "half of the GPUs, the suite's barrier with a limit of 100 ms", 2, kUsual,
      kPatience},
     {"blocking_peer_grid", Set::kToday,
      run_peer_grid<HalfOfGpus<PeerGridBlocks>>,
      "all GPUs, launched by one thread under CUDA_LAUNCH_BLOCKING=1, the "
      "suite's barrier with a limit of 100 ms",
      2, kOneByOne, kPatience}});

}  // namespace
}  // namespace syncbench::pitfalls
