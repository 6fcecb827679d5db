// NVSHMEM includes parts of cooperative groups that need libcu++.
#undef _CG_LIMIT_INCLUDED_DEPENDENCIES
#include <cooperative_groups.h>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdlib>
#include <stdexcept>

#include "common/cpus.hpp"
#include "common/cuda_resources.hpp"
#include "libraries/sessions.hpp"

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

class InKernel : public Point {
 public:
  InKernel(Team& team, const void* kernel, const CallShape& shape)
      : team_(team),
        stream_(team.gpus()[0].index),
        kernel_(kernel),
        shape_(shape) {}

  double run(int operations) override {
    return team_.run([&](int) {
      void* arguments[] = {&operations};
      const int launched = nvshmemx_collective_launch(
          kernel_, dim3(static_cast<unsigned>(shape_.blocks)),
          dim3(static_cast<unsigned>(shape_.threads)), arguments, 0,
          stream_.get());
      require(team_, launched, "nvshmemx_collective_launch");
      CallResult result;
      wait_for(stream_.get(), result);
      return result;
    });
  }

 private:
  Team& team_;
  Stream stream_;
  const void* kernel_;
  CallShape shape_;
};

template <class Kind>
class OnStream : public Point {
 public:
  explicit OnStream(Team& team) : team_(team), stream_(team.gpus()[0].index) {}

  double run(int operations) override {
    return team_.run([&](int) {
      for (int i = 0; i < operations; ++i) {
        require(team_, Kind::enqueue(stream_.get()), Kind::kEnqueue);
      }
      CallResult result;
      wait_for(stream_.get(), result);
      return result;
    });
  }

 private:
  Team& team_;
  Stream stream_;
};

template <class Kind>
class FromHost : public Point {
 public:
  explicit FromHost(Team& team) : team_(team) {}

  double run(int operations) override {
    return team_.run([&](int) {
      for (int i = 0; i < operations; ++i) {
        require(team_, Kind::call(), Kind::kCall);
      }
      return CallResult();
    });
  }

 private:
  Team& team_;
};

// Makes a point of a method, once NVSHMEM is there.
template <class Make>
class NvshmemSession : public Session {
 public:
  NvshmemSession(Team& team, Make make) : team_(team), make_(make) {
    join(team);
  }

  std::unique_ptr<Point> point(const CallShape& shape) override {
    return make_(team_, shape);
  }

 private:
  Team& team_;
  Make make_;
};

template <class Make>
std::unique_ptr<Session> session(Team& team, Make make) {
  return std::make_unique<NvshmemSession<Make>>(team, make);
}

std::unique_ptr<Session> in_kernel(Team& team, void (*kernel)(int)) {
  return session(team, [kernel](Team& here, const CallShape& shape) {
    const auto* function = reinterpret_cast<const void*>(kernel);
    require_room(function, shape, here.gpus()[0]);
    return std::make_unique<InKernel>(here, function, shape);
  });
}

template <class PointOfKind>
std::unique_ptr<Session> called(Team& team) {
  return session(team, [](Team& here, const CallShape&) {
    return std::make_unique<PointOfKind>(here);
  });
}

}  // namespace

std::string nvshmem_version() {
  return std::to_string(NVSHMEM_VENDOR_MAJOR_VERSION) + '.' +
         std::to_string(NVSHMEM_VENDOR_MINOR_VERSION) + '.' +
         std::to_string(NVSHMEM_VENDOR_PATCH_VERSION);
}

std::unique_ptr<Session> open_nvshmem_sync_block(Team& team, Lengths) {
  return in_kernel(team, block_kernel<SyncAll>);
}
std::unique_ptr<Session> open_nvshmem_barrier_block(Team& team, Lengths) {
  return in_kernel(team, block_kernel<BarrierAll>);
}
std::unique_ptr<Session> open_nvshmem_sync_grid(Team& team, Lengths) {
  return in_kernel(team, grid_kernel<SyncAll>);
}
std::unique_ptr<Session> open_nvshmem_barrier_grid(Team& team, Lengths) {
  return in_kernel(team, grid_kernel<BarrierAll>);
}
std::unique_ptr<Session> open_nvshmem_sync_stream(Team& team, Lengths) {
  return called<OnStream<SyncAll>>(team);
}
std::unique_ptr<Session> open_nvshmem_barrier_stream(Team& team, Lengths) {
  return called<OnStream<BarrierAll>>(team);
}
std::unique_ptr<Session> open_nvshmem_sync_host(Team& team, Lengths) {
  return called<FromHost<SyncAll>>(team);
}
std::unique_ptr<Session> open_nvshmem_barrier_host(Team& team, Lengths) {
  return called<FromHost<BarrierAll>>(team);
}

void end_nvshmem() {
  if (joined) nvshmem_finalize();
  joined = false;
}

}  // namespace syncbench::libraries
