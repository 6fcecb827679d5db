// Half of the blocks of a cluster or of a grid synchronize, and grids that are
// not resident as a whole.
#include <cooperative_groups.h>

#include <algorithm>

#include "pitfalls/partial_group.cuh"

namespace syncbench {
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

struct GridSync : PartialGroup {
  using PartialGroup::PartialGroup;
  static constexpr int kBlocks = 16, kThreads = 64;
  static constexpr LaunchAttributes kAttributes = {true};
  __device__ static bool comes(const Here&) { return blockIdx.x < kBlocks / 2; }
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

}  // namespace

std::vector<Case> partial_grid_cases() {
  return {partial_case<ClusterSync>(
              "part_cluster_sync",
              "half of the blocks of a cluster, cluster.sync()"),
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
           &run_spin_barrier}};
}

}  // namespace syncbench
