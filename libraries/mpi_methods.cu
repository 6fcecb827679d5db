#include "common/cuda_resources.hpp"
#include "common/launch.hpp"
#include "libraries/sessions.hpp"

namespace syncbench::libraries {
__global__ void null_kernel() {}

namespace {

class Barrier : public Point {
 public:
  explicit Barrier(Team& team) : team_(team) {}

  double run(int operations) override {
    return team_.run([&](int) {
      for (int i = 0; i < operations; ++i) team_.barrier();
      return CallResult();
    });
  }

 private:
  Team& team_;
};

class AroundLaunch : public Point {
 public:
  AroundLaunch(Team& team, const CallShape& shape)
      : team_(team), stream_(team.gpus()[0].index) {
    call_.kernel = reinterpret_cast<const void*>(null_kernel);
    call_.grid = dim3(static_cast<unsigned>(shape.blocks));
    call_.block = dim3(static_cast<unsigned>(shape.threads));
  }

  double run(int operations) override {
    return team_.run([&](int) {
      CallResult result;
      for (int i = 0; i < operations; ++i) {
        result.note(launch_traditional(call_, stream_.get()),
                    kTraditionalApi.name);
        result.note(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        team_.barrier();
      }
      return result;
    });
  }

 private:
  Team& team_;
  Stream stream_;
  KernelCall call_;
};

class MpiSession : public Session {
 public:
  MpiSession(Team& team, Lengths) : team_(team) {}

  std::unique_ptr<Point> point(const CallShape& shape) override {
    if (shape.blocks < 0) return std::make_unique<Barrier>(team_);
    return std::make_unique<AroundLaunch>(team_, shape);
  }

 private:
  Team& team_;
};

}  // namespace

std::unique_ptr<Session> open_mpi_barrier(Team& team, Lengths lengths) {
  return opened<MpiSession>(team, lengths);
}

std::unique_ptr<Session> open_mpi_launch(Team& team, Lengths lengths) {
  return opened<MpiSession>(team, lengths);
}

}  // namespace syncbench::libraries
