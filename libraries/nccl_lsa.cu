// NCCL's barrier of load and store accessible memory, called inside a kernel,
// which NCCL has from version 2.28 on.
#include <cooperative_groups.h>

#include "common/errors.hpp"
#include "common/launch.hpp"
#include "libraries/nccl_group.hpp"
#include "libraries/sessions.hpp"

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

class InKernel : public Point {
 public:
  InKernel(NcclGroup& group, const void* kernel, const CallShape& shape)
      : group_(group),
        kernel_(kernel),
        shape_(shape),
        communicators_(group, shape.blocks) {}

  double run(int operations) override {
    return group_.run("no call of NCCL", [&](int i, CallResult& result) {
      void* arguments[] = {communicators_.of(i), &operations};
      result.note(launch_cooperative(
                      {kernel_, dim3(static_cast<unsigned>(shape_.blocks)),
                       dim3(static_cast<unsigned>(shape_.threads)), arguments},
                      group_.stream(i)),
                  kCooperativeApi.name);
      return ncclSuccess;
    });
  }

 private:
  NcclGroup& group_;
  const void* kernel_;
  CallShape shape_;
  DeviceCommunicators communicators_;
};

template <void (*kKernel)(ncclDevComm, int)>
class LsaSession : public Session {
 public:
  LsaSession(Team& team, Lengths) : group_(team) {
    const int reached = ncclTeamLsa(group_.communicator(0)).nRanks;
    if (reached == team.total()) return;
    throw CannotMeasure("no-lsa", "NCCL's LSA barrier reaches " +
                                      std::to_string(reached) +
                                      " of these GPUs");
  }

  std::unique_ptr<Point> point(const CallShape& shape) override {
    const auto* kernel = reinterpret_cast<const void*>(kKernel);
    require_room(kernel, shape, group_.team().gpus()[0]);
    return std::make_unique<InKernel>(group_, kernel, shape);
  }

 private:
  NcclGroup group_;
};

}  // namespace

std::unique_ptr<Session> open_nccl_lsa_block(Team& team, Lengths lengths) {
  return opened<LsaSession<block_kernel>>(team, lengths);
}

std::unique_ptr<Session> open_nccl_lsa_grid(Team& team, Lengths lengths) {
  return opened<LsaSession<grid_kernel>>(team, lengths);
}

}  // namespace syncbench::libraries

#else

namespace syncbench::libraries {

constexpr char kLacked[] = "the LSA barrier needs NCCL 2.28 and CUDA 12";

std::unique_ptr<Session> open_nccl_lsa_block(Team&, Lengths) {
  nccl_lacks(kLacked);
}
std::unique_ptr<Session> open_nccl_lsa_grid(Team&, Lengths) {
  nccl_lacks(kLacked);
}

}  // namespace syncbench::libraries

#endif
