// Barriers of all blocks of several GPUs (study, section VI-C).
#include <cooperative_groups.h>

#include "common/cuda_resources.hpp"
#include "common/errors.hpp"
#include "explicit_barrier/arguments.hpp"
#include "explicit_barrier/methods.hpp"
#include "explicit_barrier/methods/in_use_of_blocks.cuh"
#include "explicit_barrier/timed_kernel.cuh"
#include "peer_grid_barrier/barrier.cuh"

namespace syncbench::explicit_barrier {

/// One cooperative launch a GPU.
struct PeerGridSync : Method {
  static constexpr void describe(About& about) {
    about.barrier(
        Scope::kGpus, "peer_grid_sync",
        "this suite's barrier over peer memory, on 1 to gpu_count GPUs");
    about.set = about.between = Set::kToday;
    // The cost depends on where the memory lies.
    about.places = 5;
    about.late = true;
    about.repeats = 4;
    about.launches = [](int, int gpus) { return gpus == 1 ? 8 : 2; };
    about.attributes = LaunchAttributes{true};
    about.make_arguments = make_arguments;
    about.code = ExpectedCode().others(800).proof(Proof::kBarrier);
  }
  using Argument = peer_grid::BarrierEnd;
  using Local = peer_grid::Barrier;
  static Arguments make_arguments(const std::vector<int>& devices, int blocks);
  template <class Here>
  __device__ unsigned operator()(unsigned value, Here& here) const {
    here.local.sync();
    return value;
  }
};

// The barriers of all GPUs, words of each, and each one's end of them.
template <class End>
struct PeerGridEnds {
  peer_grid::BarrierSet set;
  std::vector<End> of_rank;
  std::vector<DeviceBuffer<unsigned>> words;
};

// fill(ends) makes the end of each GPU.
template <class End, class Fill>
Arguments make_ends(const std::vector<int>& devices, Fill fill) {
  try {
    auto ends = std::make_shared<PeerGridEnds<End>>(
        PeerGridEnds<End>{peer_grid::BarrierSet(devices), {}, {}});
    fill(*ends);
    Arguments arguments;
    for (End& end : ends->of_rank) arguments.of_rank.push_back(&end);
    arguments.failure = [ends] { return ends->set.failure(); };
    return arguments;
  } catch (const peer_grid::CannotJoin& error) {
    throw CannotMeasure("no-barrier", error.what());
  }
}

Arguments PeerGridSync::make_arguments(const std::vector<int>& devices,
                                       int blocks) {
  return make_ends<peer_grid::BarrierEnd>(
      devices, [&](auto& ends) { ends.of_rank = ends.set.for_blocks(blocks); });
}

/// What a thread needs where GPUs read each other's words and come late in
/// turn.
struct PeerState {
  peer_grid::BarrierEnd end;
  unsigned *own, *next;  ///< words of this GPU and of the next one
};

struct PeerGridState {
  __device__ explicit PeerGridState(const PeerState& state)
      : barrier(state.end), state(state) {}
  __device__ void sync() { barrier.sync(); }
  peer_grid::Barrier barrier;
  PeerState state;
};

struct PeerGridInState : PeerGridSync {
  using Argument = PeerState;
  using Local = PeerGridState;
  static constexpr void describe(About& about) {
    PeerGridSync::describe(about);
    about.launches = 2;
  }
};

struct PeerMemory {
  static constexpr bool kOwn = false;
  template <class Here>
  static __device__ unsigned* to(Here& here) {
    return here.local.state.own;
  }
  template <class Here>
  static __device__ const unsigned* from(Here& here) {
    return here.local.state.next;
  }
};

/// In use between GPUs: a neighbour is in the next block of the next GPU.
template <int kWords>
struct PeerGridInUse : InUse<PeerGridInState, kWords, PeerMemory> {
  static constexpr void describe(About& about) {
    PeerGridInUse::InUse::describe(about);
    about.operation(
        Scope::kGpus,
        kWords == 1 ? "in_use_peer_grid_sync" : "in_use_4_peer_grid_sync",
        kWords == 1 ? "a word stored, peer_grid_sync, a read of the next GPU's"
                    : "the same with four words");
    about.set = kWords == 1 ? Set::kToday : Set::kEvidence;
    about.between = Set::kEvidence;
    about.make_arguments = make_arguments;
    about.code.most_others += 24 + 8 * kWords;
  }
  static Arguments make_arguments(const std::vector<int>& devices, int blocks);
};

// Words for the blocks that a GPU holds at once, in two buffers.
Arguments make_states(const std::vector<int>& devices, int blocks, int words) {
  return make_ends<PeerState>(devices, [&](auto& ends) {
    const auto end_of = ends.set.for_blocks(blocks);
    for (const int device : devices) {
      int sms = 0, threads = 0;
      CUDA_CHECK(
          cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
      CUDA_CHECK(cudaDeviceGetAttribute(
          &threads, cudaDevAttrMaxThreadsPerMultiProcessor, device));
      ends.words.emplace_back(
          device, 2 * static_cast<std::size_t>(words) * sms * threads);
    }
    const auto gpus = static_cast<unsigned>(devices.size());
    for (unsigned rank = 0; rank < gpus; ++rank) {
      ends.of_rank.push_back({end_of[rank], ends.words[rank].get(),
                              ends.words[(rank + 1) % gpus].get()});
    }
  });
}

template <int kWords>
Arguments PeerGridInUse<kWords>::make_arguments(const std::vector<int>& devices,
                                                int blocks) {
  return make_states(devices, blocks, kWords);
}
#if CUDART_VERSION < 13000

/// Cooperative groups' multi-grid barrier; one multi-device launch. Where the
/// GPUs have access to each other's memory its counter is there.
struct MultiGridSync : Method {
  static constexpr void describe(About& about) {
    about.barrier(
        Scope::kGpus, "multi_grid_sync",
        "multi_grid_group::sync() on 1 to gpu_count GPUs with peer access");
    about.set = about.between = Set::kStudy;
    about.multi_device = true;
    about.late = true;
    about.repeats = 8;
    // The barrier is in the driver's part of the library.
    about.code = ExpectedCode(R"(CALL\..*\bcudaCGSynchronize\b.*)").others(20);
  }
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
  static constexpr void describe(About& about) {
    MultiGridSync::describe(about);
    about.barrier(Scope::kGpus, "multi_grid_sync_no_peer",
                  "multi_grid_group::sync() on 2 to gpu_count GPUs without it");
    about.caution =
        "access to each other's memory is switched off for these rows; the "
        "cost differs between processes, so each row is of several";
    about.set = about.between = Set::kStudy;
    about.peer_access = false;
    about.differs_by_process = true;
    about.fewest_gpus = 2;
  }
};

std::vector<MethodEntry> list_gpus() {
  return entries<MultiGridSync, MultiGridSyncNoPeer, PeerGridSync,
                 PeerGridInUse<1>, PeerGridInUse<4>>();
}
std::vector<MethodInfo> missing_gpu_methods() { return {}; }

#else

std::vector<MethodEntry> list_gpus() {
  return entries<PeerGridSync, PeerGridInUse<1>, PeerGridInUse<4>>();
}

std::vector<MethodInfo> missing_gpu_methods() {
  const std::string reason =
      "CUDA 13 removed it; a build with CUDA 11 or 12 measures it (cmake "
      "--preset before13)";
  return {{"multi_grid_sync", reason}, {"multi_grid_sync_no_peer", reason}};
}

#endif

}  // namespace syncbench::explicit_barrier
