// The barriers and the memory of peer_grid_barrier/ for a team, whose GPUs are
// those of one process or one of each process.
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/devices.hpp"
#include "common/errors.hpp"
#include "libraries/team.hpp"
#include "peer_grid_barrier/process_barrier_set.cuh"
#include "peer_grid_barrier/process_memory.cuh"

namespace syncbench::libraries {

inline peer_grid::Processes processes_of(Team& team) {
  const auto all_gather = [&team](const void* mine, void* all,
                                  std::size_t bytes) {
    team.end_all_if_it_fails([&] {
      auto* to = static_cast<char*>(all);
      for (const std::string& of_one :
           mpi::gather(std::string(static_cast<const char*>(mine), bytes))) {
        to += of_one.copy(to, bytes);
      }
    });
  };
  return {team.rank(), team.processes(), all_gather};
}

/// A set of all GPUs, or this process's part of one. Throws CannotMeasure in
/// place of their CannotJoin; their Error passes.
class TeamBarriers {
 public:
  explicit TeamBarriers(Team& team) try {
    if (team.processes() > 1) {
      part_.emplace(team.gpus()[0].index, processes_of(team));
    } else {
      whole_.emplace(device_numbers(team.gpus()));
    }
  } catch (const peer_grid::CannotJoin& error) {
    throw CannotMeasure("no-barrier", error.what());
  }

  /// Of the GPUs of this process.
  std::vector<peer_grid::BarrierEnd> ends(int blocks) const {
    if (whole_) return whole_->for_blocks(blocks);
    return {part_->for_blocks(blocks)};
  }
  std::optional<std::string> failure() const {
    return whole_ ? whole_->failure() : part_->failure();
  }
  /// To be called by all processes, when no kernel will use it any more.
  void close() {
    if (part_) part_->close();
  }

 private:
  std::optional<peer_grid::BarrierSet> whole_;
  std::optional<peer_grid::ProcessBarrierSet> part_;
};

/// A ProcessMemory, or TeamBarriers, that all processes close when it goes:
/// but not where an error ends what uses it, as the others may not come then.
template <class Shared>
class ClosedTogether {
 public:
  template <class... Arguments>
  explicit ClosedTogether(Arguments&&... arguments)
      : shared_(std::forward<Arguments>(arguments)...) {}
  ClosedTogether(const ClosedTogether&) = delete;
  ~ClosedTogether() {
    if (std::uncaught_exceptions() > exceptions_) return;
    try {
      shared_.close();
    } catch (const peer_grid::Error&) {  // a call failed, and so will the next
    }
  }

  const Shared& operator*() const { return shared_; }
  const Shared* operator->() const { return &shared_; }

 private:
  const int exceptions_ = std::uncaught_exceptions();
  Shared shared_;
};

}  // namespace syncbench::libraries
