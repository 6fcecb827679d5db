// This suite's own barrier of all blocks of all GPUs, timed as those of the
// libraries are: of the GPUs of one process, or of one GPU of each process.
#include "common/build_info.hpp"
#include "common/cuda_resources.hpp"
#include "common/errors.hpp"
#include "common/launch.hpp"
#include "libraries/sessions.hpp"
#include "libraries/team_barriers.cuh"
#include "peer_grid_barrier/barrier.cuh"

namespace syncbench::libraries {
__global__ void peer_grid_kernel(peer_grid::BarrierEnd end, int operations) {
  peer_grid::Barrier barrier(end);
  for (int i = 0; i < operations; ++i) barrier.sync();
}

namespace {

const auto* const kKernel = reinterpret_cast<const void*>(peer_grid_kernel);

class InKernel : public Point {
 public:
  InKernel(Team& team, const TeamBarriers& barriers, const CallShape& shape)
      : team_(team),
        barriers_(barriers),
        shape_(shape),
        ends_(barriers.ends(shape.blocks)),
        streams_(make_streams(device_numbers(team.gpus()))) {
    run(0);  // a first launch may wait for other GPUs
  }

  double run(int operations) override {
    return team_.run(
        [&](int i) {
          void* arguments[] = {&ends_[i], &operations};
          CallResult result;
          result.note(
              launch_cooperative(
                  {kKernel, dim3(static_cast<unsigned>(shape_.blocks)),
                   dim3(static_cast<unsigned>(shape_.threads)), arguments},
                  streams_[i].get()),
              kCooperativeApi.name);
          wait_for(streams_[i].get(), result);
          return result;
        },
        [this] { return barriers_.failure(); });
  }

 private:
  Team& team_;
  const TeamBarriers& barriers_;
  CallShape shape_;
  std::vector<peer_grid::BarrierEnd> ends_;
  std::vector<Stream> streams_;
};

class PeerGridSession : public Session {
 public:
  explicit PeerGridSession(Team& team) : team_(team), barriers_(team) {}

  std::unique_ptr<Point> point(const CallShape& shape) override {
    require_room(kKernel, shape, team_.gpus()[0]);
    return std::make_unique<InKernel>(team_, barriers_, shape);
  }
  void close() override { barriers_.close(); }

 private:
  Team& team_;
  TeamBarriers barriers_;
};

}  // namespace

std::string peer_grid_version() { return kVersion; }

std::unique_ptr<Session> open_peer_grid(Team& team, Lengths) {
  if (team.nodes() > 1) {
    throw CannotMeasure("several-nodes", "it joins the GPUs of one node");
  }
  try {
    return std::make_unique<PeerGridSession>(team);
  } catch (const peer_grid::CannotJoin& error) {
    throw CannotMeasure("no-barrier", error.what());
  }
}

}  // namespace syncbench::libraries
