// Kernels that meet at the barrier over peer memory.
#pragma once

#include "peer_grid_barrier/barrier_set.cuh"
#include "stand_in_gpu/model.hpp"
#include "stand_in_gpu/process_meeting.hpp"
#include "stand_in_gpu/scenario.hpp"

namespace stand_in {

/// A kernel whose barrier has given up.
constexpr Ended kNobodyCame = {1e10, cudaErrorLaunchFailure};

/// Nanoseconds of a barrier of so many GPUs.
inline double barrier_time(int gpus) {
  return scenario().step + (gpus - 1) * scenario().gpu_cycles / scenario().ghz;
}

/// Whether its GPUs are those of several processes.
inline bool is_of_processes(const peer_grid::BarrierEnd& end) {
  for (int rank = 0; rank < end.end.gpus; ++rank) {
    if (is_foreign(end.end.of_rank[rank])) return true;
  }
  return false;
}

/// Makes the kernel of such a barrier wait for those of the other GPUs.
inline void meet_peers(const peer_grid::BarrierEnd& end, Model& model) {
  model.meeting = end.end.of_rank[0];
  model.members = end.end.gpus;
  model.rank = end.end.rank;
  model.abandoned = [=](const Running&) -> Ended {
    *end.machine.failure =
        static_cast<peer_grid::Failure>(peer_grid::Reason::kOtherGpu) << 60 |
        static_cast<peer_grid::Failure>(end.end.rank == 0) << 32 | 1;
    return kNobodyCame;
  };
}

/// The barrier between kernels of several processes, in the state of the first
/// rank's barrier, which no other model uses.
inline ProcessMeeting process_meeting(const peer_grid::BarrierEnd& end) {
  return {end.end.of_rank[0], end.end.gpus};
}

}  // namespace stand_in
