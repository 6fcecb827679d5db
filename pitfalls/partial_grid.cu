// Half of the blocks of a cluster or of a grid synchronize, or half of the
// GPUs. Grids that are not resident as a whole.
#include <cooperative_groups.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "peer_grid_barrier/barrier.cuh"
#include "pitfalls/isolation.hpp"
#include "pitfalls/partial_group.cuh"

namespace syncbench::pitfalls {
namespace {

namespace cg = cooperative_groups;

struct ClusterSync : PartialGroup {
  using PartialGroup::PartialGroup;
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

/// Half of the blocks of a grid, or of that of each GPU.
struct HalfOfBlocks : PartialGroup {
  using PartialGroup::PartialGroup;
  static constexpr int kBlocks = 16, kThreads = 64;
  static constexpr LaunchAttributes kAttributes = {true};
  __device__ static bool comes(const Here&) { return blockIdx.x < kBlocks / 2; }
};

struct GridSync : HalfOfBlocks {
  using HalfOfBlocks::HalfOfBlocks;
  __device__ void sync(bool) const { cg::this_grid().sync(); }
};

/// A counter of blocks in global memory. It knows nothing of residency.
struct SpinBarrier : PartialGroup {
  using Argument = unsigned*;  // 0 before each launch
  static constexpr int kThreads = 1024;
  __device__ SpinBarrier(const Argument& argument, Form form)
      : PartialGroup({}, form), count(argument) {}
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

/// The end of a barrier is the suite's.
struct PeerGridBlocks : HalfOfBlocks {
  using Argument = peer_grid::BarrierEnd;
  static constexpr int kFirstArchitecture = 70;
  __device__ PeerGridBlocks(const Argument& argument, Form form)
      : HalfOfBlocks({}, form), barrier(argument) {}
  __device__ void sync(bool) { barrier.sync(); }
  peer_grid::Barrier barrier;
};

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
using PeerGridGpus = HalfOfGpus<PeerGridBlocks>;

template <class Group>
void meet_in(Child& child, Form form, const peer_grid::BarrierSet& set) {
  try {
    run_partial<Group>(child, form, Group::kBlocks,
                       set.for_blocks(Group::kBlocks));
  } catch (const CudaError&) {
    if (const auto failure = set.failure()) {
      child.note(failure->substr(0, failure->find('\n')));
    }
    throw;
  }
}

template <class Group>
void run_peer_barrier(Child& child, Form form) {
  require_gpus<Group>(child);
  // The set refuses to be made where launches wait. This is to see why.
  const bool waits = launches_wait_for_kernels();
  unsetenv("CUDA_LAUNCH_BLOCKING");
  try {
    const peer_grid::BarrierSet set(child.devices(),
                                    std::chrono::milliseconds(kLimitMs));
    if (waits) setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
    meet_in<Group>(child, form, set);
  } catch (const peer_grid::CannotJoin& error) {
    throw CannotMeasure("no-barrier", error.what());
  }
}

template <class Group>
Case peer_case(const char* name, const char* text, std::vector<Form> forms,
               int fewest_gpus) {
  return {name,
          text,
          Section::kPartialGroup,
          std::move(forms),
          fewest_gpus,
          &run_peer_barrier<Group>,
          kPatience};
}

#if CUDART_VERSION < 13000
#pragma nv_diag_suppress 1215  // deprecated
struct MultiGridBlocks : HalfOfBlocks {
  using HalfOfBlocks::HalfOfBlocks;
  static constexpr bool kMultiDevice = true;
  __device__ void sync(bool) const { cg::this_multi_grid().sync(); }
};

using MultiGridGpus = HalfOfGpus<MultiGridBlocks>;
#pragma nv_diag_default 1215
#endif

}  // namespace

std::vector<Case> partial_grid_cases() {
  const std::vector<Form> forms = {Form::kExits, Form::kStays, Form::kAllowed};
  return {
    partial_case<ClusterSync>(
        "part_cluster_sync", "half of the blocks of a cluster, cluster.sync()"),
        partial_case<GridSync>("part_grid_sync",
                               "half of the blocks of a grid, grid.sync()"),
        {"crowded_grid_sync",
         "cooperative launch of one block more than is resident",
         Section::kPartialGroup,
         {Form::kTooMany},
         1,
         &run_oversubscribed_grid},
        {"crowded_spin_barrier",
         "one block more than is resident, launched ordinarily, at a counter "
         "of blocks; allowed: half of the resident blocks",
         Section::kPartialGroup,
         {Form::kTooMany, Form::kAllowed},
         1,
         &run_spin_barrier},
#if CUDART_VERSION < 13000
        partial_case<MultiGridBlocks>(
            "part_multi_grid_blocks",
            "half of the blocks of a multi-grid of one "
            "GPU, multi_grid.sync()"),
        partial_case<MultiGridGpus>(
            "part_multi_grid_gpus",
            "half of the GPUs of a multi-grid, multi_grid.sync()", 2),
#endif
        peer_case<PeerGridBlocks>("part_peer_grid_blocks",
                                  "half of the blocks of one GPU, the suite's "
                                  "barrier with a limit of 100 ms",
                                  forms, 1),
        peer_case<PeerGridGpus>("part_peer_grid_gpus",
                                "half of the GPUs, the suite's barrier with a "
                                "limit of 100 ms",
                                forms, 2),
        peer_case<PeerGridGpus>("blocking_peer_grid",
                                "all GPUs, launched by one thread under "
                                "CUDA_LAUNCH_BLOCKING=1, the suite's barrier "
                                "with a limit of 100 ms",
                                {Form::kOneByOne}, 2)
  };
}

std::vector<MethodInfo> missing_cases() {
#if CUDART_VERSION < 13000
  return {};
#else
  const char* why = "CUDA 13 has no multi-grid synchronization";
  return {{"part_multi_grid_blocks", why}, {"part_multi_grid_gpus", why}};
#endif
}

}  // namespace syncbench::pitfalls
