// NVSHMEM includes parts of cooperative groups that need libcu++.
#undef _CG_LIMIT_INCLUDED_DEPENDENCIES
#include <cooperative_groups.h>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdlib>
#include <stdexcept>

#include "common/cpus.hpp"
#include "common/cuda_resources.hpp"
#include "libraries/method.hpp"

namespace syncbench::libraries {
namespace {

// Process 0 has said how; all join at the first method, and leave once.
bool joined = false;

std::string failure_of(int result, const char* call) {
  return std::string(call) + " returned " + std::to_string(result);
}

void check(int result, const char* call) {
  if (result != 0) throw std::runtime_error(failure_of(result, call));
}

// The same of what others wait for.
void require(Team& team, int result, const char* call) {
  if (result != 0) team.fail(failure_of(result, call));
}

void join(Team& team) {
  if (joined) return;
  if (team.nodes() == 1) {
    // What the user has set counts.
    setenv("NVSHMEM_REMOTE_TRANSPORT", "none", 0);
    setenv("NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME", "lo", 0);
  }
  const DeviceGuard guard(team.gpus()[0].index);
  const Unpinned unpinned;  // its proxy thread never rests
  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
  if (team.rank() == 0) {
    check(nvshmemx_get_uniqueid(&id), "nvshmemx_get_uniqueid");
  }
  mpi::broadcast(&id, sizeof id);
  nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
  check(nvshmemx_set_attr_uniqueid_args(team.rank(), team.processes(), &id,
                                        &attributes),
        "nvshmemx_set_attr_uniqueid_args");
  check(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes),
        "nvshmemx_init_attr");
  if (nvshmem_n_pes() != team.total()) {
    throw std::runtime_error("NVSHMEM has another number of processes");
  }
  joined = true;
}

// Those of the team of all, because what is called for all returns nothing.
struct SyncAll {
  static constexpr const char *kEnqueue = "nvshmemx_team_sync_on_stream",
                              *kCall = "nvshmem_team_sync";
  static __device__ void meet() { nvshmemx_sync_all_block(); }
  static int enqueue(cudaStream_t stream) {
    return nvshmemx_team_sync_on_stream(NVSHMEM_TEAM_WORLD, stream);
  }
  static int call() { return nvshmem_team_sync(NVSHMEM_TEAM_WORLD); }
};

// It also waits until all stores have arrived.
struct BarrierAll {
  static constexpr const char *kEnqueue = "nvshmemx_barrier_on_stream",
                              *kCall = "nvshmem_barrier";
  static __device__ void meet() { nvshmemx_barrier_all_block(); }
  static int enqueue(cudaStream_t stream) {
    return nvshmemx_barrier_on_stream(NVSHMEM_TEAM_WORLD, stream);
  }
  static int call() { return nvshmem_barrier(NVSHMEM_TEAM_WORLD); }
};

template <class Kind>
__global__ void block_kernel(int operations) {
  for (int i = 0; i < operations; ++i) Kind::meet();
}

template <class Kind>
__global__ void grid_kernel(int operations) {
  const auto grid = cooperative_groups::this_grid();
  for (int i = 0; i < operations; ++i) {
    grid.sync();
    if (blockIdx.x == 0) Kind::meet();
    grid.sync();
  }
}

// What put(stream, operations) brings into a stream, until it has ended.
template <class Put>
Point in_stream(Team& team, Put put) {
  const auto stream = std::make_shared<Stream>(team.gpus()[0].index);
  return [&team, stream, put](int operations) {
    return team.run([&](int) {
      put(stream->get(), operations);
      CallResult result;
      wait_for(stream->get(), result);
      return result;
    });
  };
}

template <void (*kKernel)(int)>
Session in_kernel(Team& team, Lengths) {
  join(team);
  return {[&team](const CallShape& shape) {
    const auto* kernel = reinterpret_cast<const void*>(kKernel);
    require_room(kernel, shape, team.gpus()[0]);
    return in_stream(team, [=, &team](cudaStream_t stream, int operations) {
      void* arguments[] = {&operations};
      const int launched = nvshmemx_collective_launch(
          kernel, dim3(static_cast<unsigned>(shape.blocks)),
          dim3(static_cast<unsigned>(shape.threads)), arguments, 0, stream);
      require(team, launched, "nvshmemx_collective_launch");
    });
  }};
}

template <class Kind>
Session on_stream(Team& team, Lengths) {
  join(team);
  return {[&team](const CallShape&) {
    return in_stream(team, [&team](cudaStream_t stream, int operations) {
      for (int i = 0; i < operations; ++i) {
        require(team, Kind::enqueue(stream), Kind::kEnqueue);
      }
    });
  }};
}

template <class Kind>
Session from_host(Team& team, Lengths) {
  join(team);
  return {[&team](const CallShape&) -> Point {
    return [&team](int operations) {
      return team.run([&](int) {
        for (int i = 0; i < operations; ++i) {
          require(team, Kind::call(), Kind::kCall);
        }
        return CallResult();
      });
    };
  }};
}

std::string version() {
  return std::to_string(NVSHMEM_VENDOR_MAJOR_VERSION) + '.' +
         std::to_string(NVSHMEM_VENDOR_MINOR_VERSION) + '.' +
         std::to_string(NVSHMEM_VENDOR_PATCH_VERSION);
}

void leave() {
  if (joined) nvshmem_finalize();
  joined = false;
}

}  // namespace

LibraryPart nvshmem_part() {
  return {version,
          {{"nvshmem_sync_block", in_kernel<block_kernel<SyncAll>>},
           {"nvshmem_barrier_block", in_kernel<block_kernel<BarrierAll>>},
           {"nvshmem_sync_grid", in_kernel<grid_kernel<SyncAll>>},
           {"nvshmem_barrier_grid", in_kernel<grid_kernel<BarrierAll>>},
           {"nvshmem_sync_stream", on_stream<SyncAll>},
           {"nvshmem_barrier_stream", on_stream<BarrierAll>},
           {"nvshmem_sync_host", from_host<SyncAll>},
           {"nvshmem_barrier_host", from_host<BarrierAll>}},
          leave};
}

}  // namespace syncbench::libraries
