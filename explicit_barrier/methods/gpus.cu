// Barriers of all blocks of several GPUs (study, section VI-C).
#include <cooperative_groups.h>

#include "common/errors.hpp"
#include "explicit_barrier/arguments.hpp"
#include "explicit_barrier/methods.hpp"
#include "explicit_barrier/timed_kernel.cuh"
#include "peer_grid_barrier/barrier.cuh"

namespace syncbench {

/// This suite's barrier over peer memory; one cooperative launch a GPU.
struct PeerGridSync : Method {
  static constexpr About kAbout = {
      "peer_grid_sync",
      "barrier over peer memory "
      "(peer_grid_barrier/) on 1 to gpu_count GPUs",
      Scope::kGpus, Window::kBarrier};
  static constexpr Work work(int) { return {"", 1, 800, Proof::kBarrier}; }
  static constexpr int repeats(int) { return 4; }
  static constexpr int kMostInLine = 8;
  static constexpr int launches(int, int gpus) { return gpus == 1 ? 8 : 2; }
  // With 16 blocks per SM of one H200 1.85 us in most places, 2.06 in some.
  static constexpr int kPlaces = 5;
  static constexpr LaunchAttributes attributes(int) { return {true}; }
  using Argument = peer_grid::BarrierEnd;
  using Local = peer_grid::Barrier;
  static Arguments make_arguments(const std::vector<int>& devices, int blocks);
  __device__ unsigned operator()(unsigned value,
                                 Here<None, Local>& here) const {
    here.local.sync();
    return value;
  }
};

// The barriers of all GPUs, and each one's end of them.
struct PeerGridEnds {
  peer_grid::BarrierSet set;
  std::vector<peer_grid::BarrierEnd> of_rank;
};

Arguments PeerGridSync::make_arguments(const std::vector<int>& devices,
                                       int blocks) {
  try {
    auto ends = std::make_shared<PeerGridEnds>(
        PeerGridEnds{peer_grid::BarrierSet(devices), {}});
    ends->of_rank = ends->set.for_blocks(blocks);
    Arguments arguments;
    for (auto& end : ends->of_rank) arguments.of_rank.push_back(&end);
    arguments.failure = [ends] { return ends->set.failure(); };
    return arguments;
  } catch (const peer_grid::CannotJoin& error) {
    throw CannotMeasure("no-barrier", error.what());
  }
}

#if CUDART_VERSION < 13000

/// Cooperative groups' multi-grid barrier; one multi-device launch. Where the
/// GPUs have access to each other's memory its counter is there.
struct MultiGridSync : Method {
  static constexpr About kAbout = {"multi_grid_sync",
                                   "multi_grid_group::sync() on 1 to gpu_count "
                                   "GPUs with peer access",
                                   Scope::kGpus, Window::kBarrier};
  // The barrier is in the driver's part of the library.
  static constexpr Work work(int) {
    return {R"(CALL\..*\bcudaCGSynchronize\b.*)", 1, 20};
  }
  static constexpr bool kMultiDevice = true;
  static constexpr int repeats(int) { return 8; }
#pragma nv_diag_suppress 1215  // deprecated, which is why it is measured
  __device__ unsigned operator()(unsigned value, Here<>&) const {
    group.sync();
    return value;
  }
  cooperative_groups::multi_grid_group group =
      cooperative_groups::this_multi_grid();
#pragma nv_diag_default 1215
};

/// The same without peer access: the library's counter is in host memory.
struct MultiGridSyncNoPeer : MultiGridSync {
  static constexpr About kAbout = {
      "multi_grid_sync_no_peer",
      "multi_grid_group::sync() on 2 to gpu_count "
      "GPUs without it",
      Scope::kGpus, Window::kBarrier,
      "access to each other's memory is switched off for these rows; the cost "
      "differs between processes, so each row is of several"};
  static constexpr bool kPeerAccess = false;
  static constexpr bool kDiffersByProcess = true;
  static constexpr int kFewestGpus = 2;
};

std::vector<MethodEntry> gpu_methods() {
  return entries<MultiGridSync, MultiGridSyncNoPeer, PeerGridSync>();
}
std::vector<MethodInfo> missing_gpu_methods() { return {}; }

#else

std::vector<MethodEntry> gpu_methods() { return entries<PeerGridSync>(); }

std::vector<MethodInfo> missing_gpu_methods() {
  const std::string reason =
      "CUDA 13 removed it; a build with CUDA 11 or 12 measures it (cmake "
      "--preset before13)";
  return {{"multi_grid_sync", reason}, {"multi_grid_sync_no_peer", reason}};
}

#endif

}  // namespace syncbench
