// NCCL's barrier of load and store accessible memory, called inside a kernel,
// which NCCL has from version 2.28 on.
#include <cooperative_groups.h>

#include "common/errors.hpp"
#include "libraries/nccl_group.hpp"

#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0) && CUDART_VERSION >= 12000

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <nccl_device.h>
#pragma GCC diagnostic pop

namespace syncbench::libraries {
namespace {

using LsaBarrier = ncclLsaBarrierSession<ncclCoopCta>;

// Without multicast, which this barrier has to be asked for.
__device__ void meet(LsaBarrier& barrier) {
  barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel);
}

// Each block meets the blocks of the same number.
__global__ void block_kernel(ncclDevComm communicator, int operations) {
  LsaBarrier barrier(ncclCoopCta(), communicator, ncclTeamTagLsa(), blockIdx.x);
  for (int i = 0; i < operations; ++i) meet(barrier);
}

// All blocks meet.
__global__ void grid_kernel(ncclDevComm communicator, int operations) {
  const auto grid = cooperative_groups::this_grid();
  LsaBarrier barrier(ncclCoopCta(), communicator, ncclTeamTagLsa(), blockIdx.x);
  for (int i = 0; i < operations; ++i) {
    grid.sync();
    if (blockIdx.x == 0) meet(barrier);
    grid.sync();
  }
}

// What kernels of each GPU need: as many barriers as it has blocks.
class DeviceCommunicators {
 public:
  DeviceCommunicators(NcclGroup& group, int barriers)
      : group_(group), made_(group.team().gpus().size()) {
#ifdef NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER
    ncclDevCommRequirements wanted = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
#else
    ncclDevCommRequirements wanted = {};
#endif
    wanted.lsaBarrierCount = barriers;
    group_.run("ncclDevCommCreate", [&](int i, CallResult&) {
      return ncclDevCommCreate(group_.communicator(i), &wanted, &made_[i]);
    });
  }
  DeviceCommunicators(const DeviceCommunicators&) = delete;
  ~DeviceCommunicators() {
    for (int i = group_.team().local() - 1; i >= 0; --i) {
      KEEP_FAILURE(cudaSetDevice(group_.team().gpus()[i].index));
      keep_nccl_failure(ncclDevCommDestroy(group_.communicator(i), &made_[i]),
                        "ncclDevCommDestroy");
    }
  }

  ncclDevComm* of(int i) { return &made_[i]; }

 private:
  NcclGroup& group_;
  std::vector<ncclDevComm> made_;
};

template <void (*kKernel)(ncclDevComm, int)>
Session lsa(Team& team, Lengths) {
  const auto group = std::make_shared<NcclGroup>(team);
  const int reached = ncclTeamLsa(group->communicator(0)).nRanks;
  if (reached != team.total()) {
    throw CannotMeasure("no-lsa", "NCCL's LSA barrier reaches " +
                                      std::to_string(reached) +
                                      " of these GPUs");
  }
  return {[group](const CallShape& shape) -> Point {
    const auto* kernel = reinterpret_cast<const void*>(kKernel);
    require_room(kernel, shape, group->team().gpus()[0]);
    const auto communicators =
        std::make_shared<DeviceCommunicators>(*group, shape.blocks);
    return [=](int operations) {
      return group->run("no call of NCCL", [&](int i, CallResult& result) {
        enqueue(kernel, shape, communicators->of(i), operations,
                group->stream(i), result);
        return ncclSuccess;
      });
    };
  }};
}

}  // namespace

LibraryPart::Open nccl_lsa_block() { return lsa<block_kernel>; }
LibraryPart::Open nccl_lsa_grid() { return lsa<grid_kernel>; }

}  // namespace syncbench::libraries

#else

namespace syncbench::libraries {

LibraryPart::Open nccl_lsa_block() {
  return nccl_lacks("the LSA barrier needs NCCL 2.28 and CUDA 12");
}
LibraryPart::Open nccl_lsa_grid() { return nccl_lsa_block(); }

}  // namespace syncbench::libraries

#endif
