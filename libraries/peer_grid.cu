// This suite's own barrier of all blocks of all GPUs, timed as those of the
// libraries are: of the GPUs of one process, or of one GPU of each process.
#include "common/build_info.hpp"
#include "common/cuda_resources.hpp"
#include "common/errors.hpp"
#include "libraries/method.hpp"
#include "libraries/team_barriers.cuh"
#include "peer_grid_barrier/barrier.cuh"

namespace syncbench::libraries {
__global__ void peer_grid_kernel(peer_grid::BarrierEnd end, int operations) {
  peer_grid::Barrier barrier(end);
  for (int i = 0; i < operations; ++i) barrier.sync();
}

namespace {

const auto* const kKernel = reinterpret_cast<const void*>(peer_grid_kernel);

Point in_kernel(Team& team, std::shared_ptr<const TeamBarriers> barriers,
                const CallShape& shape) {
  require_room(kKernel, shape, team.gpus()[0]);
  const auto ends = barriers->ends(shape.blocks);
  const auto streams = std::make_shared<std::vector<Stream>>(
      make_streams(device_numbers(team.gpus())));
  const Point run = [=, &team](int operations) {
    return team.run(
        [&](int i) {
          peer_grid::BarrierEnd end = ends[i];
          const cudaStream_t stream = (*streams)[i].get();
          CallResult result;
          enqueue(kKernel, shape, &end, operations, stream, result);
          wait_for(stream, result);
          return result;
        },
        [&] { return barriers->failure(); });
  };
  run(0);  // a first launch may wait for other GPUs
  return run;
}

Session open(Team& team, Lengths) {
  if (team.nodes() > 1) {
    throw CannotMeasure("several-nodes", "it joins the GPUs of one node");
  }
  const auto barriers = std::make_shared<TeamBarriers>(team);
  return {[=, &team](const CallShape& shape) {
            return in_kernel(team, barriers, shape);
          },
          [=] { barriers->close(); }};
}

}  // namespace

LibraryPart peer_grid_part() {
  return {[] { return std::string(kVersion); }, {{"peer_grid_sync", open}}};
}

}  // namespace syncbench::libraries
